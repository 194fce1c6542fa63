"""What is left of a simulation that is too large to keep.

Lives here: `Digest`, made of the metrics of its runs, and the sink that folds them.  Must not know
how estimates are computed or shared among threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme.contacts import Contacts
from colme.engine import Output
from colme.problem import Problem
from colme.results.running_metrics import RunningMetrics
from colme.results.trajectory import MOST_IN_INT16

Array = NDArray[np.float64]

_BY_RUN = ("errors", "mean_errors", "wrong_shares", "convergence_times", "estimates")


@dataclass(frozen=True, eq=False)
class Digest:
    """What a simulation left behind whose trajectory would be too large.

    Attributes
    ----------
    name
        What ran.
    horizon
        For how many steps.
    labels
        The true class of each agent.
    epsilons
        Accuracies that times and shares are about.
    times
        The steps, counted from 1, at which errors were looked at.
    errors
        float64[run, time, quantile]: the error's `QUANTILES` over agents.
    mean_errors
        float64[run, time]: its average over agents.
    wrong_shares
        float64[run, time, epsilon]: the share of agents whose error is larger than ε.
    convergence_times
        int32[run, epsilon, agent]: the first step from which the error stays at most ε, all steps
        looked at; horizon + 1: not within the horizon.
    identification_times
        int32[run, agent]: the first step from which the optimistic class is right; or None.
    estimates
        float64[run, agent] at the end.

    Examples
    --------
    >>> metrics = RunningMetrics(np.zeros(2), horizon=1, epsilons=(0.5,))
    >>> metrics.open(0, 1)
    >>> metrics.fold(0, np.array([[0.1], [0.9]]))
    >>> metrics.close()
    >>> digest = Digest.of("local", np.zeros(2, np.int64), [metrics])
    >>> digest.wrong_shares.tolist(), digest.convergence_times.tolist()
    ([[[0.5]]], [[[1, 2]]])
    """

    name: str
    horizon: int
    labels: NDArray[np.int64]
    epsilons: tuple[float, ...]
    times: NDArray[np.int64]
    errors: Array
    mean_errors: Array
    wrong_shares: Array
    convergence_times: NDArray[np.int32]
    identification_times: NDArray[np.int32] | None
    estimates: Array

    @classmethod
    def of(cls, name: str, labels: NDArray[np.int64], runs: Sequence[RunningMetrics]) -> Digest:
        """Return what is left of runs whose blocks are all closed."""
        first, by_run = runs[0], list(_BY_RUN)
        found: dict[str, Any] = {"identification_times": None}
        if first.is_identifiable:
            by_run.append("identification_times")
        found |= {key: np.stack([getattr(run, key) for run in runs]) for key in by_run}
        return cls(name, first.horizon, labels, first.epsilons, first.times, **found)

    def times_to_converge(self, true_means: ArrayLike, epsilon: float) -> NDArray[np.int32]:  # noqa: ARG002
        """Return the first step from which each error stays at most ε, [run, agent].

        The true means were given when it ran, and so were the accuracies.
        """
        if epsilon not in self.epsilons:
            raise ValueError(
                f"this simulation was followed at epsilon {', '.join(map(str, self.epsilons))}; "
                f"received {epsilon}: name it in epsilons=(...) when simulating"
            )
        times: NDArray[np.int32] = self.convergence_times[:, self.epsilons.index(epsilon)]
        return times

    def times_to_identify(self, true_counts: ArrayLike | None = None) -> NDArray[np.int32] | None:  # noqa: ARG002
        """Return the first step from which each optimistic class stays right, [run, agent]."""
        return self.identification_times

    def final_errors(self, true_means: ArrayLike) -> Array:
        """Return |estimate - true mean| at the horizon, [run, agent]."""
        means = np.asarray(true_means, dtype=np.float64)
        return np.abs(self.estimates - (means if means.ndim == 1 else means[-1]))

    def average_errors(self, true_means: ArrayLike) -> Array:  # noqa: ARG002
        """Return the error at each of `times`, averaged over agents and runs."""
        averages: Array = self.mean_errors.mean(axis=0)
        return averages


def n_classmates(labels: NDArray[np.int64], contacts: Contacts | None) -> NDArray[np.int64]:
    """Return how many of the agents that each one knows carry its label, itself among them.

    Examples
    --------
    >>> path = Contacts.of_graph([(0, 1), (1, 2)])
    >>> labels = np.array([0, 0, 1])
    >>> n_classmates(labels, path).tolist(), n_classmates(labels, None).tolist()
    ([2, 2, 1], [2, 2, 1])
    """
    if contacts is None:
        return np.bincount(labels)[labels]
    same = labels[contacts.names] == np.repeat(labels, np.diff(contacts.starts))
    return np.add.reduceat(same, contacts.starts[:-1], dtype=np.int64)


class Fold:
    """Keeps metrics only: what agents write goes into them at the end of each piece of work.

    Parameters
    ----------
    problem
        The truth that estimates are compared with.
    contacts
        Who knows whom; None: everybody knows everybody.
    horizon, epsilons, times
        As for `RunningMetrics`.
    identifiable
        Whether classes are followed too.

    Examples
    --------
    >>> problem = Problem.bernoulli([0.5], n_agents=2)
    >>> sink = Fold(problem, None, 1, (0.1,), None, identifiable=False)
    >>> sink.open(0, 0, 1).tolist()
    [0]
    >>> output = sink.output(0, 2)
    >>> output.estimates[:] = [[0.5], [0.9]]
    >>> sink.take(0, output)
    >>> sink.digest("mine").wrong_shares.tolist()
    [[[0.5]]]
    """

    def __init__(
        self,
        problem: Problem,
        contacts: Contacts | None,
        horizon: int,
        epsilons: Sequence[float],
        times: ArrayLike | None,
        *,
        identifiable: bool,
    ) -> None:
        self._problem, self._horizon = problem, horizon
        self._epsilons, self._times, self._identifiable = epsilons, times, identifiable
        self._labels = problem.cohorts
        self._mates = n_classmates(self._labels, contacts)
        self._n_classes = int(self._labels.max()) + 1
        longest_row = self._labels.size if contacts is None else contacts.size
        self._count_type = np.int16 if longest_row <= MOST_IN_INT16 else np.int32
        self._runs: list[RunningMetrics] = []
        self._n_steps = 0
        self._free: deque[tuple[Any, Any]] = deque()

    @property
    def bytes_per_step(self) -> int:
        """What an agent writes at a step before it is folded."""
        return 8 + 4 * self._n_classes

    def open(self, run: int, start: int, stop: int) -> NDArray[np.int64]:
        """End the block before, and begin one within which true means do not change."""
        self._close()
        if run == len(self._runs):
            self._runs.append(
                RunningMetrics(
                    self._problem.true_means,
                    self._horizon,
                    epsilons=self._epsilons,
                    times=self._times,
                    identifiable=self._identifiable,
                )
            )
        self._n_steps = stop - start
        self._runs[run].aim(self._problem.true_means_at([stop])[0])
        self._runs[run].open(start, self._n_steps)
        return np.arange(self._n_steps)

    def output(self, first: int, last: int) -> Output:
        """Return memory for agents first..last-1, which another piece of work may have used."""
        n, k = (last - first) * self._n_steps, self._n_classes
        try:
            estimates, counts = self._free.pop()
        except IndexError:
            estimates, counts = np.empty(0), np.empty(0, self._count_type)
        if estimates.size < n:
            estimates, counts = np.empty(n), np.empty(n * k, self._count_type)
        shape = last - first, self._n_steps
        counted = counts[: n * k].reshape(*shape, k)
        counted = counted if self._identifiable else counted[:0]
        return Output(estimates[:n].reshape(shape), counted, counted[:0])

    def take(self, first: int, output: Output) -> None:
        """Fold what agents from `first` on wrote, all steps of the block."""
        self._runs[-1].fold(first, output.estimates)
        if self._identifiable:
            counts = output.class_counts
            self._runs[-1].fold_classes(first, counts, self._labels, self._mates)
        self._free.append((output.estimates.base, output.class_counts.base))

    def _close(self) -> None:
        if self._n_steps:
            self._runs[-1].close()
        self._n_steps = 0

    def digest(self, name: str) -> Digest:
        """Return what is left when all runs are done."""
        self._close()
        return Digest.of(name, self._labels, self._runs)
