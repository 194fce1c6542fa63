"""What is kept of an experiment: times[run, agent] and curves, folded run by run.

Lives here: the small numbers that tables and figures are made of.  Must not know how they are
computed, tabulated or drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme.experiment import Experiment, Measures
from colme.metrics import Band
from colme.problem import Problem
from colme.theory import Situation

Array = NDArray[np.float64]
Times = NDArray[np.integer[Any]]


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


class OneRun(NamedTuple):
    """What one algorithm achieved in one run: errors and times, and values[time, agent] by curve.

    Examples
    --------
    >>> from colme import simulate
    >>> from colme.experiment import measure_result
    >>> trajectory = simulate([[0.0, 0.0]] * 3, "local", sigma=0.1)
    >>> OneRun(measure_result(trajectory, np.zeros(2), (0.1,)), {}).measures.name
    'local'
    """

    measures: Measures
    curves: Mapping[str, Array]


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
    >>> from colme.experiment import measure_result
    >>> measured, trajectory = Measured(), simulate([[0.0, 0.0]] * 3, "local", sigma=0.1)
    >>> for run in range(3):
    ...     measured.fold(OneRun(measure_result(trajectory, np.zeros(2), (0.1,)), {}))
    >>> measured.convergence["0.1"].tolist()
    [[1, 1], [1, 1], [1, 1]]
    """

    identification: Times | None = None
    likely: Times | None = None
    convergence: dict[str, Times] = field(default_factory=dict)
    curves: dict[str, CurveOverRuns] = field(default_factory=dict)

    def fold(self, run: OneRun) -> None:
        """Take in one more run."""
        measures = run.measures
        self.identification = _stacked(self.identification, measures.identification_times)
        self.likely = _stacked(self.likely, measures.likely_identification_times)
        for epsilon, times in measures.convergence_times.items():
            key = f"{epsilon:g}"
            self.convergence[key] = np.vstack((*self.convergence.get(key, ()), times))
        for name, values in run.curves.items():
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
    >>> from colme.paper import EXPERIMENTS, measure
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
