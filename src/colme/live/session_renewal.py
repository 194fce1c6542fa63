"""When a host opens a new session: a peer that was present has been absent for long.

Holds who is absent, and how long to wait.  Must not know sessions, networks or agents.

When a network is cut for about as long as the transport waits for a sign of life, one side of a
link may give it up while the other keeps it.  One side then never hears again that the other is
present, and only a new session repairs that.  Nothing distinguishes this from a peer that has left,
so a new session is tried in both cases, less and less often.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from functools import partial

_FIRST_WAIT = 20.0
"""Seconds: twice as long as the transport waits for a sign of life."""
_LONGEST_WAIT = 3600.0


@dataclass
class SessionRenewal:
    """Tells when to open a new session, from who was present and is absent.

    Examples
    --------
    >>> renewal = SessionRenewal()
    >>> renewal.note("b", True, now=0.0)
    >>> renewal.note("b", False, now=1.0)
    >>> renewal.is_due(now=20.0), renewal.is_due(now=41.0)
    (False, True)
    >>> renewal.renewed(now=41.0)
    >>> renewal.is_due(now=80.0), renewal.is_due(now=121.0)
    (False, True)
    >>> renewal.note("b", True, now=130.0)
    >>> renewal.is_due(now=999.0)
    False
    """

    present: set[str] = field(default_factory=set)
    _absent_since: dict[str, float] = field(default_factory=dict)
    _n_renewals: int = 0
    _renewed_at: float = -math.inf
    _jitter: float = field(default_factory=partial(random.uniform, 1.0, 2.0))

    def note(self, peer: str, is_present: bool, now: float) -> None:
        """Note that a peer has come or gone."""
        if is_present:
            self.present.add(peer)
            self._absent_since.pop(peer, None)
        elif peer in self.present:
            self.present.remove(peer)
            self._absent_since[peer] = now
        if not self._absent_since:
            self._n_renewals, self._renewed_at = 0, -math.inf

    def is_due(self, now: float) -> bool:
        """Return whether a peer has been absent for long, and no session was opened lately."""
        since = max(min(self._absent_since.values(), default=now), self._renewed_at)
        wait = min(_FIRST_WAIT * 2.0**self._n_renewals, _LONGEST_WAIT)
        # Peers that lost each other at the same time must not all come back at the same time.
        return now - since >= wait * self._jitter

    def renewed(self, now: float) -> None:
        """Note that a new session was opened: the next one waits twice as long."""
        self._n_renewals, self._renewed_at = self._n_renewals + 1, now
        self._jitter = random.uniform(1.0, 2.0)
