"""The events of a device as bytes, so that it can replay them after a crash.

Holds the events and their encoding, derived from their declarations.  Must not know where events
are kept or what they do.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import msgspec

from colme.live.old_journal import read_old_event
from colme.messages import Reply


class PeerAdded(msgspec.Struct, frozen=True, tag="peer"):
    """A peer got an entry in the row.

    Examples
    --------
    >>> unpack(pack(PeerAdded("b")))
    PeerAdded(peer='b')
    """

    peer: str


class SamplesFolded(msgspec.Struct, frozen=True, tag="samples"):
    """Samples were folded; the source is now at that position.

    Examples
    --------
    >>> unpack(pack(SamplesFolded((0.1, 0.2), "17")))
    SamplesFolded(values=(0.1, 0.2), position='17')
    """

    values: tuple[float, ...]
    position: str


class RelayAccepted(msgspec.Struct, frozen=True):
    """What another peer said, in that life of it, came along with a reply and was news.

    Examples
    --------
    >>> RelayAccepted(Reply("c", mean=0.5, count=3), life=8).life
    8
    """

    reply: Reply
    life: int


class ReplyAccepted(msgspec.Struct, frozen=True, tag="reply", omit_defaults=True):
    """A peer was asked, and its reply, from that life of it, was accepted at that time of day.

    Examples
    --------
    >>> event = ReplyAccepted(Reply("b", mean=0.5, count=3), life=7, at=5.0)
    >>> unpack(pack(event)) == event
    True
    """

    reply: Reply
    life: int
    at: float
    relayed: tuple[RelayAccepted, ...] = ()


Event = PeerAdded | SamplesFolded | ReplyAccepted
_decoder: msgspec.msgpack.Decoder[Event] = msgspec.msgpack.Decoder(Event)


pack: Callable[[Event], bytes] = msgspec.msgpack.encode
"""Returns an event as bytes."""


def unpack(payload: bytes) -> Event:
    """Return the event that `pack` wrote; raise ValueError if it is none.

    Examples
    --------
    >>> unpack(b'{"met": "b"}')  # as earlier versions wrote it
    PeerAdded(peer='b')
    """
    try:
        if payload.startswith(b"{"):  # no event of today begins with this byte
            event: Event = msgspec.convert(read_old_event(payload), Event)
            return event
        return _decoder.decode(payload)
    except (KeyError, TypeError, ValueError, struct.error, msgspec.MsgspecError) as error:
        raise ValueError(f"not an event of a device's journal: {error}") from None
