"""Whom to ask next, and who makes room for somebody new.

Lives here: query strategies, over one row.  Must not know how to weigh.
"""

from __future__ import annotations

from typing import NamedTuple

from colme._compile import compiled
from colme.algorithm import QueryStrategy, Weighting
from colme.rules.class_test import belongs
from colme.rules.row import Choice, Flags, Row
from colme.summary import View, view_at

_FEW = 8
"""Of this many peers in turn, the one not heard of for longest is asked."""
_STRIDE = 89
"""Agents that stand next to each other begin their rounds this far apart."""
_FAR = 9.0
"""Peers more than 3 standard errors away are far: squared."""


class Turn(NamedTuple):
    """Where an agent is in its round of queries.

    Attributes
    ----------
    cursor
        The peer asked last; -1 before the first.
    visited
        The excluded peer asked last; -1 before the first.
    n_asked
        Queries since the agent's stream began or restarted.

    Examples
    --------
    >>> Turn().cursor
    -1
    """

    cursor: int = -1
    visited: int = -1
    n_asked: int = 0


@compiled
def first_turn(choice: Choice, own: int, n: int) -> Turn:
    """Return where an agent with that entry of its own, of n, begins its round of queries.

    Agents that begin at different places have different news for each other.  The places are
    scattered: neighbours in a row are often alike, and first news should not be of them alone.

    Examples
    --------
    >>> choice = Choice(QueryStrategy.STALEST, 0, 0, 0.0, 1.0)
    >>> [first_turn(choice, own, n=200).cursor for own in (0, 1, 2, 3)]
    [0, 89, 178, 67]
    """
    return Turn(own * _STRIDE % n if choice.query == QueryStrategy.STALEST else -1, -1, 0)


@compiled
def _may_ask(
    choice: Choice, own: View[float], peer: View[float], member: bool, again: bool
) -> bool:
    """Return whether the strategy may ask a peer; with `again`, one that was excluded."""
    return choice.query == QueryStrategy.ROUND_ROBIN or belongs(choice, own, peer, member) != again


@compiled
def _goes_again(choice: Choice, revisit: int, turn: Turn) -> bool:
    """Return whether the next query goes to an excluded peer."""
    restricted = choice.query >= QueryStrategy.RESTRICTED_ROUND_ROBIN
    return restricted and revisit > 0 and (turn.n_asked + 1) % revisit == 0


@compiled
def next_peer(choice: Choice, a: int, n: int, cursor: int, row: Row, again: bool = False) -> int:
    """Return the first peer after `cursor`, going round, that the strategy may ask; -1 if none.

    Of a few such peers, the strategy may ask the one not heard of for longest.

    With `again` it is the first that was excluded.  The class is tested only for the peers passed
    on the way, on the row as it is now.

    Examples
    --------
    >>> row = Row.blank(3)
    >>> row.views.mean[:], row.views.radius[:] = [0.0, 1.0, 0.1], [0.3, 0.3, 0.3]
    >>> next_peer(Choice(QueryStrategy.ROUND_ROBIN, 0, 0, 0.0, 1.0), 0, 3, -1, row)
    1
    >>> restricted = Choice(QueryStrategy.RESTRICTED_ROUND_ROBIN, 0, 0, 0.0, 1.0)
    >>> next_peer(restricted, 0, 3, -1, row), next_peer(restricted, 0, 3, -1, row, again=True)
    (2, 1)
    """
    if choice.query == QueryStrategy.NONE:
        return -1
    l, own = cursor, view_at(row.views, a)
    best, n_left = -1, _FEW if choice.query == QueryStrategy.STALEST and not again else 1
    for _ in range(n):
        l = l + 1 if l + 1 < n else 0
        if l != a and _may_ask(choice, own, view_at(row.views, l), row.member[l], again):
            best = l if best < 0 or row.heard[l] < row.heard[best] else best
            n_left -= 1
            if n_left == 0:
                return best
    return best


@compiled
def take_turn(
    choice: Choice, a: int, n: int, revisit: int, turn: Turn, row: Row
) -> tuple[int, Turn]:
    """Return the peer to ask now, -1 for none, and where the agent is in its round then.

    With restricted round-robin every `revisit`-th query goes to an excluded peer, in turn: its
    stream may have restarted.  0 means that streams never do, and excluded peers are left alone.

    Examples
    --------
    >>> row = Row.blank(3, member=[True, True, False])
    >>> choice = Choice(QueryStrategy.RESTRICTED_ROUND_ROBIN, 2, 0, 0.0, 1.0)
    >>> take_turn(choice, 0, 3, 2, Turn(), row)
    (1, Turn(cursor=1, visited=-1, n_asked=1))
    >>> take_turn(choice, 0, 3, 2, Turn(1, -1, 1), row)
    (2, Turn(cursor=1, visited=2, n_asked=2))
    """
    n_asked = turn.n_asked + 1
    again = _goes_again(choice, revisit, turn)
    l = next_peer(choice, a, n, turn.visited if again else turn.cursor, row, again)
    if again and l >= 0:
        return l, Turn(turn.cursor, l, n_asked)
    if again:  # nobody is excluded
        l = next_peer(choice, a, n, turn.cursor, row)
    if l < 0:
        return l, turn
    return l, Turn(l, turn.visited, n_asked)


def take_turn_among(
    choice: Choice, a: int, n: int, revisit: int, turn: Turn, row: Row, reachable: Flags
) -> tuple[int, Turn]:
    """Do what `take_turn` does, and pass over peers that cannot be reached now.

    They lose their turn, and only the peer that is asked counts as asked.  So the peer chosen is
    the same as if it had been the only one in reach, and so is the turn after it.

    Examples
    --------
    >>> choice = Choice(QueryStrategy.ROUND_ROBIN, 0, 0, 0.0, 1.0)
    >>> take_turn_among(choice, 0, 3, 0, Turn(), Row.blank(3), [True, False, True])
    (2, Turn(cursor=2, visited=-1, n_asked=1))
    """
    n_asked = turn.n_asked + 1
    if _goes_again(choice, revisit, turn):
        l = _next_among(choice, a, n, turn.visited, row, reachable, again=True)
        if l >= 0:
            return l, Turn(turn.cursor, l, n_asked)
    l = _next_among(choice, a, n, turn.cursor, row, reachable, again=False)
    return (l, turn) if l < 0 else (l, Turn(l, turn.visited, n_asked))


def _next_among(
    choice: Choice, a: int, n: int, cursor: int, row: Row, reachable: Flags, again: bool
) -> int:
    """Return whom `next_peer` would, were the others not there."""
    own, asks = view_at(row.views, a), choice.query != QueryStrategy.NONE
    most = _FEW if choice.query == QueryStrategy.STALEST and not again else 1
    found: list[int] = []
    for step in range(1, n + 1):
        l = (cursor + step) % n
        if asks and l != a and reachable[l]:  # noqa: SIM102 - the test of the class is dear
            if _may_ask(choice, own, view_at(row.views, l), row.member[l], again):
                found.append(l)
        if len(found) == most:
            break
    return min(found, key=row.heard.__getitem__, default=-1)


@compiled
def makes_room(choice: Choice, own: View[float], peer: View[float], member: bool) -> bool:
    """Return whether a peer may be forgotten to make room for another.

    An excluded one may; and where a model weighs, one that is more than three standard errors
    away: it is not ruled out, but somebody else is more likely to help.

    Examples
    --------
    >>> own, near, far = (View(mean=mean, precision=100.0) for mean in (0.0, 0.4, 0.5))
    >>> choice = Choice(0, 2, Weighting.MODEL, 0.0, 1.0)
    >>> makes_room(choice, own, near, member=True), makes_room(choice, own, far, member=True)
    (False, True)
    """
    if not belongs(choice, own, peer, member):
        return True
    if choice.weighting != Weighting.MODEL:
        return False
    gap, precisions = own.mean - peer.mean, own.precision * peer.precision
    return gap * gap * precisions > _FAR * (own.precision + peer.precision)


@compiled
def next_room(choice: Choice, a: int, n: int, cursor: int, row: Row) -> int:
    """Return the first entry after `cursor`, going round, that makes room; -1 if none does.

    Examples
    --------
    >>> row = Row.blank(3, member=[True, True, False])
    >>> next_room(Choice(2, 2, 0, 0.0, 1.0), 0, 3, -1, row)
    2
    """
    l, own = cursor, view_at(row.views, a)
    for _ in range(n):
        l = l + 1 if l + 1 < n else 0
        if l != a and makes_room(choice, own, view_at(row.views, l), row.member[l]):
            return l
    return -1
