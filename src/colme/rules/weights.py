"""How to weigh the members of the class, and the pooled mean.

Lives here: weightings without a model, over one row.  Must not know whom to ask.
"""

from __future__ import annotations

import math

from colme._compile import compiled
from colme.algorithm import Weighting
from colme.rules.class_test import belongs, classify, confirm_all
from colme.rules.robust import robust_mean
from colme.rules.row import Choice, Row
from colme.summary import View, view_at


@compiled
def simple_sums(n: int, row: Row) -> tuple[float, float]:
    """Return (Σ weights, Σ weights · means) with weight n_l for members: all their samples.

    Examples
    --------
    >>> row = Row.blank(3, mean=[0.0, 3.0, 9.0], n_samples=[2.0, 1.0, 5.0])
    >>> simple_sums(3, row._replace(member=[True, True, False]))
    (3.0, 3.0)
    """
    weights = total = 0.0
    means, counts = row.views.mean, row.views.n_samples
    member, confirmed = row.member, row.confirmed
    for l in range(n):
        weight = counts[l] if member[l] and confirmed[l] else 0.0
        weights += weight
        total += weight * means[l]
    return weights, total


@compiled
def class_uniform_sums(n: int, row: Row) -> tuple[float, float]:
    """Return (Σ weights, Σ weights · means) with weight 1 for members heard from.

    Examples
    --------
    >>> class_uniform_sums(3, Row.blank(3, mean=[0.0, 3.0, 9.0], n_samples=[2.0, 1.0, 0.0]))
    (2.0, 3.0)
    """
    weights = total = 0.0
    means, counts = row.views.mean, row.views.n_samples
    member, confirmed = row.member, row.confirmed
    for l in range(n):
        weight = 1.0 if member[l] and confirmed[l] and counts[l] > 0.0 else 0.0
        weights += weight
        total += weight * means[l]
    return weights, total


@compiled
def overlap_weight(choice: Choice, own: View[float], peer: View[float]) -> float:
    """Return how much a peer counts by how much its interval and the agent's own overlap.

    With aggressive weights it counts only if what the two have in common is longer than the
    smaller radius; with soft ones, if there is anything.

    Examples
    --------
    >>> own, peer = View(radius=1.0), View(mean=1.0, n_samples=6.0, radius=1.0)
    >>> overlap_weight(Choice(0, 0, Weighting.SOFT, 0.0, 1.0), own, peer)
    2.0

    Notes
    -----
    Weight n_l |I_a ∩ I_l| / |I_a ∪ I_l|; the hull stands for the union, which it equals when
    the intervals overlap.  With g = max(|x̄_a - x̄_l|, |β_a - β_l|), which covers crossing
    intervals and one inside the other, the two lengths are β_a + β_l ∓ g.  For a peer never
    heard of the first is NaN, which is not above anything: it weighs nothing.
    """
    least = 1.0 if choice.weighting == Weighting.AGGRESSIVE else 0.0
    gap, skew = abs(own.mean - peer.mean), abs(own.radius - peer.radius)
    gap = gap if gap > skew else skew
    common = own.radius + peer.radius - gap
    weight = peer.n_samples * common / (own.radius + peer.radius + gap)
    smaller = peer.radius if peer.radius < own.radius else own.radius
    return weight if common > least * smaller else 0.0


@compiled
def overlap_sums(choice: Choice, a: int, n: int, row: Row) -> tuple[int, float, float]:
    """Classify and return (peers that changed, Σ weights, Σ weights · means), overlap weighing.

    Examples
    --------
    >>> row = Row.blank(2, mean=[0.0, 1.0], n_samples=[4.0, 6.0], radius=[1.0, 1.0])
    >>> overlap_sums(Choice(0, 0, Weighting.SOFT, 0.0, 1.0), 0, 2, row)
    (0, 6.0, 2.0)
    >>> overlap_sums(Choice(0, 0, Weighting.AGGRESSIVE, 0.0, 1.0), 0, 2, row)
    (0, 4.0, 0.0)

    """
    n_changed = 0
    weights = total = 0.0
    own = view_at(row.views, a)
    views, member = row.views, row.member
    for l in range(n):
        peer = view_at(views, l)
        now = belongs(choice, own, peer, member[l])
        n_changed += now != member[l]
        member[l] = now
        weight = overlap_weight(choice, own, peer)
        weight = weight if now else 0.0
        weights += weight
        total += weight * peer.mean
    if choice.within == math.inf:
        return n_changed, weights, total
    n_changed += confirm_all(choice, a, n, row)
    weights = total = 0.0
    for l in range(n):
        if member[l] and row.confirmed[l]:
            weight = overlap_weight(choice, own, view_at(row.views, l))
            weights += weight
            total += weight * views.mean[l]
    return n_changed, weights, total


@compiled
def pool(choice: Choice, a: int, n: int, row: Row) -> tuple[int, float]:
    """Classify, then return (peers that changed, estimate); NaN while nothing is known.

    Where nothing has weight, because the agent's interval has no end yet, its own mean stands.

    Examples
    --------
    >>> row = Row.blank(3, mean=[0.0, 3.0, 9.0], n_samples=[2.0, 1.0, 5.0], radius=[2.0] * 3)
    >>> pool(Choice(0, 0, Weighting.SIMPLE, 0.0, 1.0), 0, 3, row)
    (1, 1.0)

    Notes
    -----
    μ_a = Σ_l α_l x̄_l over the class, with weights that sum to one (Section 4.2).
    """
    if choice.weighting in (Weighting.SOFT, Weighting.AGGRESSIVE):
        n_changed, weights, total = overlap_sums(choice, a, n, row)
    else:
        n_changed = classify(choice, a, n, row)
        if choice.weighting == Weighting.ROBUST:
            return n_changed, robust_mean(a, n, row)
        if choice.weighting == Weighting.SIMPLE:
            weights, total = simple_sums(n, row)
        else:
            weights, total = class_uniform_sums(n, row)
    if weights > 0.0:
        return n_changed, total / weights
    return n_changed, row.views.mean[a] if row.views.n_samples[a] > 0.0 else math.nan
