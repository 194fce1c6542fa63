"""The tables of an experiment: what each stands for, and how faults in them are told."""

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
    ClassTest.PAIRED: {"kind": "normal-mixture"},
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
        drawn = Experiment.make(CONTENT | {"arrivals": arrivals}).build().arrivals
        assert drawn is not None
        assert drawn.shape == (runs, 60, 9)
        assert runs == 1 or (drawn[0] != drawn[1]).any()


def test_the_oracle_knows_who_shares_its_mean_throughout() -> None:
    changes = [{"at": 30, "from": 0, "to": 1, "share": 0.5}]
    content = CONTENT | {"problem": SPEC | {"sigma": 0.01, "changes": changes}}
    experiment = Experiment.make(content | {"drift": {"window": 10}})
    scenario = experiment.build()
    assert sorted(scenario.labels.tolist()) == [0] * 2 + [1] * 5 + [2] * 2
    oracle = list(experiment.run(scenario))[2]
    assert abs(estimates(oracle)[:, -1] - scenario.problem.true_means_at([60])[0]).max() < 0.02


def test_a_graph_is_looked_for_beside_its_file(tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("".join(f"{a} {a + 1}\n" for a in range(8)))
    file = tmp_path / "experiment.toml"
    file.write_text(
        "[problem]\nclass_means = [0.2, 0.8]\nn_agents = 9\nsigma = 0.5\n"
        '[contacts]\ngraph = "edges.txt"\n'
    )
    contacts = Experiment.make(Experiment.read(file)).build().contacts
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
    plain = bounds.to_plain(spec.build(built, [0.5])[0])
    assert (plain["low"], plain["high"]) == pytest.approx(ends)
    wider = spec.model_copy(update={"low": -9.0, "high": 9.0})
    plain = bounds.to_plain(wider.build(built, [0.5])[0])
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
