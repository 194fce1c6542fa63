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
    "belongs",
    "class_uniform_sums",
    "classify",
    "next_peer",
    "optimistic_distance",
    "overlap_sums",
    "pool",
    "simple_sums",
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
def belongs(class_test: int, eta: float, distance: float, known: bool) -> bool:
    """Return whether a peer at that optimistic distance is in the class.

    `known` is the answer given a priori, for class tests that take it.

    Examples
    --------
    >>> belongs(ClassTest.OVERLAP, 0.0, -0.2, known=False)
    True

    Notes
    -----
    d(a, l) <= η (Definitions 4 and 9).
    """
    if class_test == ClassTest.KNOWN:
        return known
    return distance <= eta


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
    """
    if class_test == ClassTest.KNOWN:
        return 0
    n_changed = 0
    mean_a, radius_a = means[a], radii[a]
    for l in range(n):
        distance = optimistic_distance(mean_a, radius_a, means[l], radii[l])
        now = belongs(class_test, eta, distance, member[l])
        n_changed += now != member[l]
        member[l] = now
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
    mean_a, radius_a = means[a], radii[a]
    l = cursor
    for _ in range(n):
        l = l + 1 if l + 1 < n else 0
        if l == a:
            continue
        if query == QueryStrategy.ROUND_ROBIN:
            return l
        distance = optimistic_distance(mean_a, radius_a, means[l], radii[l])
        if belongs(class_test, eta, distance, member[l]):
            return l
    return -1


@compiled
def simple_sums(n: int, means: Numbers, counts: Numbers, member: Flags) -> tuple[float, float]:
    """Return (Σ weights, Σ weights · means) with weight n_l for members: all their samples.

    Examples
    --------
    >>> simple_sums(3, [0.0, 3.0, 9.0], [2.0, 1.0, 5.0], [True, True, False])
    (3.0, 3.0)
    """
    weights = total = 0.0
    for l in range(n):
        weight = counts[l] if member[l] else 0.0
        weights += weight
        total += weight * means[l]
    return weights, total


@compiled
def class_uniform_sums(
    n: int, means: Numbers, counts: Numbers, member: Flags
) -> tuple[float, float]:
    """Return (Σ weights, Σ weights · means) with weight 1 for members heard from.

    Examples
    --------
    >>> class_uniform_sums(3, [0.0, 3.0, 9.0], [2.0, 1.0, 0.0], [True, True, True])
    (2.0, 3.0)
    """
    weights = total = 0.0
    for l in range(n):
        weight = 1.0 if member[l] and counts[l] > 0.0 else 0.0
        weights += weight
        total += weight * means[l]
    return weights, total


@compiled
def overlap_sums(
    least: float,
    class_test: int,
    a: int,
    n: int,
    eta: float,
    means: Numbers,
    counts: Numbers,
    radii: Numbers,
    member: Flags,
) -> tuple[int, float, float]:
    """Classify and return (peers that changed, Σ weights, Σ weights · means), overlap weighing.

    A member weighs nothing unless what the two intervals have in common is longer than `least`
    times the smaller radius: 0 for soft weights, 1 for aggressive ones.

    Examples
    --------
    >>> row = [0.0, 1.0], [4.0, 6.0], [1.0, 1.0], [True, True]
    >>> overlap_sums(0.0, ClassTest.OVERLAP, 0, 2, 0.0, *row)
    (0, 6.0, 2.0)
    >>> overlap_sums(1.0, ClassTest.OVERLAP, 0, 2, 0.0, *row)
    (0, 4.0, 0.0)

    Notes
    -----
    Weight n_l |I_a ∩ I_l| / |I_a ∪ I_l|; the hull stands for the union, which it equals when
    the intervals overlap.  With g = max(|x̄_a - x̄_l|, |β_a - β_l|), which covers crossing
    intervals and one inside the other, the two lengths are β_a + β_l ∓ g.  For a peer never
    heard of the first is NaN, which is not above anything: it weighs nothing.
    """
    n_changed = 0
    weights = total = 0.0
    mean_a, radius_a = means[a], radii[a]
    for l in range(n):
        distance = optimistic_distance(mean_a, radius_a, means[l], radii[l])
        now = belongs(class_test, eta, distance, member[l])
        n_changed += now != member[l]
        member[l] = now
        gap, skew = abs(mean_a - means[l]), abs(radius_a - radii[l])
        gap = gap if gap > skew else skew
        common = radius_a + radii[l] - gap
        weight = counts[l] * common / (radius_a + radii[l] + gap)
        smaller = radii[l] if radii[l] < radius_a else radius_a
        weight = weight if now and common > least * smaller else 0.0
        weights += weight
        total += weight * means[l]
    return n_changed, weights, total


@compiled
def pool(
    weighting: int,
    class_test: int,
    a: int,
    n: int,
    eta: float,
    means: Numbers,
    counts: Numbers,
    radii: Numbers,
    member: Flags,
) -> tuple[int, float]:
    """Classify, then return (peers that changed, estimate); NaN while nothing is known.

    Examples
    --------
    >>> row = [0.0, 3.0, 9.0], [2.0, 1.0, 5.0], [2.0, 2.0, 2.0], [True, True, True]
    >>> pool(Weighting.SIMPLE, ClassTest.OVERLAP, 0, 3, 0.0, *row)
    (1, 1.0)

    Notes
    -----
    μ_a = Σ_l α_l x̄_l over the class, with weights that sum to one (Section 4.2).
    """
    if weighting in (Weighting.SOFT, Weighting.AGGRESSIVE):
        least = 1.0 if weighting == Weighting.AGGRESSIVE else 0.0
        n_changed, weights, total = overlap_sums(
            least, class_test, a, n, eta, means, counts, radii, member
        )
    else:
        n_changed = classify(class_test, a, n, eta, means, radii, member)
        if weighting == Weighting.SIMPLE:
            weights, total = simple_sums(n, means, counts, member)
        else:
            weights, total = class_uniform_sums(n, means, counts, member)
    return n_changed, total / weights if weights > 0.0 else math.nan
