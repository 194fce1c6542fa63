"""When something was last wrong: the loops behind convergence and identification times.

Lives here: scans of what a run kept.  Must not know how it was computed.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme._compile import kernel

ClassCounts: TypeAlias = NDArray[np.int16 | np.int32]

__all__ = ["ClassCounts", "last_wrong_class", "last_wrong_estimate"]


@kernel
def last_wrong_estimate(
    estimates: NDArray[np.float64],
    targets: NDArray[np.float64],
    epsilon: float,
    last: NDArray[np.int64],
) -> None:
    """Write into last[run, agent] one plus the last slot with an error above ε; 0 if none has.

    `estimates` are [run, agent, slot], as they lie in memory.

    Examples
    --------
    >>> last = np.empty((1, 1), np.int64)
    >>> last_wrong_estimate(np.array([[[1.0, 0.0]]]), np.zeros(1), 0.1, last)
    >>> last.item()
    1
    """
    runs, n_agents, n_slots = estimates.shape
    for run in range(runs):
        for a in range(n_agents):
            slot = n_slots
            # A NaN estimate counts as wrong.
            while slot > 0 and abs(estimates[run, a, slot - 1] - targets[a]) <= epsilon:
                slot -= 1
            last[run, a] = slot


@kernel
def last_wrong_class(
    class_counts: ClassCounts,
    truth: NDArray[np.int64],
    last: NDArray[np.int64],
) -> None:
    """Write into last[run, agent] one plus the last slot whose class differs from truth[agent].

    `class_counts` are [run, agent, slot, class], as they lie in memory.

    Examples
    --------
    >>> last = np.empty((1, 1), np.int64)
    >>> last_wrong_class(np.array([[[[2], [1]]]], np.int16), np.array([[1]]), last)
    >>> last.item()
    1
    """
    runs, n_agents, n_slots, n_classes = class_counts.shape
    for run in range(runs):
        for a in range(n_agents):
            slot = n_slots
            while slot > 0:
                n_right = 0
                for k in range(n_classes):
                    n_right += class_counts[run, a, slot - 1, k] == truth[a, k]
                if n_right < n_classes:
                    break
                slot -= 1
            last[run, a] = slot
