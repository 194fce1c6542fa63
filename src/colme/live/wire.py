"""The wire: messages to bytes and back, every bit of every number kept.

Lives here: what travels between devices, its one encoding (two letters, a version, a kind, a
checksum, a body) and the refusal of all else.  Must not know sockets, clocks, keys, or what anyone
does with a message.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from colme import _check
from colme.messages import Reply

__all__ = [
    "MOST_BYTES",
    "REASONS",
    "VERSION",
    "Ask",
    "Refused",
    "Sealed",
    "Told",
    "check_name",
    "decode",
    "encode",
]

VERSION = 1
"""The only version of frames that is spoken and understood here."""

MOST_BYTES = 4096
"""No frame is longer: a stranger cannot make us read or keep more."""

REASONS = ("garbage", "version", "too long", "checksum", "kind", "length", "values")
"""Why `decode` refuses, in the order in which it judges."""

_MAGIC = b"CM"
_HEAD = struct.Struct(">2sBB")
_START = 8  # of the body, after the head and four bytes of checksum
_ASK = struct.Struct(">QQBB")
_SEALED = struct.Struct(">HHH")
_NUMBERS = ("d", "dd", "dddd", "ddddd")
"""The mean; with its squares (flag 1); with its shape (flag 2); with both."""
_TOLD = {flags: struct.Struct(">BQQQQB" + _NUMBERS[flags]) for flags in range(4)}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LONGEST_TEXT = 200


class Refused(ValueError):  # noqa: N818 - what happened to the bytes; nobody here made an error
    """Bytes from elsewhere are not taken: `reason` is for counting, the text for logs.

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
    """Return `value` if agents and fleets may be called so, or raise ValueError.

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


def _whole(name: str, value: int, most: int) -> int:
    number = _check.non_negative_int(name, value)
    if number > most:
        raise ValueError(f"{name} must be at most {most}; received {str(number)[:40]}")
    return number


@dataclass(frozen=True, slots=True)
class Ask:
    """`sender` asks `receiver` what it knows about its own stream.

    Parameters
    ----------
    nonce
        Any number of 64 bits: the answer repeats it, so that an old answer is known for one.
    as_of
        The answer wanted is that of the receiver's first so many samples; 0 asks for its latest.

    Examples
    --------
    >>> decode(encode(Ask("a", "b", nonce=7)))
    Ask(sender='a', receiver='b', nonce=7, as_of=0)
    """

    sender: str
    receiver: str
    nonce: int
    as_of: int = 0

    def __post_init__(self) -> None:
        check_name("sender", self.sender)
        check_name("receiver", self.receiver)
        object.__setattr__(self, "nonce", _whole("nonce", self.nonce, 2**64 - 1))
        object.__setattr__(self, "as_of", _whole("as_of", self.as_of, 2**53))


@dataclass(frozen=True, slots=True)
class Told:
    """What a device says about itself.

    Parameters
    ----------
    nonce
        That of the question.
    life
        Which life of the device speaks: 63 random bits, drawn when its store was made.

    Examples
    --------
    >>> told = Told(nonce=7, life=1, reply=Reply("b", mean=0.1, count=3))
    >>> decode(encode(told)) == told
    True
    """

    nonce: int
    life: int
    reply: Reply

    def __post_init__(self) -> None:
        object.__setattr__(self, "nonce", _whole("nonce", self.nonce, 2**64 - 1))
        object.__setattr__(self, "life", _whole("life", self.life, 2**63 - 1))
        if not isinstance(self.reply, Reply):
            raise ValueError(f"reply must be a Reply; received {self.reply!r:.40}")  # noqa: TRY004
        check_name("sender", self.reply.sender)


@dataclass(frozen=True, slots=True)
class Sealed:
    """The frame of what was told, with the teller's certificate and signature.

    Examples
    --------
    >>> sealed = Sealed(b"what was told", b"who told it", b"proof")
    >>> decode(encode(sealed)) == sealed
    True
    """

    payload: bytes
    certificate: bytes
    signature: bytes

    def __post_init__(self) -> None:
        parts = (self.payload, self.certificate, self.signature)
        if not all(isinstance(part, bytes) and part for part in parts):
            raise ValueError("payload, certificate and signature must be bytes, and not empty")
        length, most = sum(map(len, parts)), MOST_BYTES - _START - _SEALED.size
        if length > most:
            raise ValueError(f"what is sealed has at most {most} bytes in all; received {length}")


Message: TypeAlias = Ask | Told | Sealed
"""Everything that a frame may hold."""


def encode(message: Message) -> bytes:
    """Return the frame of a message, at most `MOST_BYTES` long.

    Examples
    --------
    >>> len(encode(Ask("a", "b", nonce=7)))
    28
    """
    if isinstance(message, Ask):
        kind, body = 1, _write_ask(message)
    elif isinstance(message, Told):
        kind, body = 2, _write_told(message)
    else:
        kind, body = 3, _write_sealed(message)
    head = _HEAD.pack(_MAGIC, VERSION, kind)
    return head + zlib.crc32(body, zlib.crc32(head)).to_bytes(4) + body


def decode(payload: bytes) -> Message:
    """Return the message in a frame; raise `Refused`, and nothing else, if there is none.

    The version is judged before all that follows it, because a newer one may look different there.

    Examples
    --------
    >>> decode(encode(Ask("a", "b", nonce=7))[:-1])
    Traceback (most recent call last):
    colme.live.wire.Refused: the checksum of a frame of 27 bytes is wrong
    """
    if payload[:2] != _MAGIC or len(payload) == 2:
        raise Refused("garbage", f"a frame begins with 'CM'; received {payload[:2]!r}")
    if payload[2] != VERSION:
        raise Refused("version", f"only version {VERSION} is understood; received {payload[2]}")
    if len(payload) > MOST_BYTES:
        raise Refused("too long", f"a frame has at most {MOST_BYTES} bytes, not {len(payload)}")
    if len(payload) < _START:
        raise Refused("length", f"a frame has {_START} bytes or more; received {len(payload)}")
    body = payload[_START:]
    # The head is in the checksum too: not one bit of a frame changes unseen.
    if zlib.crc32(body, zlib.crc32(payload[:4])) != int.from_bytes(payload[4:_START]):
        raise Refused("checksum", f"the checksum of a frame of {len(payload)} bytes is wrong")
    return _read(payload[3], body)


def _read(kind: int, body: bytes) -> Message:
    reader = _READERS.get(kind)
    if reader is None:
        raise Refused("kind", f"a frame is of kind 1, 2 or 3; received {kind}")
    try:
        return reader(body)
    except Refused:
        raise
    except ValueError as error:
        raise Refused("values", str(error)) from None


def _write_ask(ask: Ask) -> bytes:
    sender, receiver = ask.sender.encode("ascii"), ask.receiver.encode("ascii")
    return _ASK.pack(ask.nonce, ask.as_of, len(sender), len(receiver)) + sender + receiver


def _read_ask(body: bytes) -> Ask:
    _expect(_ASK.size, body, more=True)
    nonce, as_of, here, there = _ASK.unpack_from(body)
    _expect(_ASK.size + here + there, body)
    names = body[_ASK.size :].decode("ascii")
    return Ask(names[:here], names[here:], nonce, as_of)


def _write_told(told: Told) -> bytes:
    reply = told.reply
    sender = reply.sender.encode("ascii")
    squares = () if reply.squares is None else (reply.squares,)
    shape = reply.shape or ()
    flags = len(squares) + 2 * bool(shape)
    facts = (told.nonce, told.life, reply.count, reply.epoch, len(sender))
    return _TOLD[flags].pack(flags, *facts, reply.mean, *squares, *shape) + sender


def _read_told(body: bytes) -> Told:
    _expect(1, body, more=True)
    layout = _TOLD.get(body[0])
    if layout is None:
        raise Refused("values", f"flags must be 0, 1, 2 or 3; received {body[0]}")
    _expect(layout.size, body, more=True)
    flags, nonce, life, count, epoch, length, mean, *rest = layout.unpack_from(body)
    _expect(layout.size + length, body)
    squares = rest[0] if flags & 1 else None
    shape = (rest[-3], rest[-2], rest[-1]) if flags & 2 else None
    sender = body[layout.size :].decode("ascii")
    return Told(nonce, life, Reply(sender, mean, count, squares, shape, epoch))


def _write_sealed(sealed: Sealed) -> bytes:
    parts = (sealed.payload, sealed.certificate, sealed.signature)
    return _SEALED.pack(*map(len, parts)) + b"".join(parts)


def _read_sealed(body: bytes) -> Sealed:
    _expect(_SEALED.size, body, more=True)
    first, second, third = _SEALED.unpack_from(body)
    _expect(_SEALED.size + first + second + third, body)
    parts = body[_SEALED.size :]
    return Sealed(parts[:first], parts[first : first + second], parts[first + second :])


def _expect(length: int, body: bytes, more: bool = False) -> None:
    if len(body) < length or (len(body) > length and not more):
        raise Refused("length", f"the body says it has {length} bytes; it has {len(body)}")


_READERS: dict[int, Callable[[bytes], Message]] = {1: _read_ask, 2: _read_told, 3: _read_sealed}
