"""One agent and all that surrounds it on a device, without sockets, files or clocks.

Lives here: what happens to samples, questions and replies, in which order, and what must be written
down of it.  Must not know how anything travels, is stored or is timed.
"""

from __future__ import annotations

import json
import secrets
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from colme.agent import Agent
from colme.live.journal import Folded, Heard, Met, pack, unpack
from colme.live.membership import Membership
from colme.live.scrutiny import Scrutiny
from colme.live.wire import Ask, Refused, Sealed, Told, decode, encode
from colme.messages import Query, Reply, Snapshot

__all__ = ["Seal", "Station"]

T = TypeVar("T")
_LONGEST_WAIT = 8
"""So many ticks at most until somebody new is tried in a full row."""
_KEPT = 100_000
"""So many past replies of its own an agent in lockstep can still be asked for."""


class Seal(Protocol):
    """What proves who speaks: see `colme.live.keys.Identity`.

    Examples
    --------
    >>> seal: Seal | None = None
    """

    def seal(self, payload: bytes, context: bytes) -> Sealed:
        """Return the payload, signed in one's own name."""

    def open(self, sealed: Sealed, context: bytes) -> str:
        """Return who signed it; raise Refused if it is nobody of this fleet."""


class Station:
    """An agent that is asked, asks, and writes down what happens before anybody may rely on it.

    Everything is done in memory first and noted as an event.  Who runs the station stores
    `unsaved` events and then calls `saved`: only then do peers hear of new samples.  After a crash
    the same events lead to the same state.

    Parameters
    ----------
    agent
        The agent, new or restored.
    fleet
        The fleet's name.
    life
        The number of this life of the device.
    membership, scrutiny
        Who is there, and what is demanded of their replies; no scrutiny: everything is believed.
    seal
        Proof of who speaks; None: names are taken at their word.
    in_step
        Whether peers may ask for past states, as agents in lockstep do.
    refused
        Where to count what is refused, by reason.
    tongue
        What the agent says of itself, given the truth; None: the truth.  For trying out liars.

    Examples
    --------
    >>> stations = {
    ...     name: Station(
    ...         Agent(name, sigma=0.5, delta=0.01, max_agents=2), "home", life, Membership(1.0)
    ...     )
    ...     for life, name in enumerate("ab")
    ... }
    >>> a, b = stations.values()
    >>> a.fold([0.3, 0.5], position="2"), b.fold([0.7], position="1")
    (2, 1)
    >>> b.saved(len(b.unsaved))
    >>> a.appear("b")
    >>> peer, question = a.ask(now=0.0)
    >>> a.hear(peer, b.told(b.asked(question)), now=0.1, at=1e9)
    True
    >>> round(a.agent.estimate, 3)
    0.4
    """

    def __init__(
        self,
        agent: Agent,
        fleet: str,
        life: int,
        membership: Membership,
        scrutiny: Scrutiny | None = None,
        *,
        seal: Seal | None = None,
        in_step: bool = False,
        refused: Counter[str] | None = None,
        tongue: Callable[[Reply], Reply] | None = None,
    ) -> None:
        self.agent = agent
        # Those in step do exactly what agents of the simulator do.
        self._haste = 0.0 if in_step else zlib.crc32(agent.name.encode()) / 2**32
        agent.hasten(self._haste)
        self.fleet, self.life = fleet, life
        self.membership = membership
        self.position: str | None = None
        self.n_samples = 0
        self.counts: Counter[str] = Counter()
        self.refused: Counter[str] = Counter() if refused is None else refused
        self.on_refused: Callable[[Refused], None] | None = None
        self._tongue = tongue
        self._scrutiny, self._seal = scrutiny, seal
        self._context = f"colme {fleet}".encode()
        self._events: list[bytes] = []
        self._nonce: tuple[str, int] | None = None
        self._strangers: dict[str, None] = {}  # in the order in which they are tried
        self._wait, self._waited = 1, 0
        self._said: dict[str, Reply] = {}
        self._last_heard: dict[str, float] = {}
        self._replies: deque[Reply] = deque(maxlen=_KEPT if in_step else 1)
        self._in_step, self._n_told = in_step, 0
        self._publish()

    # What happens

    def appear(self, *peers: str) -> None:
        """Note that peers are here, and make room for them in the row if there is any."""
        for peer in peers:
            if peer != self.agent.name:
                self.membership.appear(peer)
                self._strangers[peer] = None
        while self._strangers and len(self.agent.peers) != self.agent.room:
            self._wait = 1
            self.meet_stranger()

    def meet_stranger(self) -> None:
        """Make room in the row for one peer that is not in it, if there is one and any room.

        While nobody makes room it is tried less and less often, but at every eighth call.
        """
        self._waited += 1
        if not self._strangers or self._waited < self._wait:
            return
        self._waited = 0
        peer, before = next(iter(self._strangers)), self.agent.peers
        del self._strangers[peer]
        if peer in before or peer not in self.membership or not self.membership[peer].present:
            return
        try:
            met = self.agent.meet(peer)
        except ValueError:  # the risk was split over no more agents than are known
            self.refuse(Refused("no room", f"{peer!r} is one more than the risk was split over"))
            return
        self._wait = 1 if met else min(2 * self._wait, _LONGEST_WAIT)
        if not met:
            self._strangers[peer] = None
            return
        self._events.append(pack(Met(peer)))
        now = set(self.agent.peers)
        self._strangers.update(dict.fromkeys(one for one in before if one not in now))

    def fold(self, samples: Sequence[float], position: str) -> int:
        """Fold samples that have arrived and return how many were good; bad ones are refused."""
        before = self.n_samples
        try:
            self._perceive(samples, position)
        except ValueError:  # one of them is bad, and none was folded
            for sample in samples:
                try:
                    self._perceive([sample], position)
                except ValueError as error:
                    self.refuse(Refused("sample", str(error)))
        if self.position != position:  # all were bad, but they have been seen
            self._perceive([], position)
        return self.n_samples - before

    def ask(self, now: float) -> tuple[str, bytes] | None:
        """Return whom to ask now, and the question; None: nobody."""
        reachable = None if self._in_step else self.membership.reachable(now)
        peer = self.agent.choose_peer(reachable)
        return None if peer is None else (peer, self.question(peer))

    def question(self, peer: str) -> bytes:
        """Return a new question to a peer; earlier ones are void."""
        self._nonce = (peer, secrets.randbits(63))
        self.counts["asked"] += 1
        as_of = self.agent.count if self._in_step else 0
        return encode(Ask(self.agent.name, peer, self._nonce[1], as_of))

    def asked(self, payload: bytes) -> Ask:
        """Return a question that reached this agent; raise Refused, and count it, if it is none."""
        return self._judged(self._read_question, payload)

    def told(self, ask: Ask) -> bytes | None:
        """Return the answer; None if it speaks of samples that are still to come."""
        reply = self._replies[-1]
        if ask.as_of > reply.count:
            return None
        if ask.as_of and self._in_step:
            reply = self._judged(self._as_of, ask.as_of)
        self.counts["answered"] += 1
        payload = encode(Told(ask.nonce, self.life, reply))
        return payload if self._seal is None else encode(self._seal.seal(payload, self._context))

    def hear(self, peer: str, payload: bytes, now: float, at: float) -> bool:
        """Take an answer to the last question; return False, and count why, if it is refused.

        `now` is the clock of this run, `at` the time of day, both in seconds.
        """
        try:
            self._judged(self._take, peer, payload, now, at)
        except Refused:
            return False
        self.counts["heard"] += 1
        return True

    def missed(self, peer: str, now: float) -> None:
        """Note that a peer did not answer."""
        self.counts["unanswered"] += 1
        self._nonce = None
        self.membership.missed(peer, now)

    def refuse(self, refused: Refused) -> None:
        """Count what was refused, by its reason, and tell whoever wants to know."""
        self.refused[refused.reason] += 1
        if self.on_refused is not None:
            self.on_refused(refused)

    # What must be written down

    @property
    def unsaved(self) -> tuple[bytes, ...]:
        """Events to be stored, in order."""
        return tuple(self._events)

    def saved(self, n: int) -> None:
        """Note that the first n of the unsaved events are safe: peers may hear of them."""
        del self._events[:n]
        if not self._events and self.n_samples != self._n_told:
            self._publish()

    def checkpoint(self) -> bytes:
        """Return everything that the events so far have led to."""
        state = {
            "agent": self.agent.snapshot().to_json(),
            "membership": self.membership.to_plain(),
            "position": self.position,
            "n_samples": self.n_samples,
        }
        return json.dumps(state).encode()

    def resume(self, checkpoint: bytes | None, events: Iterable[bytes]) -> None:
        """Go on where a station was when it took the checkpoint and then lived through events."""
        if checkpoint is not None:
            state = json.loads(checkpoint)
            snapshot = Snapshot.from_json(state["agent"])
            self.agent = Agent.restore(snapshot)
            self.agent.hasten(self._haste)
            self._said = {reply.sender: reply for reply in snapshot.replies}
            self.membership.restore(state["membership"])
            self.position, self.n_samples = state["position"], state["n_samples"]
        for event in events:
            self._repeat(event)
        self._replies.clear()
        self._publish()

    def report(self, at: float) -> dict[str, Any]:
        """Return what the agent knows now, ready for JSON; `at` is the time of day."""
        agent = self.agent
        low, high = agent.interval
        nothing, outlook = agent.count == 0, agent.outlook()
        peers = [peer for peer in agent.peers if peer != agent.name]
        return {
            "agent": agent.name,
            "fleet": self.fleet,
            "time": at,
            "life": self.life,
            "epoch": self._replies[-1].epoch,
            "count": agent.count,
            "samples": self.n_samples,
            "mean": None if nothing else agent.local_mean,
            "estimate": None if nothing else outlook.estimate,
            "interval": None if nothing or not high - low < float("inf") else [low, high],
            "class_size": len(outlook.optimistic_class),
            "likely_size": len(outlook.likely_class),
            "known": len(peers),
            "present": len(self.membership.present),
            "messages": dict(self.counts),
            "refused": dict(self.refused),
        }

    # Inside

    def _publish(self) -> None:
        """Let peers hear the state as it is now."""
        own = self.agent.answer(Query(self.agent.name, self.agent.name))
        if self._tongue is not None:
            own = self._tongue(own)
        self._replies.append(own)
        self._n_told = self.n_samples

    def _as_of(self, count: int) -> Reply:
        """Return what the agent said of its first so many samples, if it still knows."""
        oldest = self._replies[0].count
        if count < oldest:
            raise Refused("forgotten", f"what was said of {count} samples is forgotten")
        return self._replies[count - oldest]

    def _judged(self, act: Callable[..., T], *arguments: Any) -> T:
        try:
            return act(*arguments)
        except Refused as refused:
            self.refuse(refused)
            raise

    def _read_question(self, payload: bytes) -> Ask:
        message = decode(payload)
        if not isinstance(message, Ask):
            raise Refused("not a question", "a question was expected")
        if message.receiver != self.agent.name:
            raise Refused("misdirected", f"a question for {message.receiver!r} came here")
        return message

    def _read_answer(self, peer: str, payload: bytes) -> Told:
        message = decode(payload)
        if self._seal is not None:
            if not isinstance(message, Sealed):
                raise Refused("unsealed", f"an answer for {peer!r} came without a seal")
            author = self._seal.open(message, self._context)
            if author != peer:
                raise Refused("impostor", f"{author!r} answered in the name of {peer!r}")
            message = decode(message.payload)
        if not isinstance(message, Told):
            raise Refused("not an answer", "an answer was expected")
        if message.reply.sender != peer:
            raise Refused("impostor", f"{message.reply.sender!r} answered for {peer!r}")
        if self._nonce != (peer, message.nonce):
            raise Refused("unasked", f"{peer!r} answered a question that is not open")
        return message

    def _perceive(self, samples: Sequence[float], position: str) -> None:
        self.agent.perceive(*samples)
        self._events.append(pack(Folded(tuple(map(float, samples)), position)))
        self.position = position
        self.n_samples += len(samples)

    def _take(self, peer: str, payload: bytes, now: float, at: float) -> None:
        told = self._read_answer(peer, payload)
        reply = self._translated(told)
        if self._scrutiny is not None and peer in self._said:
            heard = self._last_heard.get(peer)
            elapsed = None if heard is None else now - heard
            self._scrutiny.check(self._said[peer], reply, elapsed)
        self._believe(told, reply, at)
        self._nonce = None
        self._last_heard[peer] = now
        self._events.append(pack(Heard(encode(told), at)))

    def _translated(self, told: Told) -> Reply:
        """Return the reply with its epoch counted over all lives of the sender."""
        reply = told.reply
        epoch = self.membership.epoch_of(reply.sender, told.life, reply.epoch)
        return reply if epoch == reply.epoch else replace(reply, epoch=epoch)

    def _believe(self, told: Told, reply: Reply, at: float) -> None:
        try:
            self.agent.receive(reply)
        except ValueError as error:
            raise Refused("values", str(error)) from None
        self._said[reply.sender] = reply
        self.membership.hear(reply.sender, told.life, told.reply.epoch, at)

    def _repeat(self, event: bytes) -> None:
        """Live through an event again."""
        match unpack(event):
            case Met(peer):
                self.agent.meet(peer)
            case Folded(values, position):
                self.agent.perceive(*values)
                self.position = position
                self.n_samples += len(values)
            case Heard(payload, at):
                told = decode(payload)
                assert isinstance(told, Told)
                self.agent.choose_peer({told.reply.sender})
                self._believe(told, self._translated(told), at)
