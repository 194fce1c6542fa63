"""Events in the format of colme 0.1, so that stores written by it still open.

Holds the reader of that format.  Must not know what events do.
"""

from __future__ import annotations

import json
import struct
from typing import Any

_HEAD = b"CM\1\2"
"""How a frame with a reply began in version 1 of the wire; a checksum of four bytes followed."""
_FIXED = struct.Struct(">4s4xBQQQQB")
_SQUARES, _SHAPE = 1, 2
"""Flags: which optional numbers follow the mean."""


def read_old_event(payload: bytes) -> dict[str, Any]:
    """Return an event as plain values, by the field names of today's events.

    Examples
    --------
    >>> read_old_event(b'{"met": "b"}')
    {'type': 'peer', 'peer': 'b'}
    """
    record = json.loads(payload)
    if "met" in record:
        return {"type": "peer", "peer": record["met"]}
    if "folded" in record:
        return {"type": "samples", "values": record["folded"], "position": record["position"]}
    return {"type": "reply", "at": record["at"]} | _read_reply(bytes.fromhex(record["heard"]))


def _read_reply(frame: bytes) -> dict[str, Any]:
    head, flags, _, life, count, epoch, _ = _FIXED.unpack_from(frame)
    if head != _HEAD:
        raise ValueError(f"a reply in a journal begins with {_HEAD!r}; received {head!r}")
    n_numbers = 1 + bool(flags & _SQUARES) + 3 * bool(flags & _SHAPE)
    numbers = struct.Struct(f">{n_numbers}d")
    mean, *others = numbers.unpack_from(frame, _FIXED.size)
    sender = frame[_FIXED.size + numbers.size :].decode("ascii")
    reply = {"sender": sender, "mean": mean, "count": count, "epoch": epoch}
    if flags & _SQUARES:
        reply["squares"] = others.pop(0)
    if flags & _SHAPE:
        reply["shape"] = tuple(others)
    return {"life": life, "reply": reply}
