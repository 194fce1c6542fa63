"""Every decision an agent takes, once, over one row of memory.

Lives here: who belongs, whom to ask, how to pool.  A row has n entries in use: for each peer l
the agent knows, and for the agent a itself, the last mean, count and radius it has.  The plain
agent passes lists, the compiled simulator passes arrays.  Must not know time, I/O or randomness.
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled
from colme.algorithm import ClassTest, QueryStrategy, Weighting

__all__ = [
    "aggressive_mean",
    "class_uniform_mean",
    "classify",
    "next_peer",
    "optimistic_distance",
    "overlap_ratio",
    "pooled_mean",
    "pools_members",
    "simple_mean",
    "soft_mean",
]

Numbers: TypeAlias = Sequence[float] | NDArray[np.float64]
Flags: TypeAlias = MutableSequence[bool] | NDArray[np.bool_]


@compiled
def optimistic_distance(mean_a: float, radius_a: float, mean_l: float, radius_l: float) -> float:
    """Return the gap between two intervals: with high probability at most the true gap.

    Examples
    --------
    >>> optimistic_distance(0.0, 0.25, 1.0, 0.5)
    0.25

    Notes
    -----
    d = |x̄_a - x̄_l| - β_a - β_l (Definition 3); negative when the intervals overlap.
    """
    return abs(mean_a - mean_l) - radius_a - radius_l


@compiled
def classify(
    class_test: int,
    a: int,
    n: int,
    eta: float,
    means: Numbers,
    radii: Numbers,
    member: Flags,
) -> int:
    """Bring `member` up to date with the row; return how many peers changed sides.

    Examples
    --------
    >>> member = [True, True, True]
    >>> classify(ClassTest.OVERLAP, 0, 3, 0.0, [0.0, 0.4, 1.0], [0.3, 0.3, 0.3], member), member
    (1, [True, True, False])

    Notes
    -----
    C = {l : d(a, l) <= η} (Definitions 4 and 9).
    """
    if class_test == ClassTest.KNOWN:
        return 0
    n_changed = 0
    mean_a, radius_a = means[a], radii[a]
    for l in range(n):
        belongs = optimistic_distance(mean_a, radius_a, means[l], radii[l]) <= eta
        n_changed += belongs != member[l]
        member[l] = belongs
    return n_changed


@compiled
def next_peer(
    query: int,
    class_test: int,
    a: int,
    n: int,
    cursor: int,
    eta: float,
    means: Numbers,
    radii: Numbers,
    member: Flags,
) -> int:
    """Return the first peer after `cursor`, going round, that the strategy may ask; -1 if none.

    The class is tested only for the peers passed on the way, on the row as it is now.

    Examples
    --------
    >>> row = [0.0, 1.0, 0.1], [0.3, 0.3, 0.3], [True, True, True]
    >>> next_peer(QueryStrategy.ROUND_ROBIN, ClassTest.OVERLAP, 0, 3, -1, 0.0, *row)
    1
    >>> next_peer(QueryStrategy.RESTRICTED_ROUND_ROBIN, ClassTest.OVERLAP, 0, 3, -1, 0.0, *row)
    2
    """
    if query == QueryStrategy.NONE:
        return -1
    l = cursor
    for _ in range(n):
        l = l + 1 if l + 1 < n else 0
        if l == a:
            continue
        if query == QueryStrategy.ROUND_ROBIN:
            return l
        if class_test == ClassTest.KNOWN:
            belongs = member[l]
        else:
            belongs = optimistic_distance(means[a], radii[a], means[l], radii[l]) <= eta
        if belongs:
            return l
    return -1


@compiled
def overlap_ratio(low_a: float, high_a: float, low_l: float, high_l: float) -> float:
    """Return the common length of two intervals over the length of their hull (0 if disjoint).

    Examples
    --------
    >>> overlap_ratio(0.0, 2.0, 1.0, 3.0)
    0.3333333333333333

    Notes
    -----
    |I_a ∩ I_l| / |I_a ∪ I_l|; the hull stands for the union, which it equals when they overlap.
    """
    common = (high_l if high_l < high_a else high_a) - (low_l if low_l > low_a else low_a)
    hull = (high_a if high_l < high_a else high_l) - (low_a if low_l > low_a else low_l)
    return (common if common > 0.0 else 0.0) / hull


@compiled
def simple_mean(n: int, means: Numbers, counts: Numbers, member: Flags) -> float:
    """Return the mean of all samples held by members: weight n.

    Examples
    --------
    >>> simple_mean(3, [0.0, 3.0, 9.0], [2.0, 1.0, 5.0], [True, True, False])
    1.0
    """
    weights = total = 0.0
    for l in range(n):
        weight = counts[l] if member[l] else 0.0
        weights += weight
        total += weight * means[l]
    return total / weights if weights > 0.0 else math.nan


@compiled
def class_uniform_mean(n: int, means: Numbers, counts: Numbers, member: Flags) -> float:
    """Return the mean of the members' means, over those heard from: weight 1.

    Examples
    --------
    >>> class_uniform_mean(3, [0.0, 3.0, 9.0], [2.0, 1.0, 0.0], [True, True, True])
    1.5
    """
    weights = total = 0.0
    for l in range(n):
        weight = 1.0 if member[l] and counts[l] > 0.0 else 0.0
        weights += weight
        total += weight * means[l]
    return total / weights if weights > 0.0 else math.nan


@compiled
def soft_mean(a: int, n: int, means: Numbers, counts: Numbers, radii: Numbers) -> float:
    """Return the pooled mean with weight n · overlap ratio; peers whose intervals part weigh 0.

    Examples
    --------
    >>> soft_mean(0, 2, [0.0, 1.0], [4.0, 4.0], [1.0, 1.0])
    0.25
    """
    low_a, high_a = means[a] - radii[a], means[a] + radii[a]
    weights = total = 0.0
    for l in range(n):
        ratio = overlap_ratio(low_a, high_a, means[l] - radii[l], means[l] + radii[l])
        weight = counts[l] * ratio
        weights += weight
        total += weight * means[l]
    return total / weights if weights > 0.0 else math.nan


@compiled
def aggressive_mean(a: int, n: int, means: Numbers, counts: Numbers, radii: Numbers) -> float:
    """Return the soft mean over peers whose overlap exceeds the smaller of the two radii.

    Examples
    --------
    >>> round(aggressive_mean(0, 3, [0.0, 0.5, 1.5], [4.0, 4.0, 4.0], [1.0, 1.0, 1.0]), 6)
    0.1875
    """
    radius_a = radii[a]
    low_a, high_a = means[a] - radius_a, means[a] + radius_a
    weights = total = 0.0
    for l in range(n):
        low_l, high_l = means[l] - radii[l], means[l] + radii[l]
        common = (high_l if high_l < high_a else high_a) - (low_l if low_l > low_a else low_a)
        ratio = overlap_ratio(low_a, high_a, low_l, high_l)
        weight = counts[l] * ratio
        weight = weight if common > (radii[l] if radii[l] < radius_a else radius_a) else 0.0
        weights += weight
        total += weight * means[l]
    return total / weights if weights > 0.0 else math.nan


@compiled
def pools_members(weighting: int) -> bool:
    """Return whether the pooled mean looks at `member`; soft weights see the intervals alone.

    Examples
    --------
    >>> pools_members(Weighting.SIMPLE), pools_members(Weighting.SOFT)
    (True, False)
    """
    return weighting in (Weighting.SIMPLE, Weighting.CLASS_UNIFORM)


@compiled
def pooled_mean(
    weighting: int, a: int, n: int, means: Numbers, counts: Numbers, radii: Numbers, member: Flags
) -> float:
    """Return the agent's estimate: the weighted mean over its class; NaN while it knows nothing.

    Examples
    --------
    >>> row = [0.0, 3.0, 9.0], [2.0, 1.0, 5.0], [9.0, 9.0, 9.0], [True, True, False]
    >>> pooled_mean(Weighting.SIMPLE, 0, 3, *row)
    1.0

    Notes
    -----
    μ_a = Σ_l α_l x̄_l with weights that sum to one (Section 4.2).
    """
    if weighting == Weighting.SIMPLE:
        return simple_mean(n, means, counts, member)
    if weighting == Weighting.SOFT:
        return soft_mean(a, n, means, counts, radii)
    if weighting == Weighting.AGGRESSIVE:
        return aggressive_mean(a, n, means, counts, radii)
    return class_uniform_mean(n, means, counts, member)
