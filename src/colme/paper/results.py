"""What is kept of an experiment: times[run, agent] and curves, folded run by run.

Lives here: the small numbers that tables and figures are made of.  Must not know how they are
computed, tabulated or drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from colme.experiment import Experiment
from colme.metrics import Band
from colme.problem import Problem
from colme.theory import Situation

__all__ = ["Curve", "Measured", "OneRun", "Result"]

Array = NDArray[np.float64]
Times = NDArray[np.int64]


@dataclass
class Curve:
    """Mean and standard deviation over runs of values[time, agent], folded run by run.

    Examples
    --------
    >>> curve = Curve()
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


@dataclass(frozen=True)
class OneRun:
    """What one algorithm did in one run: times[agent], and values[time, agent] by curve.

    `identification` is about the class that is guaranteed, `likely` about the one that is only
    probable; each is None if it was not followed.

    Examples
    --------
    >>> OneRun(np.array([3]), {"0.1": np.array([5])}, {}).identification.tolist()
    [3]
    """

    identification: Times | None
    convergence: Mapping[str, Times]
    curves: Mapping[str, Array]
    likely: Times | None = None


class Measured:
    """What one algorithm did in all runs.

    Examples
    --------
    >>> measured = Measured()
    >>> measured.fold(OneRun(None, {"0.1": np.array([5, 7])}, {}))
    >>> measured.identification is None, measured.convergence["0.1"].tolist()
    (True, [[5, 7]])
    """

    def __init__(self) -> None:
        self.curves: dict[str, Curve] = {}
        self._identification: list[Times] = []
        self._likely: list[Times] = []
        self._convergence: dict[str, list[Times]] = {}

    def fold(self, run: OneRun) -> None:
        """Take in one more run."""
        if run.identification is not None:
            self._identification.append(run.identification)
        if run.likely is not None:
            self._likely.append(run.likely)
        for epsilon, times in run.convergence.items():
            self._convergence.setdefault(epsilon, []).append(times)
        for name, values in run.curves.items():
            self.curves.setdefault(name, Curve()).fold(values)

    @property
    def identification(self) -> Times | None:
        """Identification times[run, agent], or None if classes were not followed."""
        return np.stack(self._identification) if self._identification else None

    @property
    def likely(self) -> Times | None:
        """The same of the likely class, of which nothing is guaranteed; None if not followed."""
        return np.stack(self._likely) if self._likely else None

    @property
    def convergence(self) -> dict[str, Times]:
        """Convergence times[run, agent] by epsilon, written as in ``0.01``."""
        return {epsilon: np.stack(times) for epsilon, times in self._convergence.items()}


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
