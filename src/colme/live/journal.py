"""What a device writes down of what happens to it, so that it can live through it again.

Lives here: events and their bytes.  Must not know where they are kept or what they do.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Event", "Folded", "Heard", "Met", "pack", "unpack"]


@dataclass(frozen=True)
class Met:
    """A peer has been given room in the row.

    Examples
    --------
    >>> unpack(pack(Met("b")))
    Met(peer='b')
    """

    peer: str


@dataclass(frozen=True)
class Folded:
    """Samples were folded; the source is at that position.

    Examples
    --------
    >>> unpack(pack(Folded((0.1, 0.2), "17")))
    Folded(values=(0.1, 0.2), position='17')
    """

    values: tuple[float, ...]
    position: str


@dataclass(frozen=True)
class Heard:
    """A peer was asked and its answer, as it came over the wire, was believed at that time of day.

    Examples
    --------
    >>> unpack(pack(Heard(b"CM", 5.0)))
    Heard(payload=b'CM', at=5.0)
    """

    payload: bytes
    at: float


Event: TypeAlias = Met | Folded | Heard


def pack(event: Event) -> bytes:
    """Return an event as bytes.

    Examples
    --------
    >>> pack(Met("b"))
    b'{"met": "b"}'
    """
    match event:
        case Met(peer):
            record: dict[str, object] = {"met": peer}
        case Folded(values, position):
            record = {"folded": values, "position": position}
        case Heard(payload, at):
            record = {"heard": payload.hex(), "at": at}
    return json.dumps(record).encode()


def unpack(payload: bytes) -> Event:
    """Return the event that `pack` wrote; raise ValueError if it is none.

    Examples
    --------
    >>> unpack(b'{"met": "b"}')
    Met(peer='b')
    """
    try:
        record = json.loads(payload)
        if "met" in record:
            return Met(record["met"])
        if "folded" in record:
            return Folded(tuple(record["folded"]), record["position"])
        return Heard(bytes.fromhex(record["heard"]), record["at"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not an event of a device's journal: {error}") from None
