"""The results of a sweep: one Parquet file, the same bytes for the same content.

Lives here: its columns, writing it whole, and finding which sweep it belongs to.  Must not know how
anything was measured.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import colme
from colme._extras import load
from colme._files import replacing
from colme.sweep.point_journal import sync_folder, writing
from colme.sweep.point_rows import Columns, column_kinds
from colme.sweep.spec import Sweep

_ROWS_AT_ONCE = 1 << 16
"""Rows in memory at a time; also the fewest rows of a row group, except the last."""

_DIGEST = b"colme.sweep.digest"


import_arrow = partial(
    load, "results of a sweep need pyarrow", "sweep", "pyarrow.parquet", "pyarrow"
)
"""Return the library that reads and writes Parquet, or say how to get it."""


def check_target(path: Path) -> Path:
    """Return the path if results can be written there, else raise ValueError.

    Examples
    --------
    >>> check_target(Path("results.csv"))
    Traceback (most recent call last):
    ValueError: cannot write 'results.csv': results are Parquet: give a name that ends in .parquet
    """
    for is_bad, why in (
        (path.suffix != ".parquet", "results are Parquet: give a name that ends in .parquet"),
        (not path.parent.is_dir(), f"there is no folder {str(path.parent)!r}: create it first"),
        (path.is_dir(), "it is a folder: name a file in it"),
        (path.exists() and not path.is_file(), "no regular file: choose another name"),
    ):
        if is_bad:
            raise ValueError(f"cannot write {str(path)!r}: {why}")
    return path


def columns_of(sweep: Sweep) -> dict[str, type]:
    """Return every column of the results in order, with its type.

    The values of a key are numbers, text, or true and false if all of them are; whatever else is
    written as JSON.

    Examples
    --------
    >>> problem = {"class_means": [0.2], "n_agents": 3, "sigma": 0.5}
    >>> grid = {"delta": [0.1, 0.2], "algorithms": [["local"], ["sharp"]]}
    >>> columns = columns_of(Sweep.make({"problem": problem, "grid": grid}))
    >>> [f"{name}: {kind.__name__}" for name, kind in columns.items()][:5]
    ['point: int', 'delta: float', 'algorithms: str', 'run: int', 'algorithm: str']
    """
    measured = column_kinds(sweep.epsilons)
    chosen = {key: _plain_kind(sweep, key) or str for key in sweep.keys if key not in measured}
    return {"point": int, **chosen, **measured}


def write_results(path: Path, sweep: Sweep, rows_of: Callable[[int], Columns]) -> int:
    """Write the rows of all points, in their order, complete or not at all; return how many.

    Parameters
    ----------
    path
        Where to.
    sweep
        What was asked.
    rows_of
        What is known of a point, by its number.

    Examples
    --------
    >>> import tempfile
    >>> from colme.sweep.point_rows import measure_point
    >>> problem = {"class_means": [0.2], "n_agents": 3, "sigma": 0.5}
    >>> grid = {"delta": [0.1, 0.2]}
    >>> content = {"problem": problem, "horizon": 5, "runs": 2, "algorithms": ["local"]}
    >>> sweep = Sweep.make(content | {"grid": grid})
    >>> with tempfile.TemporaryDirectory() as place:
    ...     path = Path(place, "results.parquet")
    ...     n = write_results(path, sweep, lambda i: measure_point(sweep.points[i].content))
    ...     n, digest_of(path) == sweep.digest
    (4, True)
    """
    pa = import_arrow()
    columns = columns_of(sweep)
    types = {int: pa.int64(), float: pa.float64(), str: pa.string(), bool: pa.bool_()}
    schema = pa.schema([pa.field(name, types[kind]) for name, kind in columns.items()])
    schema = schema.with_metadata(
        {_DIGEST: sweep.digest, "colme.sweep": sweep.source, "colme.version": colme.__version__}
    )
    n_rows = 0
    _drop_drafts(path)
    with writing(path), replacing(path) as draft:
        with pa.parquet.ParquetWriter(draft, schema, compression="zstd") as writer:
            for piece in _pieces(sweep, columns, rows_of):
                table = pa.table(piece, schema=schema)
                writer.write_table(table, row_group_size=table.num_rows)
                n_rows += table.num_rows
        with draft.open("rb") as file:
            os.fsync(file.fileno())
    sync_folder(path.parent)
    return n_rows


def digest_of(path: Path) -> str | None:
    """Return the digest of the sweep that a file belongs to; "" if none, None if there is no file.

    Examples
    --------
    >>> digest_of(Path("nowhere.parquet"))
    """
    pa = import_arrow()
    try:
        metadata: dict[bytes, bytes] = pa.parquet.read_schema(path).metadata or {}
    except FileNotFoundError:
        return None
    except PermissionError:
        raise
    except (pa.ArrowInvalid, OSError):  # no Parquet, or damaged
        return ""
    return metadata.get(_DIGEST, b"").decode()


def _pieces(
    sweep: Sweep, columns: dict[str, type], rows_of: Callable[[int], Columns]
) -> Iterable[dict[str, list[Any]]]:
    """Yield all rows in pieces that fit into memory; where they are cut depends on them alone."""
    piece: dict[str, list[Any]] = {name: [] for name in columns}
    as_json = {key for key in sweep.keys if not _plain_kind(sweep, key)}
    for point in sweep.points:
        rows = rows_of(point.number)
        constant: dict[str, Any] = {"point": point.number}
        for key, value in point.values.items():
            constant[key] = json.dumps(value) if key in as_json else columns[key](value)
        for name, values in piece.items():
            values.extend(rows.get(name) or [constant.get(name)] * len(rows["run"]))
        if len(piece["point"]) >= _ROWS_AT_ONCE:
            yield piece
            piece = {name: [] for name in columns}
    if piece["point"]:
        yield piece


def _drop_drafts(path: Path) -> None:
    """Remove drafts of a process killed while writing; the journal's lock excludes others."""
    drafts = re.compile(rf"\.{re.escape(path.stem)}-\d+\.draft{re.escape(path.suffix)}")
    for file in path.parent.iterdir():
        if drafts.fullmatch(file.name):
            file.unlink(missing_ok=True)


def _plain_kind(sweep: Sweep, key: str) -> type | None:
    """Return the type of all values of a key; None if they have none in common."""
    kinds = {type(point.values[key]) for point in sweep.points}
    if kinds == {int, float}:
        return float
    return kinds.pop() if len(kinds) == 1 and kinds <= {int, float, str, bool} else None
