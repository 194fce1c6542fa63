"""Runs an experiment, several runs at a time, and keeps only what tables and figures need.

Lives here: letting every algorithm see one run after the other, and measuring it.  Must not know
tables, figures or files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from colme import _check, metrics
from colme._threads import results, worker_threads
from colme.algorithm import ALGORITHMS, Weighting
from colme.experiment import Experiment, Scenario, measure_result
from colme.paper.classes import class_means, eta_classes, known_class_estimates
from colme.paper.experiments import IDENTIFIERS
from colme.paper.results import Array, Measured, OneRun, Result
from colme.results import Record, Trajectory

_POINTS_PER_CURVE = 400
_MEMORY = 1 << 30
"""Runs computed at the same time take at most this many bytes together."""
_COPIES = 4
"""Arrays of the size of one run's samples that are alive while it is computed."""


@dataclass(frozen=True)
class _Target:
    """What a run is measured against: with η, `members` are the η-class of each agent."""

    labels: NDArray[np.int64]
    means: Array
    members: NDArray[np.bool_] | None
    kept: NDArray[np.int64]

    @classmethod
    def of(cls, scenario: Scenario) -> Self:
        experiment, means = scenario.experiment, scenario.problem.true_means
        steps = np.linspace(1, experiment.horizon, _POINTS_PER_CURVE)
        kept = np.unique(steps.round().astype(np.int64))
        if not experiment.eta:
            return cls(scenario.problem.labels, means, None, kept)
        members = eta_classes(means, experiment.eta)
        # With one label for each agent, class counts tell exactly who is in a class.
        return cls(np.arange(means.size), class_means(means, members), members, kept)


def measure(
    experiment: Experiment,
    *,
    likely: bool = False,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Run an experiment and keep times and curves; memory does not grow with the number of runs.

    With η the target of each agent is the mean of its η-class, and the result has one more
    entry, ``oracle``: agents that know their η-class.

    Parameters
    ----------
    experiment
        What to run.
    likely
        Whether likely classes are followed as well, by the algorithms that have one.
    threads
        Runs computed at the same time; the result does not depend on it.
    progress
        Called with the share of the work done, from 0 to 1.

    Examples
    --------
    >>> from colme.paper import EXPERIMENTS
    >>> quick = EXPERIMENTS["two-class"].model_copy(update={"runs": 2, "horizon": 20})
    >>> list(measure(quick).measured)[-1]
    'oracle'
    """
    scenario = experiment.build(experiment.size(keeps=True))
    target = _Target.of(scenario)
    n_threads = _check.threads(threads)
    bytes_per_run = _COPIES * 8 * experiment.horizon * scenario.problem.n_agents
    at_once = max(1, min(n_threads, experiment.runs, _MEMORY // bytes_per_run))
    measured: dict[str, Measured] = {}

    def work(run: int) -> dict[str, OneRun]:
        alone = replace(scenario, run_number=run)
        return _measure_run(alone, target, likely=likely, threads=-(-n_threads // at_once))

    runs = ((run,) for run in range(experiment.runs))
    with worker_threads(at_once) as pool:
        for done, by_algorithm in enumerate(results(pool, work, runs, ahead=at_once), 1):
            for name, one in by_algorithm.items():
                measured.setdefault(name, Measured()).fold(one)
            if progress is not None:
                progress(done / experiment.runs)
    return Result(experiment, scenario.problem, target.kept, measured)


def _measure_run(
    scenario: Scenario, target: _Target, *, likely: bool, threads: int
) -> dict[str, OneRun]:
    """Let every algorithm see one run."""
    measured = {}
    for name in scenario.experiment.algorithms:
        trajectory = scenario.run(
            name,
            labels=target.labels,
            record=Record(
                class_counts=name in IDENTIFIERS or name.startswith("eta-"),
                likely_counts=likely and ALGORITHMS[name].weighting == Weighting.MODEL,
                every=1,
            ),
            threads=threads,
        )
        assert isinstance(trajectory, Trajectory)
        measured[name] = _measure_one(scenario, target, trajectory)
        if name == "local" and target.members is not None:
            assert trajectory.estimates is not None
            estimates = known_class_estimates(trajectory.estimates[0], target.members)
            oracle = replace(trajectory, estimates=estimates[np.newaxis], name="oracle")
            measured["oracle"] = _measure_one(scenario, target, oracle)
    return measured


def _measure_one(scenario: Scenario, target: _Target, trajectory: Trajectory) -> OneRun:
    epsilons = scenario.experiment.epsilons
    measures = measure_result(trajectory, target.means, epsilons, true_counts=target.members)
    thin = _thinned(trajectory, target.kept)
    curves = {"error": metrics.errors(thin, target.means)[0]}
    if trajectory.class_counts is not None and target.members is None:
        curves["precision"] = metrics.precision(thin)[0]
        for (i, j), values in metrics.pairwise_precision(thin).items():
            curves[f"precision {i} {j}"] = values[0]
    return OneRun(measures, curves)


def _thinned(trajectory: Trajectory, kept: NDArray[np.int64]) -> Trajectory:
    """Return the trajectory at the steps `kept` alone; it must hold every step."""
    estimates, class_counts = trajectory.estimates, trajectory.class_counts
    return replace(
        trajectory,
        times=kept,
        likely_counts=None,
        estimates=None if estimates is None else estimates[:, kept - 1],
        class_counts=None if class_counts is None else class_counts[:, kept - 1],
    )
