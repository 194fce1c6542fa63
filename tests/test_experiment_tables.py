"""The tables of an experiment: what each stands for, and how faults in them are told."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from colme import Arrivals, Contacts, Gossip, Problem, Trajectory, bounds, simulate
from colme.algorithm import ALGORITHMS, ClassTest
from colme.experiment import BOUND_KINDS, BoundSpec, DriftSpec, Experiment

SPEC: dict[str, Any] = {"class_means": [0.2, 0.8], "class_sizes": [4, 5], "sigma": 0.3, "seed": 3}
CONTENT: dict[str, Any] = {
    "problem": SPEC,
    "algorithms": ["local", "soft-restricted-round-robin", "oracle", "sharp"],
    "horizon": 60,
    "runs": 2,
    "epsilons": [0.1],
    "seed": 4,
}
USUAL = {
    ClassTest.OVERLAP: {"kind": "laplace"},
    ClassTest.KNOWN: {"kind": "laplace"},
    ClassTest.JOINT: {"kind": "normal-mixture"},
}
ALL: dict[str, dict[str, Any]] = {
    "batch": {"arrivals": {"batch": 1}},
    "rates": {"arrivals": {"rates": 1}},
    "rates each": {"arrivals": {"rates": [1.0] * 9}},
    "contacts": {"contacts": {"size": 9}},
    "window": {"drift": {"window": 60}},
    "discount": {"drift": {"discount": 1}},
    "sigma each": {"problem": SPEC | {"sigma": [0.3] * 9}},
    "all": {
        "arrivals": {"batch": 1},
        "contacts": {"size": 9},
        "drift": {"window": 60},
    },
}


def estimates(trajectory: Trajectory) -> np.ndarray[Any, np.dtype[np.float64]]:
    assert trajectory.estimates is not None
    return trajectory.estimates


def same(one: Trajectory, other: Trajectory) -> None:
    np.testing.assert_array_equal(estimates(one), estimates(other))
    np.testing.assert_array_equal(one.class_counts, other.class_counts)
    assert one.name == other.name


@pytest.mark.parametrize("tables", ALL.values(), ids=ALL.keys())
def test_what_is_usual_spelled_out_changes_no_bit(tables: dict[str, Any]) -> None:
    plain = Experiment.make(CONTENT).run()
    for trajectory, spelled in zip(plain, Experiment.make(CONTENT | tables).run(), strict=True):
        same(trajectory, spelled)


@pytest.mark.parametrize("name", CONTENT["algorithms"])
def test_the_usual_bound_spelled_out_changes_no_bit(name: str) -> None:
    content = CONTENT | {"algorithms": [name]}
    (plain,) = Experiment.make(content).run()
    for tables in ({}, ALL["all"]):
        usual = {"bound": USUAL[ALGORITHMS[name].class_test]}
        (spelled,) = Experiment.make(content | tables | usual).run()
        same(plain, spelled)


def test_every_table_is_what_the_library_makes_of_it() -> None:
    changes = [
        {"at": 20, "from": 0, "to": 1, "share": 0.5},
        {"at": 30, "from": 1, "to": 0, "share": 0.2},
    ]
    sigmas = np.linspace(0.2, 0.4, 9).tolist()
    experiment = Experiment.make(
        CONTENT
        | {
            "problem": SPEC | {"sigma": sigmas, "changes": changes},
            "arrivals": {"between": [0.5, 5], "pattern": "poisson", "late": 0.3, "seed": 5},
            "contacts": {"size": 5, "gossip": True, "gossip_every": 3, "seed": 6},
            "bound": {"kind": "stitched", "n_min": 5},
            "drift": {"restart": True, "alarm": 0.01, "revisit": 4},
            "within": 0.5,
        }
    )
    problem = Problem.gaussian([0.2, 0.8], class_sizes=[4, 5], sigma=sigmas, seed=3)
    problem = problem.moving(0, to=1, share=0.5, time=20, seed=3)
    problem = problem.moving(1, to=0, share=0.2, time=30, seed=3)
    arrivals = Arrivals.between(0.5, 5, 9, 5, pattern="poisson", late=0.3).draw(60, 9, 2, 5)
    samples = problem.draw(60, 2, 4, arrivals)
    stitched = [bounds.Stitched(sigma, n_min=5) for sigma in sigmas]
    for name, trajectory in zip(experiment.algorithms, experiment.run(), strict=True):
        alone = simulate(
            samples,
            name,
            bound=[bounds.Restarted(one, 0.01, revisit=4) for one in stitched],
            labels=problem.cohorts,
            within=0.5,
            arrivals=arrivals,
            contacts=Contacts.random(9, 5, seed=6),
            gossip=Gossip(every=3, seed=6),
        )
        same(trajectory, alone)


def test_steps_are_counted_and_a_batch_is_so_many_samples() -> None:
    experiment = Experiment.make(CONTENT | {"arrivals": {"batch": 7}})
    samples = experiment.problem.build().draw(60 * 7, 2, 4)
    for trajectory in experiment.run():
        assert estimates(trajectory).shape == (2, 60, 9)
        if trajectory.name == "local":
            means = samples.reshape(2, 60, 7, 9).mean(axis=2).cumsum(axis=1)
            expected = means / np.arange(1, 61)[:, np.newaxis]
            np.testing.assert_allclose(estimates(trajectory), expected, rtol=1e-9)


def test_arrivals_differ_from_run_to_run_where_something_is_drawn() -> None:
    for arrivals, runs in [
        ({"rates": 0.5}, 1),
        ({"between": [0.1, 1]}, 1),
        ({"pattern": "poisson"}, 2),
        ({"late": 0.5}, 2),
        ({"silent": 0.5}, 2),
    ]:
        drawn = Experiment.make(CONTENT | {"arrivals": arrivals}).world().arrivals
        assert drawn is not None
        assert drawn.shape == (runs, 60, 9)
        assert runs == 1 or (drawn[0] != drawn[1]).any()


def test_the_oracle_knows_who_shares_its_mean_throughout() -> None:
    changes = [{"at": 30, "from": 0, "to": 1, "share": 0.5}]
    content = CONTENT | {"problem": SPEC | {"sigma": 0.01, "changes": changes}}
    experiment = Experiment.make(content | {"drift": {"window": 10}})
    world = experiment.world()
    assert sorted(world.labels.tolist()) == [0] * 2 + [1] * 5 + [2] * 2
    oracle = list(experiment.run(world=world))[2]
    assert abs(estimates(oracle)[:, -1] - world.problem.true_means_at([60])[0]).max() < 0.02


def test_a_graph_is_looked_for_beside_its_file(tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("".join(f"{a} {a + 1}\n" for a in range(8)))
    file = tmp_path / "experiment.toml"
    file.write_text(
        "[problem]\nclass_means = [0.2, 0.8]\nn_agents = 9\nsigma = 0.5\n"
        '[contacts]\ngraph = "edges.txt"\n'
    )
    contacts = Experiment.make(Experiment.read(file)).world().contacts
    assert contacts is not None
    assert contacts.known_by(4).tolist() == [3, 4, 5]


def test_every_bound_has_its_words_and_its_parameters() -> None:
    wrappers = {"Discounted", "Restarted", "Windowed"}
    assert set(BOUND_KINDS) == {
        "asymptotic",
        "betting",
        "empirical-bernstein",
        "laplace",
        "normal-mixture",
        "stitched",
        "student",
    }
    assert set(BOUND_KINDS.values()) == {
        kind for name, kind in bounds.KINDS.items() if name not in wrappers
    }
    for kind in BOUND_KINDS.values():
        taken: Any = kind
        known = {*BoundSpec.model_fields, "sigma", "gamma"}
        assert {field.name for field in fields(taken)} <= known


@pytest.mark.parametrize("kind", BOUND_KINDS)
def test_every_bound_runs_alone_and_restarted(kind: str) -> None:
    problem = {"noise": "bernoulli", "class_means": [0.1, 0.9], "class_sizes": [3, 3]}
    content = CONTENT | {"problem": problem, "bound": {"kind": kind}, "algorithms": ["sharp"]}
    for tables in ({}, {"drift": {"restart": True}}):
        (trajectory,) = Experiment.make(content | tables).run()
        assert abs(estimates(trajectory)[:, -1] - [0.1, 0.1, 0.1, 0.9, 0.9, 0.9]).max() < 0.25


@pytest.mark.parametrize(
    ("noise", "ends"),
    [
        ({"noise": "bernoulli"}, (0, 1)),
        ({"noise": "beta", "concentration": 2, "low": -1, "high": 2}, (-1, 2)),
        ({"noise": "uniform", "half_width": 0.25}, (-0.05, 1.05)),
    ],
)
@pytest.mark.parametrize("kind", ["betting", "empirical-bernstein"])
def test_a_range_is_that_of_the_noise_unless_given(
    kind: str, noise: dict[str, Any], ends: tuple[float, float]
) -> None:
    problem = {"class_means": [0.2, 0.8], "n_agents": 6} | noise
    experiment = Experiment.make({"problem": problem, "bound": {"kind": kind}})
    built = experiment.problem.build()
    samples = built.draw(200)
    assert ends[0] - 1e-12 <= samples.min() <= samples.max() <= ends[1] + 1e-12
    spec = experiment.bound
    assert spec is not None
    plain = bounds.to_plain(spec.build(built)[0])
    assert (plain["low"], plain["high"]) == pytest.approx(ends)
    wider = spec.model_copy(update={"low": -9.0, "high": 9.0})
    plain = bounds.to_plain(wider.build(built)[0])
    assert (plain["low"], plain["high"]) == (-9, 9)


@pytest.mark.parametrize(
    ("drift", "wrapped"),
    [
        ({"window": 9}, bounds.Windowed(bounds.Laplace(0.5, 0.1), 9)),
        ({"discount": 0.9, "revisit": 3}, bounds.Discounted(bounds.Laplace(0.5, 0.1), 0.9, 3)),
        ({"restart": True}, bounds.Restarted(bounds.Laplace(0.5, 0.1))),
        (
            {"restart": True, "alarm": 0.2, "detector": "adwin", "revisit": 0},
            bounds.Restarted(bounds.Laplace(0.5, 0.1), 0.2, "adwin", 0),
        ),
    ],
)
def test_drift_wraps_a_bound(drift: dict[str, Any], wrapped: bounds.Bound) -> None:
    assert DriftSpec(**drift).wrap(bounds.Laplace(0.5, 0.1)) == wrapped


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
    (changed(share=0.01), "problem: share 0.01 of the 4 agents of class 0 is nobody"),
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
    ({"contacts": {"size": 10}}, "contacts: size .* fleet of 9: it must be 1 to 9; received 10"),
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
        Experiment.make(CONTENT | tables)
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
            Experiment.make(CONTENT | {"contacts": {"graph": str(path)}})
    path.write_text("0 1\n2 3\n")
    lone = Experiment.make(CONTENT | {"contacts": {"graph": str(path), "disconnected": True}})
    contacts = lone.world().contacts
    assert contacts is not None
    assert contacts.components() == 7


def test_faults_of_all_tables_are_reported_at_once() -> None:
    inside = {"arrivals": {"batch": 0}, "drift": {"window": 0}, "contacts": {"size": 0}}
    with pytest.raises(ValueError, match=r"arrivals.batch: .*; contacts.size: .*; drift.window: "):
        Experiment.make(CONTENT | inside)
    between = {
        "algorithms": ["magic", "sharp"],
        "arrivals": {"rates": [1, 2]},
        "bound": {"kind": "betting"},
        "contacts": {"size": 99},
    } | changed(at=99)
    told = r"unknown algorithm.*; problem.changes: .*; arrivals: .*; contacts: .*; bound: "
    with pytest.raises(ValueError, match=told):
        Experiment.make(CONTENT | between)
