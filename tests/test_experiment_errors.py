"""Experiments that are wrong: an error says where it is, what is allowed, what was received."""

import re
from pathlib import Path
from typing import Any

import pytest
from test_experiment_tables import ALL, CONTENT, SPEC

from colme import Problem
from colme.experiment import Experiment


def changed(**change: Any) -> dict[str, Any]:
    whole = {"at": 20, "from": 0, "to": 1, "share": 0.5} | change
    return {"problem": SPEC | {"changes": [whole]}}


BAD: list[tuple[dict[str, Any], str]] = [
    ({"within": 0}, "within: .*greater than 0; received 0"),
    ({"problem": SPEC | {"sigma": [0.3, 0.3]}}, "problem: sigma .* each of the 9 .*; received 2"),
    ({"problem": SPEC | {"sigma": [0.3, -1]}}, "problem.sigma.1: .*greater than 0; received -1"),
    ({"problem": SPEC | {"sigma": []}}, r"problem.sigma: .*at least 1 item.*received \[\]"),
    ({"problem": SPEC | {"sigma": "wide"}}, "problem.sigma: .*; received 'wide'"),
    (changed(at=0), "problem.changes.0.at: .*equal to 1; received 0"),
    (changed(at=61), "problem.changes: .*step 1 to 60; received 61"),
    (changed(share=0), "problem.changes.0.share: .*greater than 0; received 0"),
    (changed(share=0.01), "problem: share 0.01 of the 4 agents of class 0 is no agent at all"),
    (changed(to=0), "problem.changes.0: a change leads to another class; received 0"),
    (changed(to=7), "problem: no agent is of class 7; there are classes"),
    ({"problem": SPEC | {"changes": [{"at": 3}]}}, "problem.changes.0.from: Field required"),
    ({"arrivals": 3}, "arrivals: .*received 3"),
    ({"arrivals": {"batch": 0}}, "arrivals.batch: .*received 0"),
    ({"arrivals": {"batch": 2, "rates": 1}}, "arrivals: batch .*; received rates as well"),
    ({"arrivals": {"batch": 2, "silent": 0.0}}, "arrivals: batch .*; received silent as well"),
    ({"arrivals": {"rates": -1}}, "arrivals.rates: .*equal to 0; received -1"),
    ({"arrivals": {"rates": 1e9}}, "arrivals: rates must be at most 1e.06 .*; received 1e.09"),
    ({"arrivals": {"rates": [1, 2]}}, "arrivals: rates .* each of the 9 agents; received 2"),
    ({"arrivals": {"rates": 1, "between": [1, 2]}}, "arrivals: give either rates or between"),
    ({"arrivals": {"between": [2, 1]}}, "arrivals: a range needs low <= high; received 2, 1"),
    ({"arrivals": {"between": [1]}}, "arrivals.between.1: Field required"),
    ({"arrivals": {"pattern": "waves"}}, "arrivals.pattern: .*'bursts'; received 'waves'"),
    ({"arrivals": {"burst": 3}}, 'arrivals: burst .*pattern = "bursts"'),
    ({"arrivals": {"late_by": 0.5}}, "arrivals: late_by .*give late"),
    ({"arrivals": {"late": 2}}, "arrivals.late: .*received 2"),
    ({"arrivals": {"speed": 2}}, "arrivals.speed: .*not permitted; received 2"),
    ({"contacts": {}}, "contacts: give one of size.*received none"),
    ({"contacts": {"size": 0}}, "contacts.size: .*received 0"),
    (
        {"contacts": {"size": 10}},
        "contacts: size .* 9 agents: it must be 1 to 9; received 10",
    ),
    ({"contacts": {"size": 2, "graph": "a"}}, "contacts: give one of size.*received size, graph"),
    ({"contacts": {"size": 2, "disconnected": True}}, "contacts: disconnected is about a graph"),
    ({"contacts": {"size": 2, "gossip_every": 2}}, "contacts: gossip_every goes with gossip"),
    ({"contacts": {"size": 9, "gossip": True}}, "contacts: gossip helps .*received 9 agents"),
    ({"contacts": {"graph": "nowhere.txt"}}, "contacts: cannot read 'nowhere.txt': No such file"),
    ({"bound": {}}, "bound.kind: Field required"),
    ({"bound": {"kind": "hoeffding"}}, "bound: kind must be one of .*; received 'hoeffding'"),
    ({"bound": {"kind": "windowed"}}, "bound: kind must be one of .*; received 'windowed'"),
    ({"bound": {"kind": "laplace", "n_opt": 9}}, "laplace takes no parameter; not used: n_opt"),
    ({"bound": {"kind": "betting", "n_min": 9}}, "takes n_grid, low, high; not used: n_min"),
    ({"bound": {"kind": "betting"}}, "bound: betting needs the range .*: give low and high"),
    ({"bound": {"kind": "betting", "low": 1, "high": 0}}, "bound: a range needs low < high"),
    ({"bound": {"kind": "stitched", "n_min": 0}}, "bound.n_min: .*received 0"),
    ({"drift": {}}, "drift: give one of window, discount and restart = true; received none"),
    ({"drift": {"restart": False}}, "drift: give one of .*; received none"),
    ({"drift": {"window": 9, "discount": 0.9}}, "drift: .*received window, discount"),
    ({"drift": {"window": 0}}, "drift.window: .*equal to 2; received 0"),
    ({"drift": {"discount": 1.5}}, "drift.discount: .*equal to 1; received 1.5"),
    ({"drift": {"window": 9, "alarm": 0.1}}, "drift: .*restart = true; received alarm with window"),
    ({"drift": {"restart": True, "alarm": 1}}, "drift.alarm: .*received 1"),
    ({"drift": {"restart": True, "detector": "eye"}}, "drift.detector: .*received 'eye'"),
    ({"drift": {"window": 9, "revisit": -1}}, "drift.revisit: .*received -1"),
    (
        {"drift": {"window": 9}, "bound": {"kind": "asymptotic"}},
        "bound and drift: at most 9 samples would count",
    ),
    (
        {"drift": {"window": 9}, "bound": {"kind": "betting", "low": -9, "high": 9}},
        "bound and drift: bound must follow from count, mean and squares",
    ),
]


@pytest.mark.parametrize(("tables", "message"), BAD)
def test_a_wrong_table_is_refused_with_where_and_what(tables: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        Experiment.make(CONTENT | tables).build()
    assert "\n" not in str(error.value)


def test_a_graph_must_be_one_and_be_connected(tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    for content, message in [
        (b"0 1\n2 3", "contacts: the graph must be connected; received 7 parts"),
        (b"0 1\n2 x", "line 2: an edge is two whole numbers"),
        (b"0 99", "received agent 99"),
        (b"\xff\xfe\xff", "is not a text file of edges"),
    ]:
        path.write_bytes(content)
        with pytest.raises(ValueError, match=re.escape(message).replace("\\ ", " ")):
            Experiment.make(CONTENT | {"contacts": {"graph": str(path)}}).build()
    path.write_text("0 1\n2 3\n")
    lone = Experiment.make(CONTENT | {"contacts": {"graph": str(path), "disconnected": True}})
    contacts = lone.build().contacts
    assert contacts is not None
    assert contacts.components() == 7


def test_faults_of_all_tables_are_reported_at_once() -> None:
    inside = {"arrivals": {"batch": 0}, "drift": {"window": 0}, "contacts": {"size": 0}}
    with pytest.raises(ValueError, match=r"arrivals.batch: .*; contacts.size: .*; drift.window: "):
        Experiment.make(CONTENT | inside)
    between = {"algorithms": ["magic", "sharp"]} | changed(at=99)
    with pytest.raises(ValueError, match=r"unknown algorithm.*; problem.changes: "):
        Experiment.make(CONTENT | between)


def test_errors_that_only_the_problem_shows_are_reported_at_once_when_it_is_built() -> None:
    wrong = {
        "arrivals": {"rates": [1, 2]},
        "bound": {"kind": "betting"},
        "contacts": {"size": 99},
    }
    with pytest.raises(ValueError, match=r"arrivals: .*; contacts: .*; bound: "):
        Experiment.make(CONTENT | wrong).build()


def test_checking_tables_builds_no_problem_and_reads_no_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built = []
    monkeypatch.setattr(Problem, "of_classes", lambda *_, **__: built.append("problem"))
    monkeypatch.setattr("colme.experiment.memory.free_memory", lambda: built.append("memory"))
    for tables in ALL.values():
        Experiment.make(CONTENT | tables)
    assert built == []
