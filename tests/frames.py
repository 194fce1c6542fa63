"""Messages and frames for tests of the wire, right and wrong."""

from __future__ import annotations

import math
import struct
import zlib
from typing import Any

import msgspec
from hypothesis import strategies as st

from colme import Reply
from colme.live.wire import VERSION, ReplyBundle, SealedReply, WireQuery, WireReply

FULL = WireReply(7, 9, Reply("b", 0.1, 3, 0.5, (0.25, math.inf, 1.5), 2))
KINDS = {WireQuery: 1, WireReply: 2, SealedReply: 3, ReplyBundle: 4}


def framed(kind: int, body: bytes | dict[str, Any], version: int = VERSION) -> bytes:
    """Return a frame with the right checksum, whatever its body."""
    head = b"CM" + bytes([version, kind])
    body = body if isinstance(body, bytes) else msgspec.msgpack.encode(body)
    return head + struct.pack(">I", zlib.crc32(head + body)) + body


letters = "ABCXYZabcxyz0123456789"
names = st.builds(str.__add__, st.sampled_from(letters), st.text(letters + "._-", max_size=63))
numbers = st.floats(-1e150, 1e150)
shapes = st.tuples(
    st.one_of(st.just(math.inf), st.floats(0)),
    st.one_of(st.just(math.inf), st.floats(0, exclude_min=True)),
    st.floats(allow_nan=False, allow_infinity=False),
)
wide, long, counts = (st.integers(0, most) for most in (2**64 - 1, 2**63 - 1, 2**53))
asks = st.builds(WireQuery, names, names, wide, counts, counts, st.binary(max_size=256))
squares = st.one_of(st.none(), st.floats(0, allow_infinity=False))
variances = st.one_of(st.none(), st.just(math.inf), st.floats(1e-9, 1e9))
replies = st.builds(
    Reply, names, numbers, counts, squares, st.one_of(st.none(), shapes), counts, variances
)
tolds = st.builds(WireReply, wide, long, replies)
parts = st.binary(min_size=1, max_size=500)
sealeds = st.builds(SealedReply, parts, parts, parts)
bundles = st.builds(ReplyBundle, parts, st.lists(st.binary(max_size=200), max_size=5).map(tuple))
messages = st.one_of(asks, tolds, sealeds, bundles)
