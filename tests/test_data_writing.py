"""Estimates as files: every format reads back as what was estimated, complete or not at all."""

from __future__ import annotations

import json
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from colme.data import Estimates, Summaries, estimate
from colme.data.export import FORMATS, write

READERS: dict[str, Any] = {
    "csv": pl.read_csv,
    "tsv": lambda path: pl.read_csv(path, separator="\t"),
    "parquet": pl.read_parquet,
    "json": lambda path: pl.DataFrame(json.loads(path.read_text())),
    "jsonl": lambda path: pl.DataFrame([json.loads(x) for x in path.read_text().splitlines()]),
    "ndjson": pl.read_ndjson,
    "arrow": pl.read_ipc,
    "feather": lambda path: pl.from_pandas(pd.read_feather(path)),
}
NAMES: dict[str, list[Any]] = {
    "text": ["it's", 'a "b", c', "Zürich", "tab\there", "x" * 300, "日本", ""],
    "numbers": [-7, 0, 3, 10**17, 5, 6, 8],
}


def found(names: list[Any]) -> Estimates:
    """Return estimates in which some agents have one row, so no interval of their own."""
    rng = np.random.default_rng(0)
    whose = np.repeat(np.array(names), [1, 2, 9, 30, 1, 4, 5])
    return estimate(Summaries.of(whose, rng.normal(3.0, 1.0, len(whose))))


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("ending", FORMATS)
def test_a_file_reads_back_as_what_was_estimated(ending: str, kind: str, tmp_path: Path) -> None:
    estimates, path = found(NAMES[kind]), tmp_path / f"means.{ending}"
    write(estimates, path)
    table = READERS[ending](path)
    assert table.columns == list(estimates.columns)
    for name, column in estimates.columns.items():
        expected = column.tolist()
        if column.dtype.kind == "f":
            expected = [x if np.isfinite(x) else None for x in expected]
        assert [x or "" if name == "agent" and x is None else x for x in table[name]] == expected
    assert 2 <= table["low"].null_count() < 7
    assert list(tmp_path.iterdir()) == [path]


def test_long_names_and_those_of_a_new_kind_are_written(tmp_path: Path) -> None:
    names = np.array(["a", "b"], dtype=np.dtypes.StringDType())
    estimates = estimate(Summaries(names, np.full(2, 5), np.arange(2.0), np.ones(2)))
    for ending in ("csv", "arrow"):
        write(estimates, tmp_path / f"means.{ending}")
        assert READERS[ending](tmp_path / f"means.{ending}")["agent"].to_list() == ["a", "b"]


def test_what_cannot_be_written_is_refused_and_nothing_is_touched(tmp_path: Path) -> None:
    estimates = found(NAMES["numbers"])
    for name, words in {
        "means.xlsx": r"means\.xlsx.*\.csv, \.tsv, \.parquet, \.json",
        "means": "format must be one of",
        "nowhere/means.csv": "no folder",
    }.items():
        with pytest.raises(ValueError, match=words):
            write(estimates, tmp_path / name)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ValueError, match="it is a folder"):
        write(estimates, tmp_path / "folder.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
def test_a_file_that_was_there_stays_if_writing_fails(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"means.{ending}"
    path.write_text("as it was")
    estimates = found(NAMES["text"])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))  # as if the disk were full
    try:
        with pytest.raises(OSError, match=r"\w"):
            write(estimates, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [path]


def test_many_agents_are_written_without_delay(tmp_path: Path) -> None:
    n = 200_000
    rng = np.random.default_rng(1)
    table = Summaries(np.arange(n), np.full(n, 5), rng.normal(0.0, 1.0, n), np.full(n, 4.0))
    write(estimate(table, algorithm="local"), tmp_path / "means.parquet")
    read = pl.read_parquet(tmp_path / "means.parquet", columns=["agent", "n"])
    assert (read["agent"].to_list(), read["n"].sum()) == (list(range(n)), 5 * n)


def test_arrow_files_are_arrow_files(tmp_path: Path) -> None:
    write(found(NAMES["text"]), tmp_path / "means.arrow")
    schema = pa.ipc.open_file(str(tmp_path / "means.arrow")).schema
    assert schema.field("agent").type == pa.string()
    assert schema.field("n").type == pa.int64()
