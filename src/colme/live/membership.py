"""Who is in the fleet: who is present, when each peer was last heard, and its lives.

Holds presence, the pauses given to peers that do not reply, and how the lives of a device become
epochs of one peer.  Must not know messages, networks or what a peer says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from colme.live.wire import Refused

MOST_LIVES = 64
"""A peer that has begun more lives than this is refused, because each life is tested anew."""
_MOST_MISSES = 6
"""The longest pause is 2 to this power of intervals."""


@dataclass
class PeerStatus:
    """What is known of one peer, apart from what it says.

    Attributes
    ----------
    heard
        When it was last heard, as time of day in seconds; None: never.
    misses
        Queries in a row that it did not answer.
    lives
        Its lives, oldest first, each with the epoch at which it began here.
    epoch
        The latest epoch it was heard in.

    Examples
    --------
    >>> PeerStatus().heard is None
    True
    """

    heard: float | None = None
    misses: int = 0
    lives: dict[int, int] = field(default_factory=dict)
    epoch: int = 0


@dataclass
class Membership:
    """Every peer an agent has ever come across; `present` are those in the fleet now.

    Parameters
    ----------
    interval
        Seconds between two queries: pauses are multiples of it.

    Attributes
    ----------
    paused
        Peers that did not reply lately, and before which time, by the clock of this run, they are
        not asked.

    Examples
    --------
    >>> fleet = Membership(interval=1.0)
    >>> fleet.appear("b")
    >>> fleet.reachable(now=0.0)
    {'b'}
    >>> fleet.missed("b", now=0.0)
    >>> fleet.reachable(now=1.0), fleet.reachable(now=2.0)
    (set(), {'b'})
    """

    interval: float
    present: set[str] = field(default_factory=set)
    paused: dict[str, float] = field(default_factory=dict)
    _known: dict[str, PeerStatus] = field(default_factory=dict)

    def status(self, peer: str) -> PeerStatus:
        """Return the status of a peer; one that was never met gets a blank one."""
        return self._known.setdefault(peer, PeerStatus())

    def appear(self, peer: str) -> None:
        """Note that a peer is present: it may be asked at once."""
        self.present.add(peer)
        self.paused.pop(peer, None)
        self.status(peer).misses = 0

    def vanish(self, peer: str) -> None:
        """Note that a peer has left; what it said is kept."""
        self.present.discard(peer)

    def reachable(self, now: float) -> set[str]:
        """Return who is present and needs no pause; do not change it."""
        paused = {peer for peer, end in self.paused.items() if end > now}
        return self.present - paused if paused else self.present

    def missed(self, peer: str, now: float) -> None:
        """Note that a peer did not reply: each pause is twice as long as the one before."""
        one = self.status(peer)
        one.misses = min(one.misses + 1, _MOST_MISSES)
        self.paused[peer] = now + self.interval * 2**one.misses

    def epoch_of(self, peer: str, life: int, epoch: int) -> int:
        """Return the epoch of a reply, counted over all lives of its sender; refuse past lives.

        A device that lost its memory begins a new life.  What it said in earlier lives no longer
        holds, and it cannot return to them.

        Examples
        --------
        >>> fleet = Membership(interval=1.0)
        >>> fleet.hear("b", life=7, epoch=2, at=0.0)
        >>> fleet.epoch_of("b", life=7, epoch=3), fleet.epoch_of("b", life=8, epoch=0)
        (3, 3)
        """
        one = self._known.get(peer, PeerStatus())
        if life in one.lives:
            if life != next(reversed(one.lives)):
                raise Refused("old life", f"{peer!r} replied from a life it has left")
            return one.lives[life] + epoch
        if len(one.lives) >= MOST_LIVES:
            raise Refused("too many lives", f"{peer!r} has begun more than {MOST_LIVES} lives")
        return epoch + (one.epoch + 1 if one.lives else 0)

    def epoch_of_relayed(self, peer: str, life: int, epoch: int) -> int:
        """Return the epoch of a reply that came by way of another; refuse other lives.

        Lives have no order, and what is relayed may be old: of a peer with a known life, only its
        own reply begins another one.

        Examples
        --------
        >>> fleet = Membership(interval=1.0)
        >>> fleet.hear_of("b", life=8, epoch=0)
        >>> fleet.epoch_of_relayed("b", life=7, epoch=0)
        Traceback (most recent call last):
        colme.live.wire.Refused: 'b' itself has not said that it began another life
        """
        known = self._known.get(peer, PeerStatus()).lives
        if known and life not in known:
            raise Refused("other life", f"{peer!r} itself has not said that it began another life")
        return self.epoch_of(peer, life, epoch)

    def hear(self, peer: str, life: int, epoch: int, at: float) -> None:
        """Note that a peer has replied, in that life and that epoch of it."""
        self.hear_of(peer, life, epoch)
        one = self.status(peer)
        one.heard, one.misses = at, 0
        self.paused.pop(peer, None)

    def hear_of(self, peer: str, life: int, epoch: int) -> None:
        """Note that a peer has that life and that epoch, whoever said so: it may be absent."""
        total = self.epoch_of(peer, life, epoch)
        one = self.status(peer)
        one.lives.setdefault(life, total - epoch)
        one.epoch = total

    def to_plain(self) -> dict[str, Any]:
        """Return what must survive a restart, ready for JSON."""
        return {
            peer: {"heard": one.heard, "lives": list(one.lives.items()), "epoch": one.epoch}
            for peer, one in self._known.items()
            if one.lives
        }

    def restore(self, plain: Mapping[str, Any]) -> None:
        """Take over what `to_plain` gave; nobody is present until it appears.

        Examples
        --------
        >>> before, after = Membership(interval=1.0), Membership(interval=1.0)
        >>> before.hear("b", life=7, epoch=0, at=5.0)
        >>> after.restore(before.to_plain())
        >>> after.status("b").heard, after.present
        (5.0, set())
        """
        for peer, one in plain.items():
            lives = {int(life): int(base) for life, base in one["lives"]}
            kept = self.status(peer)
            kept.heard, kept.lives, kept.epoch = one["heard"], lives, int(one["epoch"])
