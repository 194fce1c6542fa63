"""Snapshots of a fleet are checked, and their sums compared with the truth."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from local_fleets import PROBLEM, REPORT

from colme.live.fleet import FleetProgress, FleetSettings
from colme.live.fleet.watcher import read_snapshot
from colme.noise import Gaussian
from colme.problem import Change, Problem


def test_a_snapshot_is_read_as_it_was_published() -> None:
    assert read_snapshot(json.dumps(REPORT).encode()) == REPORT
    undecided = {**REPORT, "estimate": math.nan}
    assert read_snapshot(json.dumps(undecided).encode())["estimate"] is None


@pytest.mark.parametrize(
    "change",
    [
        {"agent": "a b"},
        {"agent": None},
        {"fleet": "\x1b[2J"},
        {"count": -1},
        {"count": True},
        {"samples": 1.5},
        {"class_size": "8"},
        {"mean": "0.5"},
        {"estimate": [1]},
        {"messages": None},
        {"messages": {"asked": "3"}},
        {"refused": {"\x1b[2J": 1}},
        {"refused": {"x" * 65: 1}},
        {"delay": 3},
        {"delay": {"p50": "soon"}},
    ],
    ids=str,
)
def test_what_is_no_snapshot_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"not a snapshot|must be 1 to 64"):
        read_snapshot(json.dumps(REPORT | change).encode())


@given(st.binary(max_size=200))
def test_bytes_are_a_snapshot_or_refused(payload: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_snapshot(payload)


def test_nothing_long_or_deep_is_read() -> None:
    for payload in (b"[" * 60_000, b" " * 70_000):
        with pytest.raises(ValueError, match="not a snapshot"):
            read_snapshot(payload)


def test_the_sums_count_on_when_a_process_begins_anew() -> None:
    progress = FleetProgress(FleetSettings(problem=PROBLEM))
    progress.take(REPORT)
    progress.take({**REPORT, "messages": {"asked": 5, "answered": 3}})
    progress.take({**REPORT, "messages": {"asked": 1, "answered": 1}, "refused": {"garbage": 2}})
    progress.take({**REPORT, "agent": "stranger"})
    report = progress.report()
    assert report["messages"] == {"asked": 6, "answered": 4}
    assert report["refused"] == {"checksum": 1, "garbage": 2}
    assert (report["heard"], report["samples"]) == (1, 4)
    assert report["delay"] == {"p50": 0.002, "p99": 0.01, "worst": 0.01}
    assert json.loads(json.dumps(report)) == report


def test_only_honest_agents_are_judged() -> None:
    settings = FleetSettings(problem=PROBLEM, liars=0.5)
    progress = FleetProgress(settings)
    sizes = [
        sum(1 for agent in range(*ends) if agent not in settings.liar_numbers)
        for ends in ((0, 8), (8, 12))
    ]
    for agent, name in enumerate(settings.names):
        lies = agent in settings.liar_numbers
        size = sizes[0] if agent < 8 else 12
        estimate = 99.0 if lies else 0.3
        progress.take({**REPORT, "agent": name, "estimate": estimate, "class_size": size})
    first, second = progress.report()["classes"]
    assert (first["heard"], second["heard"]) == tuple(sizes)
    assert first["liars"] == 8 - sizes[0]
    assert (first["error"], second["error"]) == (pytest.approx(0.1), pytest.approx(0.5))
    assert first["local_error"] == pytest.approx(0.3)
    assert (first["identified"], second["identified"]) == (1.0, 0.0)


def test_the_truth_moves_with_the_problem() -> None:
    problem = Problem([0, 0, 1], [0.2, 0.2, 0.8], Gaussian(0.5), [Change(10, [1], 0.8)])
    progress = FleetProgress(FleetSettings(problem=problem))
    progress.take({**REPORT, "agent": "1", "count": 9, "estimate": 0.2, "class_size": 2})
    row = progress.report()["classes"][0]
    assert (row["error"], row["identified"]) == (0.0, 1.0)
    progress.take({**REPORT, "agent": "1", "count": 10, "estimate": 0.2, "class_size": 2})
    progress.take({**REPORT, "agent": "0", "count": 10, "estimate": 0.2, "class_size": 2})
    row = progress.report()["classes"][0]
    assert (row["error"], row["identified"]) == (pytest.approx(0.3), 0.5)


def test_nothing_is_said_of_classes_that_do_not_fit_into_a_row() -> None:
    progress = FleetProgress(FleetSettings(problem=PROBLEM, room=4))
    progress.take(REPORT)
    assert progress.report()["classes"][0]["identified"] is None
