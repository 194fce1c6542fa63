"""Rows read one by one: the same checks as sums, and whole agents if not all rows fit."""

from __future__ import annotations

import _thread
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tables import assert_same, written

from colme.data import Summaries, read
from colme.data.reader import read_rows
from colme.data.reader.database import connected

RNG = np.random.default_rng(3)
TABLE = {
    "store": [f"store {k}" for k in RNG.integers(0, 60, 2_000).tolist()],
    "sales": RNG.normal(5.0, 1.0, 2_000).round(4).tolist(),
}


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow", "jsonl"])
def test_rows_are_those_that_were_summed_up(ending: str, tmp_path: Path) -> None:
    path = written(tmp_path, TABLE, ending)
    agents, values, notes = read_rows(path)
    assert notes == ()
    assert sorted(zip(agents, values, strict=True)) == sorted(zip(*TABLE.values(), strict=True))
    assert_same(Summaries.of(agents, values), read(path).summaries)


def test_the_order_of_rows_and_files_does_not_matter(tmp_path: Path) -> None:
    halves = [{name: column[k::2] for name, column in TABLE.items()} for k in range(2)]
    paths = [written(tmp_path, half, "csv", f"part{k}") for k, half in enumerate(halves)]
    once, again = read_rows(paths), read_rows(paths[::-1])
    whole = read_rows(written(tmp_path, TABLE, "parquet"))
    for other in (again, whole):
        assert once[0].tolist() == other[0].tolist()
        assert once[1].tolist() == other[1].tolist()


def test_whole_agents_are_chosen_if_not_all_rows_fit(tmp_path: Path) -> None:
    path = written(tmp_path, TABLE)
    counts = dict(zip(*np.unique(TABLE["store"], return_counts=True), strict=True))
    chosen = []
    for seed in range(3):
        agents, values, (note,) = read_rows(path, most_rows=700, seed=seed)
        found, n = np.unique(agents, return_counts=True)
        assert {name: counts[name] for name in found} == dict(zip(found, n, strict=True))
        assert 600 < len(values) <= 700
        assert f"2000 rows are too many to be held at once: {len(found)} of 60 agents" in note
        assert read_rows(path, most_rows=700, seed=seed)[0].tolist() == agents.tolist()
        chosen.append(found.tolist())
    assert chosen[0] != chosen[1] != chosen[2]
    assert read_rows(path, most_rows=2_000)[2] == ()


def test_numbers_stay_numbers(tmp_path: Path) -> None:
    agents, _, _ = read_rows(written(tmp_path, {"agent": [10, 9, 10], "value": [1.0, 2.0, 3.0]}))
    assert sorted(agents.tolist()) == [9, 10, 10]


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("agent,value\na,1\nb,x\n", {}, "text instead of a number: 1"),
        ("agent,value\na,1\nb\n", {}, "broken line: 1"),
        ("agent,value\na,1\nb,9\n", {"value_range": (0.0, 5.0)}, "outside 0 to 5: 1"),
        ("agent,value\na,1\nb,9\n", {"value_range": (5.0, 0.0)}, "a range needs low < high"),
        ("agent,value\na,1\na,2\nb,9\nb,9\n", {"most_rows": 1}, "no agent fits"),
        ("agent,value\na,1\n", {"most_rows": 0}, "most_rows"),
    ],
)
def test_what_cannot_be_used_is_refused(
    text: str, options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        read_rows(path, "agent", "value", **options)


def test_bad_rows_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("agent,value\na,1\nb,x\nb\nc,7\na,9\n")
    agents, values, _ = read_rows(
        path, "agent", "value", skip_bad_rows=True, value_range=(0.0, 8.0)
    )
    assert (agents.tolist(), values.tolist()) == (["a", "c"], [1.0, 7.0])


def test_a_long_query_can_be_interrupted(tmp_path: Path) -> None:
    alone = "SET threads = 1; "  # so that the thread that listens is the one at work
    done = threading.Event()

    def interrupt() -> None:
        # Python drops an interrupt that comes while it frees an object: then another one must come.
        while not done.wait(1.5):
            _thread.interrupt_main()

    # A test before may have left a handler of its own.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    impatient = threading.Thread(target=interrupt)
    impatient.start()
    try:
        with pytest.raises(KeyboardInterrupt), connected(tmp_path) as database:
            database.execute(
                f"{alone}SELECT count(*) FROM range(20000000000) WHERE hash(range) = 3"
            )
    finally:
        done.set()
        impatient.join()
        signal.signal(signal.SIGINT, before)


def test_what_the_database_cannot_do_is_an_error_of_this_machine(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="the database cannot go on"), connected(tmp_path) as database:
        database.execute("SELECT 1 FROM nothing")
