"""Runs an experiment, several runs at a time, and keeps only what tables and figures need.

Lives here: drawing one run, letting every algorithm see it, and measuring it.  Must not know
tables, figures or files.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from colme import _check, metrics
from colme.algorithm import Weighting, resolve
from colme.experiment import Experiment
from colme.paper.classes import class_means, eta_classes, known_class_estimates
from colme.paper.experiments import IDENTIFIERS
from colme.paper.results import Array, Measured, OneRun, Result, Times
from colme.problem import Problem
from colme.simulate import simulate
from colme.trajectory import Record, Trajectory

__all__ = ["each_run", "measure"]

T = TypeVar("T")

_POINTS_PER_CURVE = 400
_MEMORY = 1 << 30
"""Runs computed at the same time take at most this many bytes together."""
_COPIES = 4
"""Arrays of the size of one run's samples that are alive while it is computed."""


@dataclass(frozen=True)
class _Setting:
    """The truth that a run is measured against."""

    experiment: Experiment
    problem: Problem
    labels: Times
    targets: Array
    members: NDArray[np.bool_] | None
    kept: Times
    likely: bool

    @classmethod
    def of(cls, experiment: Experiment, likely: bool) -> Self:
        problem = experiment.problem.build()
        steps = np.linspace(1, experiment.horizon, _POINTS_PER_CURVE)
        kept = np.unique(steps.round().astype(np.int64))
        if not experiment.eta:
            labels, targets = problem.labels, problem.true_means
            return cls(experiment, problem, labels, targets, None, kept, likely)
        # One label for each agent: class counts then tell who exactly is in a class.
        labels = np.arange(problem.n_agents)
        members = eta_classes(problem.true_means, experiment.eta)
        targets = class_means(problem.true_means, members)
        return cls(experiment, problem, labels, targets, members, kept, likely)


def measure(
    experiment: Experiment,
    *,
    likely: bool = False,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Run an experiment and keep times and curves; the memory taken does not grow with the runs.

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
    setting = _Setting.of(experiment, likely)
    threads = _check.threads(threads)
    bytes_per_run = _COPIES * 8 * experiment.horizon * setting.problem.n_agents
    at_once = max(1, min(threads, experiment.runs, _MEMORY // bytes_per_run))
    measured: dict[str, Measured] = {}

    def work(run: int) -> dict[str, OneRun]:
        return _measure_run(setting, run, threads=-(-threads // at_once))

    for done, by_algorithm in enumerate(each_run(work, experiment.runs, at_once), 1):
        for name, one in by_algorithm.items():
            measured.setdefault(name, Measured()).fold(one)
        if progress is not None:
            progress(done / experiment.runs)
    return Result(experiment, setting.problem, setting.kept, measured)


def each_run(work: Callable[[int], T], runs: int, at_once: int) -> Iterator[T]:
    """Yield ``work(0)``, ``work(1)``, ... in order, computing a few at the same time.

    Examples
    --------
    >>> list(each_run(lambda run: run * run, runs=4, at_once=2))
    [0, 1, 4, 9]
    """
    pool = ThreadPoolExecutor(at_once)
    pending: deque[Future[T]] = deque()
    try:
        for run in range(runs):
            pending.append(pool.submit(work, run))
            if len(pending) > at_once:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _measure_run(setting: _Setting, run: int, threads: int) -> dict[str, OneRun]:
    """Draw one run and let every algorithm see it."""
    experiment = setting.experiment
    samples = setting.problem.draw_run(experiment.horizon, run, experiment.seed)
    measured = {}
    for name in experiment.algorithms:
        follows_class = name in IDENTIFIERS or name.startswith("eta-")
        trajectory = simulate(
            samples,
            name,
            sigma=setting.problem.sigma,
            delta=experiment.delta,
            labels=setting.labels,
            eta=experiment.eta,
            record=Record(
                class_counts=follows_class,
                likely_counts=setting.likely and resolve(name).weighting == Weighting.MODEL,
                every=1,
            ),
            threads=threads,
        )
        measured[name] = _measure_one(setting, trajectory)
        if name == "local" and setting.members is not None:
            measured["oracle"] = _measure_oracle(setting, trajectory)
    return measured


def _measure_oracle(setting: _Setting, local: Trajectory) -> OneRun:
    """Measure agents that know their η-class, from what each agent knows alone."""
    assert local.estimates is not None
    assert setting.members is not None
    estimates = known_class_estimates(local.estimates[0], setting.members)
    return _measure_one(setting, replace(local, estimates=estimates[np.newaxis], name="oracle"))


def _measure_one(setting: _Setting, trajectory: Trajectory) -> OneRun:
    convergence = {
        f"{epsilon:g}": metrics.convergence_times(trajectory, setting.targets, epsilon)[0]
        for epsilon in setting.experiment.epsilons
    }
    thin = _thinned(trajectory, setting.kept)
    curves = {"error": metrics.errors(thin, setting.targets)[0]}
    if trajectory.class_counts is None:
        return OneRun(None, convergence, curves)
    if setting.members is None:
        curves["precision"] = metrics.precision(thin)[0]
        for (i, j), values in metrics.pairwise_precision(thin).items():
            curves[f"precision {i} {j}"] = values[0]
    identification = metrics.identification_times(trajectory, setting.members)[0]
    if trajectory.likely_counts is None:
        return OneRun(identification, convergence, curves)
    likely = metrics.likely_identification_times(trajectory, setting.members)[0]
    return OneRun(identification, convergence, curves, likely)


def _thinned(trajectory: Trajectory, kept: Times) -> Trajectory:
    """Return the trajectory at the steps `kept` alone; it must hold every step."""
    estimates, class_counts = trajectory.estimates, trajectory.class_counts
    return replace(
        trajectory,
        times=kept,
        likely_counts=None,
        estimates=None if estimates is None else estimates[:, kept - 1],
        class_counts=None if class_counts is None else class_counts[:, kept - 1],
    )
