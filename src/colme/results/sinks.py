"""Where a simulation writes, block by block: all of it, or metrics updated on the way.

Lives here: the two sinks.  Must not know how estimates are computed or shared among threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme.contacts import Contacts
from colme.engine import Output
from colme.problem import Problem
from colme.results.digest import Digest
from colme.results.record import count_type
from colme.results.running_metrics import RunningMetrics
from colme.results.trajectory import Trajectory


class Keep:
    """Keeps everything: writes straight into a trajectory.

    Examples
    --------
    >>> import colme
    >>> trajectory = colme.simulate([[0.0, 1.0]] * 3, "local", sigma=0.1)
    >>> sink = Keep(trajectory)
    >>> sink.open(0, 0, 3).tolist(), sink.output(0, 2).estimates.shape
    ([0, 1, 2], (2, 3))
    """

    bytes_per_step = 0

    def __init__(self, trajectory: Trajectory) -> None:
        kept, n_classes = trajectory, trajectory.class_sizes.size
        nothing = np.empty((1, 0, 0, n_classes), np.int16)
        self._slots = np.full(kept.horizon, -1)
        self._slots[kept.times - 1] = np.arange(kept.times.size)
        self._arrays: list[NDArray[Any]] = [
            empty if array is None else array.swapaxes(1, 2)
            for array, empty in (
                (kept.estimates, nothing[..., 0].astype(np.float64)),
                (kept.class_counts, nothing),
                (kept.likely_counts, nothing),
            )
        ]
        self._run = 0

    def open(self, run: int, start: int, stop: int) -> NDArray[np.int64]:
        """Begin a block of time; return where each of its steps is written, -1 for nowhere."""
        self._run = run
        return self._slots[start:stop]

    def output(self, first: int, last: int) -> Output:
        """Return where agents first..last-1 write."""
        run = self._run
        return Output(*(array[min(run, len(array) - 1), first:last] for array in self._arrays))

    def take(self, first: int, output: Output) -> None:
        """Do nothing: what agents wrote is where it belongs."""


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
        self._count_type = count_type(self._labels.size if contacts is None else contacts.size)
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
