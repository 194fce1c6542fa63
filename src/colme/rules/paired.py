"""Who is ruled out by news: the paired test, and one risk for all peers.

Lives here: what an agent keeps of its own past, the evidence that one view gives against equal
means, and who is excluded by it.  Must not know whom to ask, how to weigh, or where news come from.

The derivations are in docs/3-guarantees.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from colme._compile import compiled
from colme.algorithm import ClassTest
from colme.bounds import huber
from colme.rules.class_test import confirm_all
from colme.rules.row import Choice, Numbers, Row
from colme.summary import View, view_at

PAST_LENGTH = 251
"""How many of its past means an agent keeps: more than a round of 200 queries.  It is a prime, so
that counts that grow by any smaller batch have places of their own."""
PAIRED_SHARE = 0.9
"""The share of a peer's risk that the paired test has.  The rest pays for the joint test, which
takes over where counts cannot be paired; it then needs 2.3 nats more, the paired test 0.1."""
PAIRED_PRICE, JOINT_PRICE = -math.log(PAIRED_SHARE), -math.log(1.0 - PAIRED_SHARE)


class Past(NamedTuple):
    """Means of an agent's own stream after earlier samples, by their count.

    Attributes
    ----------
    counts, means
        At place n modulo their length, a count and the mean after that many samples; 0: none.

    Examples
    --------
    >>> past = Past.blank()
    >>> keep_past(View(mean=0.5, n_samples=3), past)
    >>> past.means[3]
    0.5
    """

    counts: Numbers
    means: Numbers

    @staticmethod
    def blank(length: int = PAST_LENGTH) -> Past:
        """Return a past without samples."""
        return Past([0.0] * length, [0.0] * length)


@compiled
def keep_past(own: View[float], past: Past) -> None:
    """Keep the mean of the agent's own stream as it is now.

    Examples
    --------
    >>> past = Past.blank()
    >>> keep_past(View(mean=0.25, n_samples=252), past)
    >>> past.counts[1], past.means[1]
    (252, 0.25)
    """
    place = int(own.n_samples) % len(past.counts)
    past.counts[place], past.means[place] = own.n_samples, own.mean


@compiled
def forget_past(past: Past) -> None:
    """Forget all of it: the agent's own stream begins, or has restarted.

    Examples
    --------
    >>> past = Past([3.0], [0.5])
    >>> forget_past(past)
    >>> past.counts
    [0.0]
    """
    for i in range(len(past.counts)):
        past.counts[i] = 0.0


@compiled
def _has_past(own: View[float], past: Past, peer: View[float]) -> bool:
    """Return whether a view can be paired: its count is one that the agent remembers having."""
    count = peer.n_samples
    known = count > 0.0 and own.variance + peer.variance < math.inf
    return known and past.counts[int(count) % len(past.counts)] == count


@compiled
def paired_evidence(choice: Choice, own: View[float], past: Past, peer: View[float]) -> float:
    """Return the evidence against equal means in the first n samples of both; 0 if unpaired.

    Examples
    --------
    >>> own, peer = (View(mean=mean, n_samples=31, variance=0.25) for mean in (0.0, 1.0))
    >>> past, choice = Past.blank(), Choice(3, 3, 0, eta=0.0, log_risk=14.0, prior=31.0)
    >>> keep_past(own, past)
    >>> round(paired_evidence(choice, own, past, peer), 3)
    15.048

    Notes
    -----
    With D = x̄_a(n) - x̄_l(n) and v = σ_a² + σ_l²: n² D² / (2 v (n + ν)) - ½ ln(1 + n/ν), less the
    price of having a second test.
    """
    if not _has_past(own, past, peer):
        return 0.0
    n = peer.n_samples
    gap = abs(past.means[int(n) % len(past.counts)] - peer.mean) - choice.eta
    gap = gap if gap > 0.0 else 0.0
    shift = n * gap
    spread = 2.0 * (own.variance + peer.variance) * (n + choice.prior)
    return shift * shift / spread - 0.5 * math.log1p(n / choice.prior) - PAIRED_PRICE


@compiled
def news_evidence(choice: Choice, own: View[float], past: Past, peer: View[float]) -> float:
    """Return the evidence that one view of a peer gives against equal means: ln(1/γ) is enough.

    The paired test where counts allow it, otherwise the joint test.

    Examples
    --------
    >>> own = View(mean=0.0, n_samples=9, spread=0.01, offset=1.0)
    >>> peer = View(mean=1.0, n_samples=50, spread=0.01, offset=1.0)
    >>> choice = Choice(3, 3, 0, eta=0.0, log_risk=14.0)
    >>> news_evidence(choice, own, Past.blank(), peer)
    23.0
    >>> round(news_evidence(choice._replace(relays=4), own, Past.blank(), peer), 3)
    19.822

    Notes
    -----
    Where replies carry relays, somebody may have chosen which views an agent sees.  The joint
    statistic J is then worth J - ln(1 + J), which holds for every choice.
    """
    if _has_past(own, past, peer):
        return paired_evidence(choice, own, past, peer)
    return _joint_evidence(choice, own, peer)


@compiled
def _joint_evidence(choice: Choice, own: View[float], peer: View[float]) -> float:
    """Return what the joint test finds, less the price of having a second test beside it."""
    if peer.n_samples <= 0.0:
        return 0.0
    gap = abs(own.mean - peer.mean) - choice.eta
    slope = own.slope if own.slope < peer.slope else peer.slope
    found = huber(gap if gap > 0.0 else 0.0, own.spread + peer.spread, slope)
    found -= own.offset + peer.offset
    if choice.relays > 0 and found > 0.0:
        found -= math.log1p(found)
    return found - JOINT_PRICE if own.variance + peer.variance < math.inf else found


@compiled
def add_evidence(choice: Choice, own: View[float], l: int, past: Past, row: Row) -> None:
    """Take in what is remembered of peer l, which may have had more samples than the agent then.

    Examples
    --------
    >>> row, past = Row.blank(2), Past.blank()
    >>> own, peer = (View(mean=mean, n_samples=31, variance=0.25) for mean in (0.0, 1.0))
    >>> row.views.mean[1], row.views.n_samples[1], row.views.variance[1] = 1.0, 31, 0.25
    >>> keep_past(own, past)
    >>> add_evidence(Choice(3, 3, 0, 0.0, 14.0, prior=31.0), own, 1, past, row)
    >>> round(row.evidence[1], 3)
    15.048
    """
    found = paired_evidence(choice, own, past, view_at(row.views, l))
    row.evidence[l] = found if found > row.evidence[l] else row.evidence[l]


@compiled
def next_excluded(choice: Choice, n: int, row: Row) -> int:
    """Return a member against whom there is enough evidence, to be excluded; -1 if there is none.

    Examples
    --------
    >>> row = Row.blank(3)
    >>> row.evidence[:] = [0.0, 14.2, 13.9]
    >>> choice = Choice(3, 3, 0, eta=0.0, log_risk=14.0, n_peers=4)
    >>> next_excluded(choice, 3, row)
    1
    >>> row.member[1] = False
    >>> next_excluded(choice, 3, row)
    2

    Notes
    -----
    Holm's method: with m of M peers left, risk Mγ/m for each: the level is ln(1/γ) - ln(M/m).  Each
    exclusion lowers it for those who are left.
    """
    n_excluded, most = 0, -1
    for l in range(n):
        n_excluded += not row.member[l]
        if row.member[l] and (most < 0 or row.evidence[l] > row.evidence[most]):
            most = l
    if most < 0 or n_excluded >= choice.n_peers:
        return -1
    level = choice.log_risk + math.log1p(-n_excluded / choice.n_peers)
    return most if row.evidence[most] >= level else -1


@compiled
def exclude(choice: Choice, n: int, row: Row) -> int:
    """Exclude the peers against whom there is enough evidence; return how many.

    Examples
    --------
    >>> row = Row.blank(3)
    >>> row.evidence[:] = [0.0, 14.2, 13.9]
    >>> choice = Choice(3, 3, 0, eta=0.0, log_risk=14.0, n_peers=4)
    >>> exclude(choice, 3, row), row.member
    (2, [True, False, False])
    """
    n_found, l = 0, next_excluded(choice, n, row)
    while l >= 0:
        row.member[l] = False
        n_found += 1
        l = next_excluded(choice, n, row)
    return n_found


@compiled
def test_remembered(choice: Choice, a: int, n: int, row: Row) -> int:
    """Test what is remembered of all members against new samples; return how many change sides.

    New samples may confirm members.  They exclude some only after a restart of the agent's own
    stream, or if it never has pairs because its variance is not known; otherwise the paired test
    waits for news.

    Examples
    --------
    >>> row = Row.blank(2, mean=[0.0, 1.0], n_samples=[9, 50], spread=[0.01] * 2)
    >>> test_remembered(Choice(3, ClassTest.PAIRED, 0, 0.0, log_risk=14.0), 0, 2, row), row.member
    (1, [True, False])
    """
    own, highest = view_at(row.views, a), 0.0
    if choice.class_test != ClassTest.PAIRED:
        return 0
    n_confirmed = confirm_all(choice, a, n, row)
    if own.epoch == 0.0 and own.variance < math.inf:
        return n_confirmed
    for l in range(n):
        if row.member[l] and l != a:
            found = _joint_evidence(choice, own, view_at(row.views, l))
            row.evidence[l] = found if found > row.evidence[l] else row.evidence[l]
            highest = row.evidence[l] if row.evidence[l] > highest else highest
    return n_confirmed + (exclude(choice, n, row) if highest >= lowest_level(choice) else 0)


@compiled
def lowest_level(choice: Choice) -> float:
    """Return the evidence below which no peer is ever excluded.

    Examples
    --------
    >>> round(lowest_level(Choice(3, 3, 0, eta=0.0, log_risk=14.0, n_peers=4)), 3)
    12.614
    """
    gain = math.log(choice.n_peers) if choice.n_peers < math.inf else 0.0
    return choice.log_risk - gain
