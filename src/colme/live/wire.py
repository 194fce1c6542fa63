"""Messages between devices as bytes, with every bit of every number kept.

Holds the messages, their frame (two letters, a version, a kind, a checksum, a body) and the refusal
of all other bytes.  Must not know sockets, clocks or keys.

A body is a MessagePack map from field names to values, derived from the declaration of its message:
a field that the receiver does not know is ignored, and a field that the sender left out takes its
default.  A field added to `Reply` therefore needs no change here and no new version.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import Annotated, Protocol, TypeAlias

try:
    import msgspec
except ImportError:
    raise ImportError("messages need msgspec: pip install 'colme[live]'") from None

from colme.messages import Reply

VERSION = 2
"""Changes only when old and new devices cannot understand each other; version 1 was packed by
position."""

MOST_BYTES = 4096
"""The longest frame of one message: a stranger cannot make a device read or keep more."""

MOST_RELAYS = 32
"""The most frames of others that one bundle carries."""

MOST_BUNDLE_BYTES = (1 + MOST_RELAYS) * 1024
"""The longest bundle: a sealed reply has some 700 bytes.  What does not fit is not relayed."""

REASONS = ("garbage", "version", "too long", "length", "checksum", "kind", "values")
"""Why `decode` refuses bytes, in the order in which it checks them."""

_MAGIC = b"CM"
_BUNDLE = 4
_HEAD_SIZE = 8  # two letters, version, kind and four bytes of checksum
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LONGEST_TEXT = 200

Name = Annotated[str, msgspec.Meta(pattern=rf"\A{_NAME.pattern}\Z")]
Bits = Annotated[int, msgspec.Meta(ge=0)]
"""A number of at most 64 bits: MessagePack has no larger ones."""
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Refused(ValueError):  # noqa: N818 - this happens to the bytes; nobody here made an error
    """Bytes from elsewhere are refused: `reason` is for counting, the text for logs.

    The text is short and printable, whatever it was made from.

    Examples
    --------
    >>> try:
    ...     decode(b"hello")
    ... except Refused as refusal:
    ...     print(refusal.reason, "-", refusal)
    garbage - a frame begins with 'CM'; received b'he'
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(reason, message)
        text = message[:_LONGEST_TEXT]
        self.reason = reason
        self._text = text if text.isprintable() else ascii(text)[1 : 1 + _LONGEST_TEXT]

    def __str__(self) -> str:
        return self._text


def check_name(role: str, value: object) -> str:
    """Return `value` if it is a valid name of an agent or a fleet, or raise ValueError.

    Examples
    --------
    >>> check_name("agent", "kitchen-2")
    'kitchen-2'
    """
    if isinstance(value, str) and _NAME.fullmatch(value):
        return value
    raise ValueError(
        f"{role} must be 1 to 64 of the characters A-Z, a-z, 0-9, '.', '_' and '-', the first a "
        f"letter or digit; received {value!r:.60}"
    )


class WireQuery(msgspec.Struct, frozen=True, omit_defaults=True):
    """`sender` asks `receiver` what it knows about its own stream, and perhaps of others.

    Parameters
    ----------
    nonce
        A random number that the reply repeats, so that an old reply is recognised.
    as_of
        Ask for the state after the receiver's first `as_of` samples; 0 asks for the latest state.
    relays
        How many frames of others the sender would like beside, in a `ReplyBundle`; 0 asks for a
        reply alone, as nodes do that know no bundles.
    wanted
        Whom it wants to hear of, see `colme.live.relays.NameBits`; empty: anybody.

    Examples
    --------
    >>> decode(encode(WireQuery("a", "b", nonce=7)))
    WireQuery(sender='a', receiver='b', nonce=7, as_of=0, relays=0, wanted=b'')
    """

    sender: Name
    receiver: Name
    nonce: Bits
    as_of: Count = 0
    relays: Count = 0
    wanted: Annotated[bytes, msgspec.Meta(max_length=256)] = b""


@dataclass(frozen=True, slots=True)
class WireReply:
    """What a device says about its own stream.

    Parameters
    ----------
    nonce
        The nonce of the query.
    life
        The device's life: 63 random bits, drawn when its store was created.

    Examples
    --------
    >>> reply = WireReply(nonce=7, life=1, reply=Reply("b", mean=0.1, count=3))
    >>> decode(encode(reply)) == reply
    True
    """

    nonce: Bits
    life: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
    reply: Reply

    def __post_init__(self) -> None:
        check_name("sender", self.reply.sender)


_Part = Annotated[bytes, msgspec.Meta(min_length=1)]


@dataclass(frozen=True, slots=True)
class SealedReply:
    """The frame of a `WireReply` with the certificate and the signature of its author.

    Examples
    --------
    >>> sealed = SealedReply(b"a frame", b"a certificate", b"a signature")
    >>> decode(encode(sealed)) == sealed
    True
    """

    payload: _Part
    certificate: _Part
    signature: _Part


@dataclass(frozen=True, slots=True)
class ReplyBundle:
    """The frame of a device's own reply, and frames that others made of theirs, as it got them.

    Whoever relays a frame neither opens it nor makes another.  A frame that is spoilt is refused by
    itself: the others count.

    Examples
    --------
    >>> bundle = ReplyBundle(b"my frame", (b"a frame of b", b"a frame of c"))
    >>> decode(encode(bundle)) == bundle
    True
    """

    own: _Part
    relayed: tuple[bytes, ...]

    @staticmethod
    def is_frame(payload: bytes) -> bool:
        """Return whether bytes begin as a bundle does."""
        return payload[:4] == _MAGIC + bytes((VERSION, _BUNDLE))


class Seal(Protocol):
    """Proves who sent a reply: see `colme.live.keys.Identity`.

    Examples
    --------
    >>> seal: Seal | None = None
    """

    def seal(self, payload: bytes, context: bytes) -> SealedReply:
        """Return the payload, signed in the device's own name."""

    def open(self, sealed: SealedReply, context: bytes) -> str:
        """Return who signed it; raise Refused unless that is a member of this fleet."""


Message: TypeAlias = WireQuery | WireReply | SealedReply | ReplyBundle
_KINDS = {1: WireQuery, 2: WireReply, 3: SealedReply, _BUNDLE: ReplyBundle}
_KIND_OF = {message: kind for kind, message in _KINDS.items()}
_DECODERS: dict[int, msgspec.msgpack.Decoder[Message]] = {
    kind: msgspec.msgpack.Decoder(message) for kind, message in _KINDS.items()
}


def encode(message: Message) -> bytes:
    r"""Return the frame of a message; raise ValueError if it is longer than its kind may be.

    Examples
    --------
    >>> encode(WireQuery("a", "b", nonce=7))[:4]
    b'CM\x02\x01'
    """
    head = _MAGIC + bytes((VERSION, _KIND_OF[type(message)]))
    body = msgspec.msgpack.encode(message)
    frame = head + zlib.crc32(body, zlib.crc32(head)).to_bytes(4) + body
    most = _most_bytes(frame)
    if len(frame) > most:
        raise ValueError(f"a frame must have at most {most} bytes; received {len(frame)}")
    return frame


def _most_bytes(frame: bytes) -> int:
    """Return how long a frame of that kind may be."""
    return MOST_BUNDLE_BYTES if ReplyBundle.is_frame(frame) else MOST_BYTES


def decode(payload: bytes) -> Message:
    """Return the message in a frame; raise `Refused`, and nothing else, if there is none.

    The version is checked before all that follows it, because another version may differ there.

    Examples
    --------
    >>> decode(encode(WireQuery("a", "b", nonce=7))[:-1])
    Traceback (most recent call last):
    colme.live.wire.Refused: the checksum of a frame of 35 bytes is wrong
    """
    if payload[:2] != _MAGIC or len(payload) == 2:
        raise Refused("garbage", f"a frame begins with 'CM'; received {payload[:2]!r}")
    if payload[2] != VERSION:
        raise Refused("version", f"only version {VERSION} is understood; received {payload[2]}")
    most = _most_bytes(payload)
    if len(payload) > most:
        raise Refused("too long", f"a frame has at most {most} bytes, not {len(payload)}")
    if len(payload) < _HEAD_SIZE:
        raise Refused("length", f"a frame has {_HEAD_SIZE} bytes or more; received {len(payload)}")
    body = payload[_HEAD_SIZE:]
    # The checksum covers the head too: no changed bit of a frame passes unnoticed.
    if zlib.crc32(body, zlib.crc32(payload[:4])) != int.from_bytes(payload[4:_HEAD_SIZE]):
        raise Refused("checksum", f"the checksum of a frame of {len(payload)} bytes is wrong")
    if payload[3] not in _DECODERS:
        raise Refused("kind", f"a frame is of kind 1, 2, 3 or 4; received {payload[3]}")
    try:
        return _DECODERS[payload[3]].decode(body)
    except (ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise Refused("values", str(error)) from None
