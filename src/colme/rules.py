"""Every decision an agent takes, once, over one row of memory.

Lives here: who belongs, whom to ask, how to pool.  The plain agent passes rows of lists, the
compiled simulator rows of arrays.  Must not know time, I/O or randomness.
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled
from colme.algorithm import ClassTest, QueryStrategy, Weighting
from colme.bounds import separated
from colme.summary import View

__all__ = [
    "Choice",
    "Row",
    "belongs",
    "class_uniform_sums",
    "classify",
    "next_peer",
    "optimistic_distance",
    "overlap_sums",
    "pool",
    "remember",
    "simple_sums",
    "view",
]

Numbers: TypeAlias = MutableSequence[float] | NDArray[np.float64]
Flags: TypeAlias = MutableSequence[bool] | NDArray[np.bool_]


class Row(NamedTuple):
    """What an agent remembers: a view of each peer it knows, and one of itself.

    Every field but the last is a field of `View`, with one entry per agent; `member` is who is in
    the class, as far as was last decided.

    Examples
    --------
    >>> Row.blank(2).radii
    [inf, inf]
    """

    means: Numbers
    counts: Numbers
    radii: Numbers
    precisions: Numbers
    spreads: Numbers
    slopes: Numbers
    offsets: Numbers
    squares: Numbers
    epochs: Numbers
    member: Flags

    @staticmethod
    def blank(n: int) -> Row:
        """Return a row of lists, for n agents never heard of."""
        mean, n_samples, radius, precision, spread, slope, offset, squares, epoch = View()
        return Row(
            means=[mean] * n,
            counts=[n_samples] * n,
            radii=[radius] * n,
            precisions=[precision] * n,
            spreads=[spread] * n,
            slopes=[slope] * n,
            offsets=[offset] * n,
            squares=[squares] * n,
            epochs=[epoch] * n,
            member=[True] * n,
        )


class Choice(NamedTuple):
    """An algorithm as the rules read it: what was chosen, and the risk of one test.

    Attributes
    ----------
    query, class_test, weighting, eta
        As in `colme.Algorithm`.
    log_risk
        ln(1/γ).

    Examples
    --------
    >>> Choice(QueryStrategy.NONE, ClassTest.JOINT, Weighting.SIMPLE, eta=0.0, log_risk=14.3).eta
    0.0
    """

    query: int
    class_test: int
    weighting: int
    eta: float
    log_risk: float


@compiled
def view(row: Row, l: int) -> View:
    """Return what the row holds about agent l.

    Examples
    --------
    >>> view(Row.blank(1), 0) == View()
    True
    """
    return View(
        row.means[l],
        row.counts[l],
        row.radii[l],
        row.precisions[l],
        row.spreads[l],
        row.slopes[l],
        row.offsets[l],
        row.squares[l],
        row.epochs[l],
    )


@compiled
def remember(row: Row, l: int, seen: View) -> None:
    """Write into the row what is now known of agent l.

    Examples
    --------
    >>> row = Row.blank(2)
    >>> remember(row, 1, View(mean=0.5, n_samples=3))
    >>> row.means, row.counts
    ([0.0, 0.5], [0.0, 3])
    """
    row.means[l] = seen.mean
    row.counts[l] = seen.n_samples
    row.radii[l] = seen.radius
    row.precisions[l] = seen.precision
    row.spreads[l] = seen.spread
    row.slopes[l] = seen.slope
    row.offsets[l] = seen.offset
    row.squares[l] = seen.squares
    row.epochs[l] = seen.epoch


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
def belongs(choice: Choice, own: View, peer: View, member: bool) -> bool:
    """Return whether a peer, seen like that, is in the class of an agent with that view of itself.

    `member` is what was decided last: the known class stays, and a peer that the joint test has
    once ruled out stays out.

    Examples
    --------
    >>> own, peer = View(mean=0.0, radius=0.25), View(mean=1.0, radius=0.5)
    >>> belongs(Choice(0, ClassTest.OVERLAP, 0, eta=0.0, log_risk=1.0), own, peer, member=True)
    False
    >>> belongs(Choice(0, ClassTest.OVERLAP, 0, eta=0.3, log_risk=1.0), own, peer, member=True)
    True

    Notes
    -----
    Overlap: d(a, l) <= η (Definitions 4 and 9).  Joint: the evidence against means that differ
    by at most η, measured at (|x̄_a - x̄_l| - η)₊, is below ln(1/γ).
    """
    if choice.class_test == ClassTest.KNOWN:
        return member
    if choice.class_test == ClassTest.OVERLAP:
        return optimistic_distance(own.mean, own.radius, peer.mean, peer.radius) <= choice.eta
    beyond = abs(own.mean - peer.mean) - choice.eta
    return member and not separated(
        beyond if beyond > 0.0 else 0.0,
        own.spread,
        own.slope,
        own.offset,
        peer.spread,
        peer.slope,
        peer.offset,
        choice.log_risk,
    )


@compiled
def classify(choice: Choice, a: int, n: int, row: Row) -> int:
    """Bring `member` up to date with the first n entries; return how many peers changed sides.

    Examples
    --------
    >>> row = Row.blank(3)
    >>> row.means[:], row.radii[:] = [0.0, 0.4, 1.0], [0.3, 0.3, 0.3]
    >>> classify(Choice(0, ClassTest.OVERLAP, 0, eta=0.0, log_risk=1.0), 0, 3, row), row.member
    (1, [True, True, False])
    """
    if choice.class_test == ClassTest.KNOWN:
        return 0
    n_changed = 0
    own = view(row, a)
    means, counts, radii, precisions, spreads, slopes, offsets, squares, epochs, member = row
    for l in range(n):
        peer = View(
            means[l],
            counts[l],
            radii[l],
            precisions[l],
            spreads[l],
            slopes[l],
            offsets[l],
            squares[l],
            epochs[l],
        )
        now = belongs(choice, own, peer, member[l])
        n_changed += now != member[l]
        member[l] = now
    return n_changed


@compiled
def next_peer(choice: Choice, a: int, n: int, cursor: int, row: Row) -> int:
    """Return the first peer after `cursor`, going round, that the strategy may ask; -1 if none.

    The class is tested only for the peers passed on the way, on the row as it is now.

    Examples
    --------
    >>> row = Row.blank(3)
    >>> row.means[:], row.radii[:] = [0.0, 1.0, 0.1], [0.3, 0.3, 0.3]
    >>> next_peer(Choice(QueryStrategy.ROUND_ROBIN, 0, 0, 0.0, 1.0), 0, 3, -1, row)
    1
    >>> next_peer(Choice(QueryStrategy.RESTRICTED_ROUND_ROBIN, 0, 0, 0.0, 1.0), 0, 3, -1, row)
    2
    """
    if choice.query == QueryStrategy.NONE:
        return -1
    l, own = cursor, view(row, a)
    for _ in range(n):
        l = l + 1 if l + 1 < n else 0
        if l == a:
            continue
        if choice.query == QueryStrategy.ROUND_ROBIN or belongs(
            choice, own, view(row, l), row.member[l]
        ):
            return l
    return -1


@compiled
def simple_sums(n: int, row: Row) -> tuple[float, float]:
    """Return (Σ weights, Σ weights · means) with weight n_l for members: all their samples.

    Examples
    --------
    >>> row = Row.blank(3)._replace(means=[0.0, 3.0, 9.0], counts=[2.0, 1.0, 5.0])
    >>> simple_sums(3, row._replace(member=[True, True, False]))
    (3.0, 3.0)
    """
    weights = total = 0.0
    means, counts, member = row.means, row.counts, row.member
    for l in range(n):
        weight = counts[l] if member[l] else 0.0
        weights += weight
        total += weight * means[l]
    return weights, total


@compiled
def class_uniform_sums(n: int, row: Row) -> tuple[float, float]:
    """Return (Σ weights, Σ weights · means) with weight 1 for members heard from.

    Examples
    --------
    >>> class_uniform_sums(3, Row.blank(3)._replace(means=[0.0, 3.0, 9.0], counts=[2.0, 1.0, 0.0]))
    (2.0, 3.0)
    """
    weights = total = 0.0
    means, counts, member = row.means, row.counts, row.member
    for l in range(n):
        weight = 1.0 if member[l] and counts[l] > 0.0 else 0.0
        weights += weight
        total += weight * means[l]
    return weights, total


@compiled
def overlap_sums(choice: Choice, a: int, n: int, row: Row) -> tuple[int, float, float]:
    """Classify and return (peers that changed, Σ weights, Σ weights · means), overlap weighing.

    With aggressive weights a member counts only if what the two intervals have in common is
    longer than the smaller radius; with soft ones, if there is anything.

    Examples
    --------
    >>> row = Row.blank(2)
    >>> row.means[:], row.counts[:], row.radii[:] = [0.0, 1.0], [4.0, 6.0], [1.0, 1.0]
    >>> overlap_sums(Choice(0, ClassTest.OVERLAP, Weighting.SOFT, 0.0, 1.0), 0, 2, row)
    (0, 6.0, 2.0)
    >>> overlap_sums(Choice(0, ClassTest.OVERLAP, Weighting.AGGRESSIVE, 0.0, 1.0), 0, 2, row)
    (0, 4.0, 0.0)

    Notes
    -----
    Weight n_l |I_a ∩ I_l| / |I_a ∪ I_l|; the hull stands for the union, which it equals when
    the intervals overlap.  With g = max(|x̄_a - x̄_l|, |β_a - β_l|), which covers crossing
    intervals and one inside the other, the two lengths are β_a + β_l ∓ g.  For a peer never
    heard of the first is NaN, which is not above anything: it weighs nothing.
    """
    least = 1.0 if choice.weighting == Weighting.AGGRESSIVE else 0.0
    n_changed = 0
    weights = total = 0.0
    own = view(row, a)
    mean_a, radius_a = own.mean, own.radius
    means, counts, radii, precisions, spreads, slopes, offsets, squares, epochs, member = row
    for l in range(n):
        mean_l, radius_l = means[l], radii[l]
        peer = View(
            mean_l,
            counts[l],
            radius_l,
            precisions[l],
            spreads[l],
            slopes[l],
            offsets[l],
            squares[l],
            epochs[l],
        )
        now = belongs(choice, own, peer, member[l])
        n_changed += now != member[l]
        member[l] = now
        gap, skew = abs(mean_a - mean_l), abs(radius_a - radius_l)
        gap = gap if gap > skew else skew
        common = radius_a + radius_l - gap
        weight = counts[l] * common / (radius_a + radius_l + gap)
        smaller = radius_l if radius_l < radius_a else radius_a
        weight = weight if now and common > least * smaller else 0.0
        weights += weight
        total += weight * mean_l
    return n_changed, weights, total


@compiled
def pool(choice: Choice, a: int, n: int, row: Row) -> tuple[int, float]:
    """Classify, then return (peers that changed, estimate); NaN while nothing is known.

    Where nothing has weight, because the agent's interval has no end yet, its own mean stands.

    Examples
    --------
    >>> row = Row.blank(3)
    >>> row.means[:], row.counts[:], row.radii[:] = [0.0, 3.0, 9.0], [2.0, 1.0, 5.0], [2.0] * 3
    >>> pool(Choice(0, ClassTest.OVERLAP, Weighting.SIMPLE, 0.0, 1.0), 0, 3, row)
    (1, 1.0)

    Notes
    -----
    μ_a = Σ_l α_l x̄_l over the class, with weights that sum to one (Section 4.2).
    """
    if choice.weighting in (Weighting.SOFT, Weighting.AGGRESSIVE):
        n_changed, weights, total = overlap_sums(choice, a, n, row)
    else:
        n_changed = classify(choice, a, n, row)
        if choice.weighting == Weighting.SIMPLE:
            weights, total = simple_sums(n, row)
        else:
            weights, total = class_uniform_sums(n, row)
    if weights > 0.0:
        return n_changed, total / weights
    return n_changed, row.means[a] if row.counts[a] > 0.0 else math.nan
