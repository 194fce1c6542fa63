"""Experiments: read, checked in one go, run on the same samples, summed up."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from colme import Record, metrics, simulate
from colme.experiment import Experiment, ProblemSpec, measure_result, summarise

SPEC: dict[str, Any] = {"class_means": [0.2, 0.8], "n_agents": 6, "sigma": 0.1, "seed": 3}
CONTENT: dict[str, Any] = {
    "problem": SPEC,
    "algorithms": ["local", "oracle", "eta-round-robin"],
    "horizon": 30,
    "runs": 2,
    "epsilons": [0.1],
    "seed": 4,
}

TOML = """
algorithms = ["local", "oracle", "eta-round-robin"]
horizon = 30
runs = 2
epsilons = [0.1]
seed = 4

[problem]
class_means = [0.2, 0.8]
n_agents = 6
sigma = 0.1
seed = 3
"""


def test_a_file_says_what_a_program_can_say(tmp_path: Path) -> None:
    path = tmp_path / "experiment.toml"
    path.write_text(TOML)
    assert Experiment.make(Experiment.read(path)) == Experiment.make(CONTENT)


@pytest.mark.parametrize("content", [b"horizon = ", b"[problem", b"\xff\xfe"])
def test_a_file_that_is_not_toml_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "experiment.toml"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"experiment.toml is not a TOML file"):
        Experiment.read(path)


@pytest.mark.parametrize("eta", [None, 0.5])
def test_each_algorithm_runs_on_the_samples_of_the_problem(eta: float | None) -> None:
    experiment = Experiment.make(CONTENT | {"delta": 0.2, "eta": eta})
    problem = experiment.problem.build()
    samples = problem.draw(30, 2, seed=4)
    how: dict[str, Any] = {"sigma": 0.1, "delta": 0.2, "eta": eta, "labels": problem.labels}
    for name, trajectory in zip(experiment.algorithms, experiment.run(), strict=True):
        alone = simulate(samples, name, **how)
        assert trajectory.name == name
        np.testing.assert_array_equal(trajectory.estimates, alone.estimates)
        np.testing.assert_array_equal(trajectory.class_counts, alone.class_counts)


def test_a_run_passes_on_record_and_progress() -> None:
    seen: list[tuple[str, float]] = []
    record = Record(class_counts=False, every=10)
    for trajectory in Experiment.make(CONTENT).run(
        record=record, threads=1, progress=lambda name, share: seen.append((name, share))
    ):
        assert trajectory.class_counts is None
        assert trajectory.times.tolist() == [10, 20, 30]
        assert seen[-1] == (trajectory.name, 1.0)


@pytest.mark.parametrize(
    ("noise", "parameters", "sigma"),
    [
        ("gaussian", {"sigma": 0.3}, 0.3),
        ("bernoulli", {}, 0.5),
        ("uniform", {"half_width": 0.25}, 0.25),
        ("beta", {"concentration": 2}, 0.5),
        ("beta", {"concentration": 2, "low": -1, "high": 3}, 2.0),
    ],
)
def test_every_noise_has_its_parameters(
    noise: Any, parameters: dict[str, Any], sigma: float
) -> None:
    spec = ProblemSpec(noise=noise, class_means=(0.2, 0.8), class_sizes=(1, 2), **parameters)
    problem = spec.build()
    assert problem.sigma == sigma
    assert problem.true_means.tolist() == [0.2, 0.8, 0.8]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"horizon": 0}, "horizon: .*greater than or equal to 1; received 0"),
        ({"horizon": 2.5}, "horizon: .*; received 2.5"),
        ({"runs": 0}, "runs: .*received 0"),
        ({"delta": 0}, "delta: .*greater than 0; received 0"),
        ({"delta": 1}, "delta: .*less than 1; received 1"),
        ({"delta": math.nan}, "delta: .*finite number; received nan"),
        ({"eta": -1}, "eta: .*received -1"),
        ({"seed": -1}, "seed: .*received -1"),
        ({"epsilons": [0.1, 0]}, r"epsilon must be greater than 0; received \(0.1, 0"),
        ({"algorithms": ["gossip"]}, "unknown algorithm 'gossip'; known: sharp, robust"),
        ({"algorithms": ["local", "local"]}, "each algorithm runs once; received local, local"),
        ({"algorithms": []}, r"algorithms: .*received \(\)|algorithms: .*received \[\]"),
        ({"steps": 3}, "steps: .*not permitted; received 3"),
        ({"problem": None}, "problem: .*received None"),
        ({"problem": SPEC | {"sigma": 0}}, "problem.sigma: .*greater than 0; received 0"),
        ({"problem": SPEC | {"class_means": []}}, "problem.class_means: .*at least 1"),
        ({"problem": SPEC | {"n_agents": 0}}, "problem.n_agents: .*received 0"),
        ({"problem": SPEC | {"class_sizes": [3, 3]}}, "problem: give either n_agents .* or"),
        ({"problem": SPEC | {"noise": "bernoulli"}}, "bernoulli .*no parameter; .*not used: sigma"),
        ({"problem": SPEC | {"noise": "uniform"}}, "missing: half_width; not used: sigma"),
        ({"problem": SPEC | {"noise": "cauchy"}}, "problem.noise: .*received 'cauchy'"),
        ({"problem": {"class_means": [0.2]}}, "missing: sigma"),
        ({"problem": SPEC | {"bias": -1}}, "problem.bias: .*received -1"),
    ],
)
def test_a_wrong_experiment_is_refused_with_where_and_what(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as error:
        Experiment.make(CONTENT | changes).build()
    assert "\n" not in str(error.value)


def test_every_fault_is_reported_at_once() -> None:
    with pytest.raises(ValueError, match=r"problem.sigma: .*; horizon: .*; delta: "):
        Experiment.make(CONTENT | {"horizon": 0, "delta": 2, "problem": SPEC | {"sigma": -1}})


def test_a_mean_impossible_for_its_noise_is_refused() -> None:
    with pytest.raises(ValueError, match=r"means in \[0, 1\]; received 1.5"):
        ProblemSpec(noise="bernoulli", class_means=(1.5,), n_agents=2).build()


def test_an_experiment_is_frozen() -> None:
    experiment: Any = Experiment.make(CONTENT)
    with pytest.raises(ValidationError, match="frozen"):
        experiment.horizon = 5


def test_a_summary_is_the_metrics_per_class_and_overall() -> None:
    problem = ProblemSpec(class_means=(0.2, 0.8), class_sizes=(2, 3), sigma=0.1).build()
    trajectory = simulate(
        problem.draw(60, 3), "round-robin", sigma=0.1, delta=0.1, labels=problem.labels
    )
    summary = summarise(measure_result(trajectory, problem.true_means, (0.1, 0.002)))
    assert summary["algorithm"] == "round-robin"
    identified = metrics.identification_times(trajectory)
    converged = metrics.convergence_times(trajectory, problem.true_means, 0.002)
    for times, table in [
        (identified, summary["identification_time"]),
        (converged, summary["convergence_time"]["0.002"]),
    ]:
        assert set(table) == {"all", "0", "1"}
        for key, agents in [("all", slice(None)), ("0", slice(2)), ("1", slice(2, None))]:
            part = times[:, agents]
            row = {"avg": part.mean(), "std": part.std(), "max": part.max()}
            assert table[key] == pytest.approx(row | {"within_horizon": (part <= 60).mean()})
    final = metrics.errors(trajectory, problem.true_means)[:, -1].mean()
    assert summary["final_error"] == pytest.approx(final)
