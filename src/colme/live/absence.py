"""When a node opens a new session: somebody who was here has been away for long.

Lives here: who is away, and for how long one waits.  Must not know sessions, networks or agents.

When a network is cut for about as long as a transport waits for a sign of life, one side of a link
may have given it up and the other not.  What follows is a link of which each side holds another
half: one no longer hears that the other is there, for good, and only a new session mends that.
Nobody can tell this from a peer that has left, so a new session is tried in either case, later and
later.
"""

from __future__ import annotations

import math
import random

__all__ = ["Absence"]

_SOON = 20.0
"""Seconds: twice as long as a transport waits for a sign of life."""
_LATE = 3600.0


class Absence:
    """Who was here and is away.

    Examples
    --------
    >>> absence = Absence()
    >>> absence.note("b", True, now=0.0)
    >>> absence.note("b", False, now=1.0)
    >>> absence.is_due(now=20.0), absence.is_due(now=41.0)
    (False, True)
    >>> absence.renewed(now=41.0)
    >>> absence.is_due(now=80.0), absence.is_due(now=121.0)
    (False, True)
    >>> absence.note("b", True, now=130.0)
    >>> absence.is_due(now=999.0)
    False
    """

    def __init__(self) -> None:
        self._away: dict[str, float] = {}
        self._here: set[str] = set()
        self._patience = self._wait = _SOON
        self._renewed = -math.inf
        self._begin()

    @property
    def here(self) -> frozenset[str]:
        """Who is here."""
        return frozenset(self._here)

    def note(self, peer: str, here: bool, now: float) -> None:
        """Be told that a peer has come or gone."""
        if here:
            self._here.add(peer)
            self._away.pop(peer, None)
        elif peer in self._here:
            self._here.remove(peer)
            self._away[peer] = now
        if not self._away:
            self._begin()

    def is_due(self, now: float) -> bool:
        """Return whether somebody has been away for long, and no new session was tried lately."""
        since = max(min(self._away.values(), default=now), self._renewed)
        return now - since >= self._wait

    def renewed(self, now: float) -> None:
        """Note that a new session was opened: the next one waits twice as long."""
        self._renewed = now
        self._patience = min(2.0 * self._patience, _LATE)
        self._draw()

    def _begin(self) -> None:
        self._patience, self._renewed = _SOON, -math.inf
        self._draw()

    def _draw(self) -> None:
        # Peers that lost each other at the same time must not all come back at the same time.
        self._wait = self._patience * random.uniform(1.0, 2.0)
