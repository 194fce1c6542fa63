"""Tables with times: slices of about equally many rows that fold to the whole."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tables import assert_same, written

from colme.data import Moments, Summaries, read
from colme.data.reader.database import connected
from colme.data.reader.slices import slice_sql

RNG = np.random.default_rng(0)


def moments_of(path: Path, **options: Any) -> Moments:
    moments = read(path, "agent", "value", "time", **options).moments
    assert moments is not None
    return moments


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather", "arrow", "jsonl"])
def test_every_moment_has_all_that_came_before(ending: str, tmp_path: Path) -> None:
    agents, values = RNG.integers(0, 5, 3_000), RNG.normal(3.0, 1.0, 3_000)
    times = RNG.integers(0, 400, 3_000)
    columns = {"agent": agents.tolist(), "value": values.tolist(), "time": times.tolist()}
    path = written(tmp_path, columns, ending)
    moments = moments_of(path, n_moments=7)
    assert len(moments) == 7
    for k, end in enumerate(moments.ends.tolist()):
        here = times <= end
        assert_same(moments.until(k), Summaries.of(agents[here], values[here]))
    assert_same(moments.until(6), read(path, "agent", "value").summaries)
    assert np.ptp(moments.counts.sum(axis=1)) < 60


def test_an_agent_without_rows_is_left_out_until_it_has_some(tmp_path: Path) -> None:
    table = {"agent": ["b", "a", "b"], "value": [1.0, 2.0, 5.0], "time": [1, 9, 5]}
    reading = read(written(tmp_path, table), "agent", "value", "time")
    moments = reading.moments
    assert moments is not None
    assert moments.ends.tolist() == [1, 5, 9]
    assert moments.counts.tolist() == [[0, 1], [0, 1], [1, 0]]
    assert moments.means.tolist() == [[0, 1.0], [0, 5.0], [2.0, 0]]
    assert moments.until(1).agents.tolist() == ["b"]
    assert moments.until(1).squares.tolist() == [8.0]
    assert reading.summaries.agents.tolist() == moments.agents.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="0 to 2; received 3"):
        moments.until(3)


DAYS = [datetime.datetime(2024, 5, day) for day in (3, 1, 2)]


@pytest.mark.parametrize(
    ("times", "ends"),
    [
        ([0.5, -1.5, 0.25], [-1.5, 0.25, 0.5]),
        ([2**60 + 2, 2**60, 2**60 + 1], [2**60, 2**60 + 1, 2**60 + 2]),
        ([day.date() for day in DAYS], ["2024-05-01", "2024-05-02", "2024-05-03"]),
        (DAYS, ["2024-05-01", "2024-05-02", "2024-05-03"]),
        (pa.array(DAYS, pa.timestamp("ns")), ["2024-05-01", "2024-05-02", "2024-05-03"]),
        (
            ["2024-05-03T12:00:00Z", "2024-05-01T02:00:00+02:00", "2024-05-02"],
            ["2024-05-01T00:00:00", "2024-05-02T00:00:00", "2024-05-03T12:00:00"],
        ),
    ],
)
def test_times_are_numbers_or_dates(times: Any, ends: list[Any], tmp_path: Path) -> None:
    table = {"agent": ["a", "b", "c"], "value": [1.0, 2.0, 3.0], "time": times}
    assert moments_of(written(tmp_path, table, "parquet")).ends.tolist() == ends


def test_dates_in_text_files_are_read(tmp_path: Path) -> None:
    for ending in ("csv", "jsonl"):
        days = [f"2024-05-0{day} 00:00:00.5" for day in (3, 1, 2)]
        table = {"agent": ["a", "b", "c"], "value": [1.0, 2.0, 3.0], "time": days}
        moments = moments_of(written(tmp_path, table, ending), n_moments=2)
        assert moments.ends.tolist() == [f"2024-05-0{day}T00:00:00.500000" for day in (2, 3)]


def test_missing_and_unreadable_times_are_bad_rows(tmp_path: Path) -> None:
    table = {
        "agent": ["a"] * 4,
        "value": [1.0] * 4,
        "time": ["2024-05-01", "soon", "", "2024-05-02"],
    }
    path = written(tmp_path, table)
    with pytest.raises(ValueError, match=r"no time: 1, unreadable time: 1.*'soon'.*ISO date"):
        read(path, "agent", "value", "time")
    reading = read(path, "agent", "value", "time", skip_bad_rows=True)
    assert reading.n_bad == {"no time": 1, "unreadable time": 1}
    assert reading.moments is not None
    assert reading.moments.ends.tolist() == ["2024-05-01", "2024-05-02"]
    assert read(path, "agent", "value").n_bad == {}


def test_numbers_and_dates_do_not_mix(tmp_path: Path) -> None:
    for name, time in (("one", 5), ("two", "2024-05-01")):
        written(tmp_path, {"agent": ["a"], "value": [1.0], "time": [time]}, "csv", name)
    with pytest.raises(ValueError, match="numbers in one file and dates in another"):
        read(str(tmp_path / "*.csv"), "agent", "value", "time")


def test_equal_times_of_an_agent_are_noted_and_stay_together(tmp_path: Path) -> None:
    table = {"agent": ["a", "a", "a", "b"], "value": [1.0] * 4, "time": [3, 3, 4, 3]}
    reading = read(written(tmp_path, table), "agent", "value", "time")
    assert any(
        note.startswith("2 rows have the agent and time of another") for note in reading.notes
    )
    assert reading.moments is not None
    assert reading.moments.counts.tolist() == [[2, 1], [1, 0]]


def test_slices_are_about_equal_however_times_are_spread(tmp_path: Path) -> None:
    times = np.concatenate([RNG.exponential(1.0, 150_000), [1e12]])
    table = {"agent": np.arange(150_001) % 3, "value": times, "time": times}
    moments = moments_of(written(tmp_path, table, "parquet"), n_moments=10)
    rows = moments.counts.sum(axis=1)
    assert len(rows) == 10
    assert rows.sum() == 150_001
    assert np.abs(rows / 15_000 - 1).max() < 0.1


def test_one_time_is_one_slice(tmp_path: Path) -> None:
    table = {"agent": ["a", "b"], "value": [1.0, 2.0], "time": [7, 7]}
    moments = moments_of(written(tmp_path, table))
    assert (moments.ends.tolist(), moments.counts.tolist()) == ([7.0], [[1, 1]])


def test_a_row_finds_its_slice(tmp_path: Path) -> None:
    with connected(tmp_path) as database:
        for n in range(1, 12):
            ends = sorted(RNG.choice(100, n, replace=False).tolist())
            rows = f"SELECT {slice_sql(ends)} FROM (SELECT range AS tick FROM range(100))"
            found = [row[0] for row in database.execute(rows).fetchall()]
            assert found == np.minimum(np.searchsorted(ends, np.arange(100)), n - 1).tolist()


def test_moments_have_one_entry_per_slice_and_agent() -> None:
    part = np.zeros((2, 1))
    with pytest.raises(ValueError, match=r"\(2, 2\); got"):
        Moments(np.array(["a", "b"]), np.array([1, 2]), part.astype(int), part, part)
