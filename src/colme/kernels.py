"""The compiled loops: they call the rules and decide nothing.

Lives here: loops over time, agents and rows.  Must not know files, progress bars or problems.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled, kernel
from colme.algorithm import ClassTest, QueryStrategy, Weighting
from colme.rules import classify, next_peer, pool, simple_sums
from colme.summary import folded_mean

ClassCounts: TypeAlias = NDArray[np.int16 | np.int32]

_VECTOR = 16
"""Entries that a compiled row loop takes at once."""

__all__ = ["collaborate", "last_wrong_class", "last_wrong_estimate", "summarise"]


@kernel
def summarise(samples: NDArray[np.float64], means: NDArray[np.float64]) -> None:
    """Write the running mean of every column of samples[time, agent] into means[agent, time].

    Examples
    --------
    >>> means = np.empty((1, 2))
    >>> summarise(np.array([[1.0], [2.0]]), means)
    >>> means.tolist()
    [[1.0, 1.5]]
    """
    horizon, n_agents = samples.shape
    # Samples lie agent beside agent, means time beside time: a few agents at once suit both.
    for first in range(0, n_agents, _VECTOR):
        last = min(first + _VECTOR, n_agents)
        for a in range(first, last):
            means[a, 0] = samples[0, a]
        for t in range(1, horizon):
            for a in range(first, last):
                means[a, t] = folded_mean(means[a, t - 1], t, samples[t, a])


@compiled
def _recount(
    labels: NDArray[np.int64],
    member: NDArray[np.bool_],
    counted: NDArray[np.bool_],
    members_of: NDArray[np.int64],
) -> None:
    """Bring members_of[class] up to date, from `counted` to `member`; both seldom differ."""
    for l in range(labels.size):
        if member[l] != counted[l]:
            counted[l] = member[l]
            members_of[labels[l]] += 1 if member[l] else -1


@kernel
def collaborate(
    means: NDArray[np.float64],
    counts: NDArray[np.float64],
    radii: NDArray[np.float64],
    first: int,
    last: int,
    query: int,
    class_test: int,
    weighting: int,
    eta: float,
    labels: NDArray[np.int64],
    slots: NDArray[np.int64],
    estimates: NDArray[np.float64],
    class_counts: ClassCounts,
) -> None:
    """Run agents first..last-1 over the whole horizon of one run.

    `means`, `counts` and `radii` [agent, time] are what every agent says about itself at each
    time; an agent needs nothing else from the others, so agents run one after another.  What
    happens at time t is written to slot ``slots[t]`` of estimates[agent, slot] and
    class_counts[agent, slot, class], or nowhere if that is negative; an array without agents is
    not recorded.

    Two shortcuts leave the result as it is.  Rows are padded to whole vectors with peers that are
    never heard of, which weigh nothing.  And simple weights only need the sums over members, which
    one reply changes by one term as long as the class stays.

    Examples
    --------
    >>> one, zero = np.ones((1, 1)), np.zeros(1, np.int64)
    >>> estimates, class_counts = np.empty((1, 1)), np.empty((1, 1, 1), np.int16)
    >>> collaborate(one, one, one, 0, 1, 1, 0, 0, 0.0, zero, zero, estimates, class_counts)
    >>> estimates.item(), class_counts.item()
    (1.0, 1)
    """
    n_agents, horizon = means.shape
    n_classes = class_counts.shape[2]
    n_row = -(-n_agents // _VECTOR) * _VECTOR
    row_means, row_counts, row_radii = np.empty(n_row), np.empty(n_row), np.empty(n_row)
    member, counted = np.empty(n_row, np.bool_), np.empty(n_row, np.bool_)
    members_of = np.empty(n_classes, np.int64)
    for a in range(first, last):
        for l in range(n_row):
            row_means[l] = 0.0
            row_counts[l] = 0.0
            row_radii[l] = np.inf
            member[l] = class_test == ClassTest.OVERLAP or (l < n_agents and labels[l] == labels[a])
            counted[l] = False
        members_of[:] = 0
        cursor = -1
        n_changed = 1  # the first class is new
        weights = total = 0.0
        for t in range(horizon):
            row_means[a] = means[a, t]
            row_counts[a] = counts[a, t]
            row_radii[a] = radii[a, t]
            l = next_peer(query, class_test, a, n_agents, cursor, eta, row_means, row_radii, member)
            count_before = mean_before = 0.0
            if l >= 0:
                # Once a round the sums are made anew, so that rounding cannot build up.
                n_changed += l <= cursor
                cursor = l
                count_before, mean_before = row_counts[l], row_means[l]
                row_means[l] = means[l, t]
                row_counts[l] = counts[l, t]
                row_radii[l] = radii[l, t]
            slot = slots[t]
            if slot < 0:
                n_changed += 1
                continue
            if query == QueryStrategy.NONE:
                # Nobody is ever asked: the class stays, and only the agent itself has weight.
                estimate = row_means[a]
            elif weighting == Weighting.SIMPLE:
                n_changed += classify(class_test, a, n_row, eta, row_means, row_radii, member)
                own = row_counts[a] * row_means[a]
                if n_changed > 0:
                    weights, total = simple_sums(n_row, row_means, row_counts, member)
                    weights -= row_counts[a]
                    total -= own
                elif l >= 0 and member[l]:
                    weights += row_counts[l] - count_before
                    total += row_counts[l] * row_means[l] - count_before * mean_before
                estimate = (total + own) / (weights + row_counts[a])
            else:
                changed, estimate = pool(
                    weighting, class_test, a, n_row, eta, row_means, row_counts, row_radii, member
                )
                n_changed += changed
            if estimates.shape[0] > 0:
                estimates[a, slot] = estimate
            if class_counts.shape[0] > 0:
                if n_changed > 0:
                    _recount(labels, member, counted, members_of)
                for k in range(n_classes):
                    class_counts[a, slot, k] = members_of[k]
            n_changed = 0


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
