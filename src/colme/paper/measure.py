"""Runs an experiment, several runs at a time, and keeps only what tables and figures need.

Lives here: letting every algorithm see one run after the other, and the times[run, agent] and
curves that are kept of it.  Must not know tables, figures or files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from colme import _check, metrics
from colme._threads import results, worker_threads
from colme.algorithm import ALGORITHMS, Weighting
from colme.experiment import Experiment, Measures, Scenario, measure_result
from colme.metrics import Band
from colme.paper.eta_classes import class_means, eta_classes, known_class_estimates
from colme.paper.experiments import IDENTIFIERS
from colme.problem import Problem
from colme.results import Record, Trajectory
from colme.theory import Situation

Array = NDArray[np.float64]
Times = NDArray[np.integer[Any]]
Curves = Mapping[str, Array]

_POINTS_PER_CURVE = 400
_MEMORY = 1 << 30
"""Runs computed at the same time take at most this many bytes together."""
_COPIES = 4
"""Arrays of the size of one run's samples that are alive while it is computed."""


@dataclass
class CurveOverRuns:
    """Mean and standard deviation over runs of values[time, agent], folded run by run.

    Examples
    --------
    >>> curve = CurveOverRuns()
    >>> for run in ([[1.0, 2.0]], [[3.0, 2.0]]):
    ...     curve.fold(np.array(run))
    >>> band = curve.over()
    >>> band.mean.tolist(), band.std.tolist()
    ([2.0], [0.5])
    """

    n_runs: int = 0
    mean: Array = field(default_factory=lambda: np.zeros(()))
    squares: Array = field(default_factory=lambda: np.zeros(()))

    def fold(self, values: Array) -> None:
        """Take in one more run (Welford's recurrence)."""
        self.n_runs += 1
        step = values - self.mean
        self.mean = self.mean + step / self.n_runs
        self.squares = self.squares + step * (values - self.mean)

    def over(self, agents: NDArray[np.bool_] | None = None) -> Band:
        """Return the published curve (see `colme.metrics.curve`) over some agents, or all."""
        chosen = np.s_[:, :] if agents is None else np.s_[:, agents]
        std = np.sqrt(self.squares[chosen] / self.n_runs)
        return Band(self.mean[chosen].mean(axis=-1), std.mean(axis=-1))


@dataclass
class Measured:
    """What one algorithm achieved in all runs; times are [run, agent].

    Attributes
    ----------
    identification
        Identification times of the guaranteed class; None if classes were not followed.
    likely
        The same of the likely class, which carries no guarantee; None if it was not followed.
    convergence
        Convergence times by epsilon, written as in ``0.01``.
    curves
        By name.

    Examples
    --------
    >>> from colme import simulate
    >>> measured, trajectory = Measured(), simulate([[0.0, 0.0]] * 3, "local", sigma=0.1)
    >>> for run in range(3):
    ...     measured.fold(measure_result(trajectory, np.zeros(2), (0.1,)), {})
    >>> measured.convergence["0.1"].tolist()
    [[1, 1], [1, 1], [1, 1]]
    """

    identification: Times | None = None
    likely: Times | None = None
    convergence: dict[str, Times] = field(default_factory=dict)
    curves: dict[str, CurveOverRuns] = field(default_factory=dict)

    def fold(self, measures: Measures, curves: Curves) -> None:
        """Take in the times of one more run, and its values[time, agent] by curve."""
        self.identification = _stacked(self.identification, measures.identification_times)
        self.likely = _stacked(self.likely, measures.likely_identification_times)
        for epsilon, times in measures.convergence_times.items():
            key = f"{epsilon:g}"
            self.convergence[key] = np.vstack((*self.convergence.get(key, ()), times))
        for name, values in curves.items():
            self.curves.setdefault(name, CurveOverRuns()).fold(values)


def _stacked(before: Times | None, new: Times | None) -> Times | None:
    """Return the times of all runs, those of one more included."""
    return new if before is None or new is None else np.vstack((before, new))


@dataclass(frozen=True)
class Result:
    """An experiment, its problem, and what each algorithm did on it.

    Attributes
    ----------
    experiment, problem
        What ran.
    times
        The steps at which curves are kept.
    measured
        By algorithm.

    Examples
    --------
    >>> from colme.paper import EXPERIMENTS
    >>> quick = EXPERIMENTS["local-long"].model_copy(update={"runs": 1, "horizon": 10})
    >>> measure(quick).class_sizes
    {'0.2': 71, '0.4': 64, '0.8': 65}
    """

    experiment: Experiment
    problem: Problem
    times: Times
    measured: Mapping[str, Measured]

    @property
    def situation(self) -> Situation:
        """What the theorems need to know."""
        facts = self.experiment
        return Situation(self.problem.true_means, self.problem.sigma, facts.delta, facts.eta or 0.0)

    @property
    def classes(self) -> dict[str, NDArray[np.bool_]]:
        """The agents of each class, by its mean written as in ``0.2``."""
        means = self.experiment.problem.class_means
        return {f"{mean:g}": self.problem.labels == label for label, mean in enumerate(means)}

    @property
    def class_sizes(self) -> dict[str, int]:
        """How many agents each class has."""
        return {key: int(agents.sum()) for key, agents in self.classes.items()}

    def identification(self, algorithm: str) -> Times:
        """Return the identification times[run, agent] of an algorithm whose class was followed."""
        times = self.measured[algorithm].identification
        if times is None:
            raise ValueError(f"the class of {algorithm} was not followed: see IDENTIFIERS")
        return times


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

    def work(run: int) -> dict[str, tuple[Measures, Curves]]:
        alone = replace(scenario, run_number=run)
        return _measure_run(alone, target, likely=likely, threads=-(-n_threads // at_once))

    runs = ((run,) for run in range(experiment.runs))
    with worker_threads(at_once) as pool:
        for done, one_run in enumerate(results(pool, work, runs, ahead=at_once), 1):
            for name, (measures, curves) in one_run.items():
                measured.setdefault(name, Measured()).fold(measures, curves)
            if progress is not None:
                progress(done / experiment.runs)
    return Result(experiment, scenario.problem, target.kept, measured)


class _Target(NamedTuple):
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


def _measure_run(
    scenario: Scenario, target: _Target, *, likely: bool, threads: int
) -> dict[str, tuple[Measures, Curves]]:
    """Let every algorithm see one run."""
    found = {}
    for name in scenario.experiment.algorithms:
        record = Record(
            class_counts=name in IDENTIFIERS or name.startswith("eta-"),
            likely_counts=likely and ALGORITHMS[name].weighting == Weighting.MODEL,
            every=1,
        )
        trajectory = scenario.run(name, labels=target.labels, record=record, threads=threads)
        assert isinstance(trajectory, Trajectory)
        found[name] = _measure_one(scenario, target, trajectory)
        if name == "local" and target.members is not None:
            assert trajectory.estimates is not None
            estimates = known_class_estimates(trajectory.estimates[0], target.members)
            oracle = replace(trajectory, estimates=estimates[np.newaxis], name="oracle")
            found["oracle"] = _measure_one(scenario, target, oracle)
    return found


def _measure_one(
    scenario: Scenario, target: _Target, trajectory: Trajectory
) -> tuple[Measures, Curves]:
    epsilons = scenario.experiment.epsilons
    measures = measure_result(trajectory, target.means, epsilons, true_counts=target.members)
    # Curves are looked at in the steps `kept` alone.
    kept, estimates, counts = target.kept, trajectory.estimates, trajectory.class_counts
    assert estimates is not None
    thin = replace(
        trajectory,
        times=kept,
        likely_counts=None,
        estimates=estimates[:, kept - 1],
        class_counts=None if counts is None else counts[:, kept - 1],
    )
    curves = {"error": metrics.errors(thin, target.means)[0]}
    if counts is not None and target.members is None:
        curves["precision"] = metrics.precision(thin)[0]
        for (i, j), values in metrics.pairwise_precision(thin).items():
            curves[f"precision {i} {j}"] = values[0]
    return measures, curves
