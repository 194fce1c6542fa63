"""Who may share the agent's mean, and who is shown to.

Lives here: class tests, over one row.  Must not know whom to ask or how to weigh.
"""

from __future__ import annotations

import math

from colme._compile import compiled
from colme.algorithm import ClassTest
from colme.bounds import separated
from colme.rules.row import Choice, Row
from colme.summary import View, view_at

_NEAR = 2.0 * (1.0 - 1e-9)
"""Twice the share of its parabola that Huber's function, with all rounding, never exceeds."""


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
def _beyond(choice: Choice, distance: float, own: View[float], peer: View[float]) -> bool:
    """Return whether two means must differ from what they were taken for, `distance` away."""
    return separated(
        distance if distance > 0.0 else 0.0,
        own.spread,
        own.slope,
        own.offset,
        peer.spread,
        peer.slope,
        peer.offset,
        choice.log_risk,
    )


@compiled
def belongs(choice: Choice, own: View[float], peer: View[float], member: bool) -> bool:
    """Return whether a peer, seen like that, is in the class of an agent with that view of itself.

    `member` is what was decided last: the known class stays, a peer that the joint test has once
    ruled out stays out, and the paired test decides only when there is news, see
    `colme.rules.exclude`.

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
    if choice.class_test in (ClassTest.KNOWN, ClassTest.PAIRED):
        return member
    if choice.class_test == ClassTest.OVERLAP:
        return optimistic_distance(own.mean, own.radius, peer.mean, peer.radius) <= choice.eta
    return member and not _beyond(choice, abs(own.mean - peer.mean) - choice.eta, own, peer)


@compiled
def classify(choice: Choice, a: int, n: int, row: Row) -> int:
    """Bring `member` up to date with the first n entries; return how many peers changed sides.

    Examples
    --------
    >>> row = Row.blank(3)
    >>> row.views.mean[:], row.views.radius[:] = [0.0, 0.4, 1.0], [0.3, 0.3, 0.3]
    >>> classify(Choice(0, ClassTest.OVERLAP, 0, eta=0.0, log_risk=1.0), 0, 3, row), row.member
    (1, [True, True, False])
    """
    if choice.class_test == ClassTest.KNOWN:
        return 0
    if choice.class_test == ClassTest.PAIRED:
        return confirm_all(choice, a, n, row)
    n_changed = 0
    own = view_at(row.views, a)
    views, member = row.views, row.member
    for l in range(n):
        peer = view_at(views, l)
        now = belongs(choice, own, peer, member[l])
        n_changed += now != member[l]
        member[l] = now
    return n_changed + confirm_all(choice, a, n, row)


def suspects(choice: Choice, a: int, row: Row) -> list[int]:
    """Return the members that the joint test may rule out now; about all others it is sure.

    For plain agents: a look at every peer that costs a tenth of the test itself.

    Examples
    --------
    >>> row = Row.blank(3, mean=[0.0, 0.4, 1.0], spread=[0.05] * 3)
    >>> suspects(Choice(0, ClassTest.JOINT, 0, eta=0.0, log_risk=2.0), 0, row)
    [2]

    Notes
    -----
    H(d) <= d²/(2q), so nothing is ruled out while d² < 2q (ln(1/γ) + offsets).
    """
    mean, spread = row.views.mean[a], row.views.spread[a]
    level = choice.log_risk + row.views.offset[a]
    return [
        l
        for l, (peer, its_spread, offset, member) in enumerate(
            zip(row.views.mean, row.views.spread, row.views.offset, row.member, strict=True)
        )
        if member and (peer - mean) ** 2 >= _NEAR * (spread + its_spread) * (level + offset)
    ]


@compiled
def is_confirmed(choice: Choice, own: View[float], peer: View[float], confirmed: bool) -> bool:
    """Return whether the means of an agent and a peer are shown to be less than `within` apart.

    `confirmed` is what was found last: what the joint test has once shown stays so.

    Examples
    --------
    >>> own, peer = View(mean=0.0, radius=0.25), View(mean=0.25, radius=0.5)
    >>> [
    ...     is_confirmed(Choice(0, 0, 0, 0.0, 1.0, within), own, peer, confirmed=False)
    ...     for within in (0.9, 1.0)
    ... ]
    [False, True]

    Notes
    -----
    Overlap: |x̄_a - x̄_l| + β_a + β_l <= g.  Joint: the evidence against means g apart or more,
    measured at (g - |x̄_a - x̄_l|)₊, has reached ln(1/γ).
    """
    if choice.class_test == ClassTest.KNOWN or choice.within == math.inf:
        return True
    gap = abs(own.mean - peer.mean)
    if choice.class_test == ClassTest.OVERLAP:
        return gap + own.radius + peer.radius <= choice.within
    return confirmed or _beyond(choice, choice.within - gap, own, peer)


@compiled
def confirm_all(choice: Choice, a: int, n: int, row: Row) -> int:
    """Bring `confirmed` up to date with the first n entries; return how many changed.

    An agent is always shown to be like itself.

    Examples
    --------
    >>> row = Row.blank(2, confirmed=[True, False])
    >>> row.views.radius[:] = [0.25, 0.25]
    >>> confirm_all(Choice(0, ClassTest.OVERLAP, 0, 0.0, 1.0, within=0.5), 0, 2, row), row.confirmed
    (1, [True, True])
    """
    if choice.within == math.inf:
        return 0
    n_changed = 0
    own = view_at(row.views, a)
    for l in range(n):
        now = l == a or is_confirmed(choice, own, view_at(row.views, l), row.confirmed[l])
        n_changed += now != row.confirmed[l]
        row.confirmed[l] = now
    return n_changed


@compiled
def reset_peer(choice: Choice, l: int, seen: View[float], row: Row) -> int:
    """Forget what was decided about peer l if its stream has restarted; return 1 if so.

    Examples
    --------
    >>> row = Row.blank(2, member=[True, False])
    >>> reset_peer(Choice(0, ClassTest.JOINT, 0, 0.0, 1.0), 1, View(epoch=1), row), row.member
    (1, [True, True])
    """
    if seen.epoch == row.views.epoch[l]:
        return 0
    if choice.class_test != ClassTest.KNOWN:
        row.member[l] = True
        row.confirmed[l] = choice.within == math.inf
        row.evidence[l] = 0.0
    return 1


@compiled
def reset_peers(choice: Choice, a: int, n: int, row: Row) -> None:
    """Forget what was decided about everybody: the agent's own stream has restarted.

    Examples
    --------
    >>> row = Row.blank(3, member=[True, False, True])
    >>> reset_peers(Choice(0, ClassTest.JOINT, 0, 0.0, 1.0), 0, 3, row)
    >>> row.member
    [True, True, True]
    """
    if choice.class_test == ClassTest.KNOWN:
        return
    for l in range(n):
        row.member[l] = True
        row.confirmed[l] = l == a or choice.within == math.inf
        row.evidence[l] = row.heard[l] = 0.0
