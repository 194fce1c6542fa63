"""Who is in the fleet: who is here now, who left and when it was last heard, and its lives.

Lives here: presence, patience with those who do not answer, and how the lives of a device become
epochs of one peer.  Must not know messages, networks or what a peer says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from colme.live.wire import Refused

__all__ = ["MOST_LIVES", "Acquaintance", "Membership", "Reachable"]

MOST_LIVES = 64
"""A peer that has begun more lives than this is not believed: each lets it be judged anew."""
_MOST_MISSES = 6
"""Patience grows to 2 to this many intervals."""


@dataclass
class Acquaintance:
    """One peer, as far as it can be met.

    Attributes
    ----------
    present
        Whether it is in the fleet now.
    heard
        When it was last heard, by the wall clock, in seconds; None: never.
    asked_anew
        When it may be asked again after it did not answer, by the clock of this run.
    misses
        How many times in a row it did not answer.
    lives
        The lives it has had, oldest first, and the epoch at which each began here.
    epoch
        The latest epoch it was heard in.

    Examples
    --------
    >>> Acquaintance().present
    False
    """

    present: bool = False
    heard: float | None = None
    asked_anew: float = -math.inf
    misses: int = 0
    lives: dict[int, int] = field(default_factory=dict)
    epoch: int = 0


@dataclass(frozen=True)
class Reachable:
    """Who can be asked at a moment: looked up one by one, for fleets are large.

    Examples
    --------
    >>> "b" in Reachable({"b": Acquaintance(present=True)}, now=0.0)
    True
    """

    known: Mapping[str, Acquaintance]
    now: float

    def __contains__(self, peer: object) -> bool:
        one = self.known.get(peer)  # type: ignore[call-overload]
        return one is not None and one.present and one.asked_anew <= self.now


class Membership:
    """Everybody an agent has ever come across, except itself.

    Parameters
    ----------
    interval
        Seconds between two questions: patience is counted in them.

    Examples
    --------
    >>> fleet = Membership(interval=1.0)
    >>> fleet.appear("b")
    >>> "b" in fleet.reachable(now=0.0)
    True
    >>> fleet.missed("b", now=0.0)
    >>> "b" in fleet.reachable(now=1.0), "b" in fleet.reachable(now=2.0)
    (False, True)
    """

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._known: dict[str, Acquaintance] = {}

    def __getitem__(self, peer: str) -> Acquaintance:
        return self._known[peer]

    def __contains__(self, peer: object) -> bool:
        return peer in self._known

    def __len__(self) -> int:
        return len(self._known)

    def appear(self, peer: str) -> None:
        """Note that a peer is here: it may be asked at once."""
        one = self._known.setdefault(peer, Acquaintance())
        one.present, one.misses, one.asked_anew = True, 0, -math.inf

    def vanish(self, peer: str) -> None:
        """Note that a peer has left; what it said is kept."""
        if peer in self._known:
            self._known[peer].present = False

    @property
    def present(self) -> set[str]:
        """Who is here now."""
        return {peer for peer, one in self._known.items() if one.present}

    def reachable(self, now: float) -> set[str]:
        """Return who is here and is not being given time to recover."""
        return {peer for peer, one in self._known.items() if one.present and one.asked_anew <= now}

    def missed(self, peer: str, now: float) -> None:
        """Note that a peer did not answer: it is left alone, each time twice as long."""
        one = self._known.setdefault(peer, Acquaintance())
        one.misses = min(one.misses + 1, _MOST_MISSES)
        one.asked_anew = now + self._interval * 2**one.misses

    def epoch_of(self, peer: str, life: int, epoch: int) -> int:
        """Return the epoch in which a peer speaks, counted over all its lives; refuse the dead.

        A device that lost its memory begins a new life; what it said in earlier ones no longer
        holds, and it cannot return to them.

        Examples
        --------
        >>> fleet = Membership(interval=1.0)
        >>> fleet.hear("b", life=7, epoch=2, at=0.0)
        >>> fleet.epoch_of("b", life=7, epoch=3), fleet.epoch_of("b", life=8, epoch=0)
        (3, 3)
        """
        one = self._known.get(peer, Acquaintance())
        if life in one.lives:
            if life != next(reversed(one.lives)):
                raise Refused("old life", f"{peer!r} speaks from a life it has left")
            return one.lives[life] + epoch
        if len(one.lives) >= MOST_LIVES:
            raise Refused("too many lives", f"{peer!r} has begun more than {MOST_LIVES} lives")
        return epoch + (one.epoch + 1 if one.lives else 0)

    def hear(self, peer: str, life: int, epoch: int, at: float) -> None:
        """Note that a peer has spoken, in that life and that epoch of it."""
        total = self.epoch_of(peer, life, epoch)
        one = self._known.setdefault(peer, Acquaintance())
        one.lives.setdefault(life, total - epoch)
        one.epoch, one.heard = total, at
        one.misses, one.asked_anew = 0, -math.inf

    def age(self, peer: str, at: float) -> float | None:
        """Return how many seconds ago a peer was last heard; None: never."""
        heard = self._known[peer].heard if peer in self._known else None
        return None if heard is None else max(0.0, at - heard)

    def to_plain(self) -> dict[str, Any]:
        """Return what outlives a restart, ready for JSON."""
        return {
            peer: {"heard": one.heard, "lives": list(one.lives.items()), "epoch": one.epoch}
            for peer, one in self._known.items()
            if one.lives
        }

    def restore(self, plain: Mapping[str, Any]) -> None:
        """Take over what `to_plain` gave; nobody is here until it appears.

        Examples
        --------
        >>> before, after = Membership(interval=1.0), Membership(interval=1.0)
        >>> before.hear("b", life=7, epoch=0, at=5.0)
        >>> after.restore(before.to_plain())
        >>> after.age("b", at=6.0), after.present
        (1.0, set())
        """
        for peer, one in plain.items():
            lives = {int(life): int(base) for life, base in one["lives"]}
            kept = self._known.setdefault(peer, Acquaintance())
            kept.heard, kept.lives, kept.epoch = one["heard"], lives, int(one["epoch"])
