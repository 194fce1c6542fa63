"""Tables that are wrong: each ends in one clear line, or its bad rows are left out and counted."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tables import written

from colme.data import read

BAD = "agent,value\na,1\nb,NA\n,3\nc,inf\nd,1e200\ne,abc\nf\ng,5,6\na,3\n"
COUNTED = {
    "infinite value": 1,
    "no agent": 1,
    "no value": 1,
    "text instead of a number": 1,
    "value beyond 1e+150": 1,
    "broken line": 2,
}


def put(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refused(path: Any, *arguments: Any, **options: Any) -> str:
    """Return the message, which must be one line."""
    with pytest.raises((ValueError, OSError)) as caught:
        read(path, *arguments, **options)
    message = str(caught.value)
    assert message
    assert "\n" not in message
    return message


def test_bad_rows_are_refused_with_their_number_and_the_first(tmp_path: Path) -> None:
    message = refused(put(tmp_path, BAD))
    assert "table.csv: 7 of 9 rows" in message
    assert all(f"{reason}: {number}" in message for reason, number in COUNTED.items())
    assert "line 8: 'f'" in message
    assert "--skip-bad-rows" in message


def test_bad_rows_are_left_out_and_counted(tmp_path: Path) -> None:
    reading = read(put(tmp_path, BAD), skip_bad_rows=True)
    assert reading.summaries.agents.tolist() == ["a"]
    assert reading.summaries.means.tolist() == [2.0]
    assert reading.n_bad == COUNTED
    assert reading.n_rows == 9
    assert reading.notes[-1].startswith("rows left out: 7 (")


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "feather"])
def test_the_first_bad_row_is_shown(ending: str, tmp_path: Path) -> None:
    written(tmp_path, {"agent": ["a", "b"], "value": ["1", "2"]}, ending, "one")
    written(tmp_path, {"agent": ["a", "b", "c"], "value": ["1", "2", "high"]}, ending, "two")
    message = refused([tmp_path / f"one.{ending}", tmp_path / f"two.{ending}"])
    assert f"two.{ending}: 1 of 5 rows" in message
    assert "row 3 with 'c', 'high'" in message


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_first_bad_row_of_a_long_table_is_the_first(ending: str, tmp_path: Path) -> None:
    values = [1.0] * 400_000
    for row in (123_456, 260_000, 399_999):
        values[row - 1] = float("inf")
    path = written(tmp_path, {"agent": ["a"] * 400_000, "value": values}, ending)
    assert "first row 123456 with" in refused(path)


@pytest.mark.parametrize("ending", ["parquet", "feather"])
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "no value"),
        (float("nan"), "no value"),
        (float("inf"), "infinite value"),
        (-float("inf"), "infinite value"),
        (2e150, "value beyond 1e+150"),
        (-1.7e308, "value beyond 1e+150"),
    ],
)
def test_one_bad_value_among_many_is_found(
    ending: str, value: float | None, reason: str, tmp_path: Path
) -> None:
    values = [1.0] * 5_000 + [value] + [1.0] * 5_000
    path = written(tmp_path, {"agent": [k % 3 for k in range(10_001)], "value": values}, ending)
    assert f"{reason}: 1" in refused(path, "agent", "value")
    reading = read(path, "agent", "value", skip_bad_rows=True)
    assert reading.n_bad == {reason: 1}
    assert (reading.summaries.counts.sum(), reading.n_rows) == (10_000, 10_001)
    assert reading.summaries.means.tolist() == [1.0] * 3


def test_large_values_that_are_allowed_are_kept(tmp_path: Path) -> None:
    table = {"agent": ["a", "a"], "value": [1e150, -1e150]}
    reading = read(written(tmp_path, table))
    assert (reading.summaries.means.tolist(), reading.n_bad) == ([0.0], {})


@pytest.mark.parametrize("agent", [[1, None], ["a", None], ["a", ""], [1.5, float("nan")]])
def test_a_missing_agent_is_a_bad_row(agent: list[Any], tmp_path: Path) -> None:
    path = written(tmp_path, {"agent": agent, "value": [1.0, 2.0]}, "parquet")
    assert "no agent: 1" in refused(path)
    assert len(read(path, skip_bad_rows=True).summaries) == 1


def test_values_outside_the_range_are_bad_rows(tmp_path: Path) -> None:
    path = written(tmp_path, {"agent": ["a"] * 4, "value": [0.0, 1.0, 1.5, -0.5]})
    assert read(path).n_bad == {}
    assert "value outside 0 to 1: 2" in refused(path, value_range=(0, 1))
    reading = read(path, value_range=(0, 1), skip_bad_rows=True)
    assert (reading.summaries.means.tolist(), reading.n_rows) == ([0.5], 4)
    assert read(path, value_range=(-1, 2)).n_bad == {}
    assert read(path, value_range=(-0.5, 1.5)).n_bad == {}
    assert "a range needs low < high" in refused(path, value_range=(1, 0))


def test_a_range_far_from_zero_is_no_range_around_zero(tmp_path: Path) -> None:
    path = written(tmp_path, {"agent": ["a", "a"], "value": [5.0, 6.0]})
    assert read(path, value_range=(4, 7)).summaries.means.tolist() == [5.5]


def test_a_table_without_a_good_row_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, "agent,value\na,x\nb,y\n")
    assert "2 of 2 rows" in refused(path, "agent", "value", skip_bad_rows=True)


@pytest.mark.parametrize("skip", [False, True])
def test_a_decimal_comma_is_named(skip: bool, tmp_path: Path) -> None:
    path = put(tmp_path, "agent;value\na;1,5\nb;2\nc;-0,25\n")
    assert "decimal comma" in refused(path, skip_bad_rows=skip)


def test_broken_lines_in_files_of_two_shapes_are_counted(tmp_path: Path) -> None:
    one = put(tmp_path, "agent,value\na,1\nb\n", "one.csv")
    two = put(tmp_path, 'agent;value;more\na;3;x\n"b"b;4;x\nc;5;x\n', "two.csv")
    reading = read([one, two], skip_bad_rows=True)
    assert reading.n_bad == {"broken line": 2}
    assert reading.summaries.agents.tolist() == ["a", "c"]
    assert "one.csv: 2 of 5 rows" in refused([one, two])


def test_rows_after_a_broken_line_are_kept(tmp_path: Path) -> None:
    lines = [f'"x"{k},1' if k % 5_000 == 17 else f"a{k % 3},1" for k in range(40_000)]
    reading = read(put(tmp_path, "\n".join(["agent,value", *lines])), skip_bad_rows=True)
    assert reading.n_bad == {"broken line": 8}
    assert reading.summaries.counts.sum() == 40_000 - 8


def test_a_line_of_json_that_is_broken_is_a_bad_row(tmp_path: Path) -> None:
    text = '{"agent": "a", "value": 1}\n{"agent": "b", "val\n{"agent": "c", "value": 2}\n'
    path = put(tmp_path, text, "a.jsonl")
    assert "1 of 3 rows" in refused(path)
    reading = read(path, skip_bad_rows=True)
    assert (reading.summaries.agents.tolist(), sum(reading.n_bad.values())) == (["a", "c"], 1)


def test_latin_1_is_not_utf_8(tmp_path: Path) -> None:
    path = put(tmp_path, "agent,value\nzürich,1\nbern,2\n".encode("latin-1"))
    assert "not UTF-8: 1" in refused(path)
    reading = read(path, skip_bad_rows=True)
    assert (reading.summaries.agents.tolist(), reading.n_bad) == (["bern"], {"not UTF-8": 1})
    header = put(tmp_path, "größe,value\na,1\n".encode("latin-1"), "header.csv")
    assert "header of" in refused(header, skip_bad_rows=True)


def test_utf_16_is_named_and_read_if_bad_rows_may_be_skipped(tmp_path: Path) -> None:
    path = put(tmp_path, "agent,value\nzürich,1\nbern,2\n".encode("utf-16"))
    assert "UTF-16" in refused(path)
    assert read(path, skip_bad_rows=True).summaries.agents.tolist() == ["bern", "zürich"]


def _cut(ending: str, keep: float) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        table = {"agent": [f"a{k % 7}" for k in range(20_000)], "value": list(range(20_000))}
        path = written(folder, table, ending)
        path.write_bytes(path.read_bytes()[: int(keep * path.stat().st_size)])
        return path

    return write


@pytest.mark.parametrize(
    "write",
    [
        _cut("parquet", 0.5),
        _cut("csv.gz", 0.5),
        _cut("csv.gz", 0.9999),
        _cut("csv.zst", 0.5),
        _cut("csv.zst", 0.9999),
        _cut("jsonl.gz", 0.7),
        _cut("json", 0.5),
        _cut("feather", 0.5),
        _cut("arrow", 0.5),
        lambda folder: put(folder, "agent,value\na,1\n", "table.parquet"),
        lambda folder: put(folder, "agent,value\na,1\n", "table.feather"),
        lambda folder: put(folder, "agent,value\na,1\n", "table.csv.gz"),
        lambda folder: put(folder, "agent,value\na,1\n", "table.csv.zst"),
        lambda folder: put(folder, "", "table.csv"),
        lambda folder: put(folder, "agent,value\n", "table.csv"),
        lambda folder: put(folder, "agent,value\na,1\nb,2\r\nc,3\n", "table.csv"),
        lambda folder: put(folder, "1\n2\n", "table.jsonl"),
        lambda folder: put(folder, gzip.compress(b"PAR1"), "table.parquet.gz"),
        lambda folder: put(folder, "a", "table.xlsx"),
        lambda folder: put(folder, "value,value,agent\n1,2,a\n", "table.csv"),
        lambda folder: put(folder, "a,1.5\nb,2.5\n", "table.csv"),
        lambda folder: written(folder, {"agent": pa.array([], "string"), "value": []}, "parquet"),
        lambda folder: folder / "table.csv",
        lambda folder: folder / "table*.csv",
    ],
)
def test_a_file_that_cannot_be_read_is_named(write: Callable[[Path], Path], tmp_path: Path) -> None:
    path = str(write(tmp_path))
    assert "table" in refused(path)
    assert "table" in refused(path, skip_bad_rows=True)


def test_a_folder_is_no_file_and_nothing_is_no_table(tmp_path: Path) -> None:
    assert "is a folder" in refused(tmp_path)
    assert "at least one file" in refused([])


def test_the_broken_file_among_several_is_named(tmp_path: Path) -> None:
    good = written(tmp_path, {"agent": ["a"], "value": [1.0]}, "csv.gz", "good")
    broken = _cut("csv.gz", 0.9)(tmp_path)
    assert "table.csv.gz" in refused([good, broken])


def test_a_missing_column_is_named_with_what_there_is(tmp_path: Path) -> None:
    path = written(tmp_path, {"store": ["a"], "sales": [1.0]})
    message = refused(path, "stor", "sales")
    assert "no column 'stor'; did you mean 'store'?" in message
    assert "'store' (text), 'sales' (numbers)" in message
    assert "--agent COL" in message
    other = written(tmp_path, {"shop": ["a"], "sales": [1.0]}, "csv", "other")
    assert "other.csv has no column 'store'" in refused([path, other])


@pytest.mark.parametrize(
    ("table", "flag"),
    [
        ({"a": ["x"], "b": ["y"], "c": [1.0]}, "--agent"),
        ({"a": ["x"], "b": [2.0], "c": [1.0]}, "--value"),
        ({"a": [1], "b": [2]}, "--agent"),
        ({"a": [0.5], "b": [2.5]}, "--agent"),
        ({"value": [0.5]}, "--agent"),
        ({"user": ["x"], "store": ["y"], "value": [1.0]}, "--agent"),
        ({"user": ["x"], "x": [2], "y": [1.0]}, "--value"),
    ],
)
def test_doubt_about_columns_is_no_guess(
    table: dict[str, list[Any]], flag: str, tmp_path: Path
) -> None:
    message = refused(written(tmp_path, table))
    assert f"{flag} COL" in message
    assert all(repr(name) in message for name in table)


def test_columns_must_differ_and_hold_something_fitting(tmp_path: Path) -> None:
    path = written(tmp_path, {"agent": ["a"], "value": [[1.0]]}, "parquet")
    assert "different columns" in refused(path, "agent", "agent")
    assert re.search("'value' holds double.*cannot be the value", refused(path, "agent", "value"))


def test_too_many_agents_are_taken_for_a_wrong_column(tmp_path: Path) -> None:
    path = written(tmp_path, {"agent": list(range(50)), "value": [1.0] * 50})
    assert "50 agents" in refused(path, max_agents=49)
    assert len(read(path, max_agents=50).summaries) == 50
    assert "max_agents" in refused(path, max_agents=0)
