"""When something was last wrong: the loops behind convergence and identification times.

Lives here: scans of what a run kept, or of one block of it after the other.  Must not know how it
was computed.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme._compile import kernel

ClassCounts: TypeAlias = NDArray[np.int16 | np.int32]


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


@kernel
def fold_errors(
    estimates: NDArray[np.float64],
    targets: NDArray[np.float64],
    start: int,
    epsilons: NDArray[np.float64],
    last: NDArray[np.int32],
    slots: NDArray[np.int64],
    kept: NDArray[np.float64],
) -> None:
    """Fold a block of estimates[agent, step] into last[ε, agent], the last step with an error > ε.

    Steps count from 1, and the first of the block is `start` + 1.  Errors of a step go to
    kept[``slots[step]``, agent], or nowhere if that is negative.  All arrays begin with the same
    agent.

    Examples
    --------
    >>> last, kept = np.zeros((1, 1), np.int32), np.empty((1, 1))
    >>> estimates, targets, slots = np.array([[1.0, 0.5]]), np.zeros(1), np.array([-1, 0])
    >>> fold_errors(estimates, targets, 10, np.array([0.7]), last, slots, kept)
    >>> last.item(), kept.item()
    (11, 0.5)
    """
    n_agents, n_steps = estimates.shape
    for a in range(n_agents):
        for t in range(n_steps):
            error = abs(estimates[a, t] - targets[a])
            for e in range(epsilons.size):
                if not error <= epsilons[e]:  # a NaN estimate counts as wrong
                    last[e, a] = start + t + 1
            if slots[t] >= 0:
                kept[slots[t], a] = error


@kernel
def fold_classes(
    class_counts: ClassCounts,
    labels: NDArray[np.int64],
    mates: NDArray[np.int64],
    start: int,
    last: NDArray[np.int32],
) -> None:
    """Fold a block of class_counts[agent, step, class] into last[agent], the last with a wrong one.

    The right class of an agent has `mates` members of its own label, and no others.

    Examples
    --------
    >>> last = np.zeros(1, np.int32)
    >>> counts = np.array([[[2, 1], [2, 0]]], np.int16)
    >>> fold_classes(counts, np.zeros(1, np.int64), np.array([2]), 10, last)
    >>> last.item()
    11
    """
    n_agents, n_steps, n_classes = class_counts.shape
    for a in range(n_agents):
        for t in range(n_steps):
            others = 0
            for k in range(n_classes):
                others += class_counts[a, t, k]
            own = class_counts[a, t, labels[a]]
            if own != mates[a] or others != own:
                last[a] = start + t + 1
