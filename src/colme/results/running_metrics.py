"""Metrics of one run, computed while it runs: error quantiles over time, and times per agent.

Lives here: `RunningMetrics`, updated block by block.  Must not know how estimates were computed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check, engine

QUANTILES = (0.5, 0.9, 0.99, 1.0)
"""The quantiles of the error over agents that are kept: the last is the largest error."""
_N_TIMES = 100
"""Quantiles are taken at about this many steps, unless others are asked for."""

Array = NDArray[np.float64]


def default_times(horizon: int) -> NDArray[np.int64]:
    """Return the steps at which errors are looked at: evenly spaced, the last among them.

    Examples
    --------
    >>> default_times(3).tolist(), default_times(1000)[:2].tolist(), default_times(1000).size
    ([1, 2, 3], [10, 20], 100)
    """
    every = -(-_check.positive_int("horizon", horizon) // _N_TIMES)
    times = np.arange(every, horizon + 1, every)
    return times if times.size and times[-1] == horizon else np.append(times, horizon)


BYTES_PER_AGENT = 20
"""What a run leaves behind of each agent, if it is looked at with two accuracies."""


class RunningMetrics:
    """The metrics of one run, folded block by block.

    Blocks follow each other in time.  Between `open` and `close` of a block, every agent is folded
    once; different agents may be folded by different threads.

    Parameters
    ----------
    true_means
        What estimates are held against, [agent].
    horizon
        How many steps the run has.
    epsilons
        Accuracies for convergence times and shares of wrong estimates.
    times
        The steps, counted from 1, at which errors are looked at; by default about a hundred.
    identifiable
        Whether classes are folded too.

    Examples
    --------
    >>> metrics = RunningMetrics(np.zeros(2), horizon=2, epsilons=(0.5,))
    >>> metrics.open(0, 2)
    >>> metrics.fold(0, np.array([[9.0, 0.1], [0.2, 0.3]]))
    >>> metrics.close()
    >>> metrics.convergence_times.tolist(), metrics.wrong_shares.tolist()
    ([[2, 1]], [[0.5], [0.0]])
    """

    def __init__(
        self,
        true_means: ArrayLike,
        horizon: int,
        *,
        epsilons: Sequence[float] = (0.1, 0.01),
        times: ArrayLike | None = None,
        identifiable: bool = False,
    ) -> None:
        self.horizon = _check.positive_int("horizon", horizon)
        self.epsilons = tuple(_check.positive("epsilon", epsilon) for epsilon in epsilons)
        self.times = default_times(horizon) if times is None else _check_times(times, horizon)
        self._targets = np.array(true_means, np.float64)
        n_agents, n_times = self._targets.size, self.times.size
        self.errors = np.full((n_times, len(QUANTILES)), np.nan)
        self.mean_errors = np.full(n_times, np.nan)
        self.wrong_shares = np.ones((n_times, len(self.epsilons)))
        self.estimates = np.full(n_agents, np.nan)
        self._last_wrong = np.zeros((len(self.epsilons), n_agents), np.int32)
        self._last_wrong_class = np.zeros(n_agents if identifiable else 0, np.int32)
        self._start, self._slots = 0, np.empty(0, np.int64)
        self._kept = np.empty((0, n_agents))

    def aim(self, true_means: ArrayLike) -> None:
        """Hold estimates against other means from now on; between two blocks."""
        self._targets[:] = true_means

    def open(self, start: int, n_steps: int) -> None:
        """Begin a block: steps `start` + 1 to `start` + `n_steps`, counted from 1."""
        self._start = start
        here = self.times[(self.times > start) & (self.times <= start + n_steps)]
        self._slots = np.full(n_steps, -1)
        self._slots[here - start - 1] = np.arange(here.size)
        self._kept = np.empty((here.size, self._targets.size))

    def fold(self, first: int, estimates: Array) -> None:
        """Fold estimates[agent, step] of a whole block, of agents from `first` on."""
        here = slice(first, first + len(estimates))
        self.estimates[here] = estimates[:, -1]
        engine.fold_errors(
            estimates,
            self._targets[here],
            self._start,
            np.array(self.epsilons),
            self._last_wrong[:, here],
            self._slots,
            self._kept[:, here],
        )

    def fold_classes(
        self,
        first: int,
        class_counts: engine.ClassCounts,
        labels: NDArray[np.int64],
        mates: NDArray[np.int64],
    ) -> None:
        """Fold class_counts[agent, step, class] likewise; mates[agent] is the right number.

        Labels and mates are of all agents.
        """
        here = slice(first, first + len(class_counts))
        engine.fold_classes(
            class_counts, labels[here], mates[here], self._start, self._last_wrong_class[here]
        )

    def close(self) -> None:
        """End the block, in which every agent was folded."""
        first = int(np.searchsorted(self.times, self._start, "right"))
        for slot, errors in enumerate(self._kept, start=first):
            for e, epsilon in enumerate(self.epsilons):
                self.wrong_shares[slot, e] = np.count_nonzero(~(errors <= epsilon)) / errors.size
            known = errors[~np.isnan(errors)]  # who has no sample yet has no estimate
            if known.size:
                self.errors[slot] = np.quantile(known, QUANTILES)
                self.mean_errors[slot] = known.mean()
        self._kept = np.empty((0, self._targets.size))

    @property
    def is_identifiable(self) -> bool:
        """Whether classes are folded too."""
        return self._last_wrong_class.size > 0

    @property
    def convergence_times(self) -> NDArray[np.int32]:
        """The first step from which each error stays at most ε, [epsilon, agent]."""
        return self._last_wrong + np.int32(1)

    @property
    def identification_times(self) -> NDArray[np.int32] | None:
        """The first step from which each class stays right, [agent]; None if not folded."""
        return self._last_wrong_class + np.int32(1) if self.is_identifiable else None


def _check_times(times: ArrayLike, horizon: int) -> NDArray[np.int64]:
    whole = np.asarray(times).dtype.kind in "iu"
    steps = np.asarray(times, np.int64) if whole else np.empty(0, np.int64)
    rising = steps.ndim == 1 and steps.size and (np.diff(steps) > 0).all()
    if not rising or steps[0] < 1 or steps[-1] > horizon:
        raise ValueError(f"times must list rising steps from 1 to {horizon}; received {times!r}")
    return steps
