"""Results out: the estimates of a table as a file for other programs.

Lives here: formats and how the columns are handed over.  Must not know how anything is computed,
read or shown to people.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme._extras import load
from colme._files import replacing
from colme.data.estimator import Estimates
from colme.data.reader.database import connected, errors, first_line, literal, quoted

FORMATS = {
    "csv": "FORMAT csv, HEADER",
    "tsv": "FORMAT csv, HEADER, DELIMITER '\t'",
    "parquet": "FORMAT parquet",
    "json": "FORMAT json, ARRAY",
    "jsonl": "FORMAT json",
    "ndjson": "FORMAT json",
    "arrow": "",
    "feather": "",
}
"""The format of a file by the end of its name, as the database writes it; it has no Arrow."""


def check_target(path: Path) -> Path:
    """Return the path if estimates can be written there, else raise ValueError.

    Examples
    --------
    >>> check_target(Path("means.parquet")).name
    'means.parquet'
    >>> check_target(Path("means.xlsx"))
    Traceback (most recent call last):
        ...
    ValueError: cannot write 'means.xlsx': its format must be one of .csv, .tsv, .parquet, .json, \
.jsonl, .ndjson, .arrow, .feather: rename it
    """
    if path.suffix.lstrip(".").lower() not in FORMATS:
        allowed = ", ".join(f".{known}" for known in FORMATS)
        raise ValueError(
            f"cannot write {str(path)!r}: its format must be one of {allowed}: rename it"
        )
    return check_folder(path)


def check_folder(path: Path) -> Path:
    """Return the path if a file can be put there, else raise ValueError.

    Examples
    --------
    >>> check_folder(Path("nowhere/report.html"))
    Traceback (most recent call last):
        ...
    ValueError: cannot write 'nowhere/report.html': there is no folder 'nowhere': create it first
    """
    if not path.parent.is_dir():
        raise ValueError(
            f"cannot write {str(path)!r}: there is no folder {str(path.parent)!r}: create it first"
        )
    if path.is_dir():
        raise ValueError(f"cannot write {str(path)!r}: it is a folder: name a file in it")
    return path


def write(estimates: Estimates, path: Path) -> None:
    """Write one row per agent, complete or not at all; `MEANINGS` says what the columns are.

    Parameters
    ----------
    estimates
        What is known of each agent.
    path
        Where to; its ending chooses the format: .csv, .tsv, .parquet, .json, .jsonl, .ndjson, and
        .arrow or .feather if pyarrow is installed.

    Notes
    -----
    What is not finite, such as the ends of an interval that nothing is known of, is missing in the
    file: an empty cell or null.

    Examples
    --------
    >>> from colme.data import Summaries, estimate
    >>> found = estimate(Summaries.of(["a", "b"], [1.0, 9.0]), sigma=1.0)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write(found, Path(place, "means.csv"))
    ...     print(Path(place, "means.csv").read_text().splitlines()[0])
    agent,n,mean,low,high,estimate,effective_n,gain,class,class_size,class_low,class_high,alike
    """
    words = FORMATS[check_target(path).suffix.lstrip(".").lower()]
    # Text becomes objects: the database takes short text for a set.
    columns = {
        name: column.astype(object) if column.dtype.kind in "UT" else np.ascontiguousarray(column)
        for name, column in estimates.columns.items()
    }
    with replacing(path) as draft:
        (_by_database if words else _by_arrow)(columns, draft, words)


def _by_database(columns: dict[str, NDArray[Any]], draft: Path, words: str) -> None:
    cells = ", ".join(
        f"CASE WHEN isfinite({quoted(name)}) THEN {quoted(name)} END AS {quoted(name)}"
        if column.dtype.kind == "f"
        else quoted(name)
        for name, column in columns.items()
    )
    query = f"COPY (SELECT {cells} FROM estimates) TO {literal(str(draft))} ({words})"
    with tempfile.TemporaryDirectory(prefix="colme-") as place, connected(Path(place)) as database:
        database.register("estimates", columns)
        try:
            database.execute(query)
        except errors() as error:
            raise OSError(f"cannot write {draft.parent}: {first_line(error)}") from None


def _by_arrow(columns: dict[str, NDArray[Any]], draft: Path, _: str) -> None:
    pa = load("Arrow files are written with pyarrow", "arrow", "pyarrow")
    table = pa.table(
        {
            name: pa.array(column, mask=~np.isfinite(column) if column.dtype.kind == "f" else None)
            for name, column in columns.items()
        }
    )
    with pa.ipc.new_file(str(draft), table.schema) as file:
        file.write_table(table)
