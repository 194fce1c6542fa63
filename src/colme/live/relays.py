"""What others said, passed on: whose news is wanted, which frames are held, how they are bundled.

Holds names as bits, frames as they came, and the bundle that carries them.  Must not know what
frames mean, nor who sealed them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from colme.agent import Agent
from colme.live.wire import (
    MOST_BUNDLE_BYTES,
    MOST_RELAYS,
    Refused,
    ReplyBundle,
    WireQuery,
    decode,
    encode,
)
from colme.messages import Query

_BYTES = 32
"""Length of the bits of names: 256 of them."""
_BUNDLE_HEAD = 64
"""More bytes than a bundle has beside its frames."""
_FRAME_HEAD = 5
"""More bytes than the length of a frame takes."""

NO_RELAYS_IN_STEP = "agents in step ask about the past, which nobody relays: leave out relays"

RelayFilter = Callable[[list[bytes]], list[bytes]]


@dataclass(frozen=True)
class NameBits:
    """A set of names in a few bytes: each name sets one bit, empty bytes stand for all names.

    Some names that were not meant have the bit of one that was: whoever asks hears of a few peers
    that it has excluded, and nothing is lost.

    Examples
    --------
    >>> wanted = NameBits.of(["hall", "attic"])
    >>> len(wanted.bits), "hall" in wanted, "cellar" in wanted
    (32, True, False)
    >>> "cellar" in NameBits()
    True
    """

    bits: bytes = b""

    @classmethod
    def of(cls, names: Iterable[str]) -> Self:
        """Return the bits of some names."""
        bits = bytearray(_BYTES)
        for name in names:
            place, bit = _place_of(name, bits)
            bits[place] |= bit
        return cls(bytes(bits))

    def __contains__(self, name: object) -> bool:
        if not self.bits:
            return True
        place, bit = _place_of(str(name), self.bits)
        return bool(self.bits[place] & bit)


def _place_of(name: str, bits: bytes | bytearray) -> tuple[int, int]:
    """Return the byte of a name, and its bit there."""
    place, bit = divmod(zlib.crc32(name.encode()) % (8 * len(bits)), 8)
    return place, 1 << bit


@dataclass(frozen=True)
class _InBoth:
    """Names that both containers have."""

    one: Container[str]
    other: Container[str]

    def __contains__(self, name: object) -> bool:
        return name in self.one and name in self.other


def wanted_by(agent: Agent, peer: str) -> tuple[int, bytes]:
    """Return how many frames an agent would like from a peer, and of whom, for a `WireQuery`.

    Examples
    --------
    >>> agent = Agent("a", sigma=0.5, delta=0.01, relays=4, peers="abc")
    >>> wanted_by(agent, "b")  # nobody is excluded yet: of anybody
    (4, b'')
    """
    query = agent.query_to(peer)
    if query.wanted is None:
        return query.relays, b""
    others = set(agent.peers) - {agent.name}
    wanted = [name for name in others if name in query.wanted]
    return query.relays, NameBits.of(wanted).bits if len(wanted) < len(others) else b""


@dataclass(eq=False)
class HeldFrames:
    """The last accepted frame of each peer in the row, as it came; a restart forgets them.

    Parameters
    ----------
    relay_filter
        Changes which frames are relayed, to try out liars; None: those that are asked for.

    Examples
    --------
    >>> held = HeldFrames()
    >>> agent = Agent("a", sigma=0.5, delta=0.01, peers="ab")
    >>> held.keep({"b": b"a frame of b"}, agent)
    >>> held.bundle(b"my frame", WireQuery("c", "a", nonce=7, relays=4), agent)  # b said nothing
    b'my frame'
    """

    relay_filter: RelayFilter | None = None
    _frames: dict[str, bytes] = field(default_factory=dict)

    def keep(self, frames: Mapping[str, bytes], agent: Agent) -> None:
        """Keep the frames of some peers, and no more than the row of the agent is long."""
        self._frames.update(frames)
        if len(self._frames) >= len(agent.peers):  # somebody is no longer in the row
            row = set(agent.peers)
            self._frames = {name: frame for name, frame in self._frames.items() if name in row}

    def bundle(self, own: bytes, query: WireQuery, agent: Agent) -> bytes:
        """Return a device's own frame, with those of others that the query asks for and that fit.

        If there are none, it is the own frame alone.
        """
        wanted = _InBoth(self._frames, NameBits(query.wanted))
        relays = min(query.relays, MOST_RELAYS)
        chosen = agent.relayed(Query(query.sender, query.receiver, relays, wanted))
        frames = [self._frames[reply.sender] for reply in chosen]
        if self.relay_filter is not None:
            frames = self.relay_filter(frames)
        fitting, n_bytes = [], _BUNDLE_HEAD + len(own)
        for frame in frames:
            n_bytes += len(frame) + _FRAME_HEAD
            if n_bytes > MOST_BUNDLE_BYTES:
                break
            fitting.append(frame)
        return encode(ReplyBundle(own, tuple(fitting))) if fitting else own


def unbundled(payload: bytes, relays: int) -> ReplyBundle:
    """Return the frames of a reply to a query for that many relays; without any, there is one.

    Examples
    --------
    >>> unbundled(b"CM: a frame alone", relays=4)
    ReplyBundle(own=b'CM: a frame alone', relayed=())
    >>> unbundled(encode(ReplyBundle(b"a frame", (b"another",))), relays=0)
    Traceback (most recent call last):
    colme.live.wire.Refused: a bundle came, and no relays were asked for
    """
    is_bundle = ReplyBundle.is_frame(payload)
    if is_bundle and not relays:
        raise Refused("not an answer", "a bundle came, and no relays were asked for")
    message = decode(payload) if is_bundle else None
    return message if isinstance(message, ReplyBundle) else ReplyBundle(payload, ())
