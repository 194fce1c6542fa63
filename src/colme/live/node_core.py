"""A node without sockets, files or clocks: one agent and the rules that surround it.

Holds what happens to samples, queries and replies, in which order, and which events must be stored.
Must not know how anything travels, is stored or is timed.
"""

from __future__ import annotations

import json
import secrets
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field

from colme.agent import Agent
from colme.live.journal import PeerAdded, ReplyAccepted, SamplesFolded, pack, unpack
from colme.live.membership import Membership
from colme.live.peer_replies import PeerReplies
from colme.live.relays import NO_RELAYS_IN_STEP, HeldFrames, RelayFilter, wanted_by
from colme.live.reply_checks import ReplyChecks, read_query
from colme.live.wire import (
    MOST_BUNDLE_BYTES,
    MOST_BYTES,
    Refused,
    Seal,
    WireQuery,
    WireReply,
    encode,
)
from colme.messages import Query, Reply, Snapshot

_LONGEST_PAUSE = 8
"""Maximum calls of `add_peer` from one attempt to replace a peer in a full row to the next."""
_PAST_REPLIES = 100_000
"""Past replies of its own that an agent in step can still be asked for."""


@dataclass(eq=False)
class NodeCore:
    """An agent that asks and is asked; peers hear only of what has been stored.

    Everything is done in memory first and noted as an event.  The caller stores the `unsaved`
    events and then calls `saved`: only then do peers hear of new samples.  After a crash the same
    events lead to the same state.

    Parameters
    ----------
    agent
        The agent, new or restored.
    fleet, life
        The fleet's name, and the number of this life of the device.
    membership, checks
        Who is present, and what replies must satisfy; without checks every reply is accepted.
    seal
        Proof of who sent a reply; None: names are believed.
    in_step
        Whether peers may ask for past states, as agents in lockstep do.
    refused
        Counts what is refused, by reason.
    reply_filter, relay_filter
        Change what the agent says of itself, and which frames of others it relays, to try out
        liars; None: the truth.

    Examples
    --------
    >>> agents = [Agent(name, sigma=0.5, delta=0.01, max_agents=2) for name in "ab"]
    >>> a, b = (NodeCore(agent, "home", 1, Membership(1.0)) for agent in agents)
    >>> a.fold([0.3, 0.5], position="2"), b.fold([0.7], position="1")
    (2, 1)
    >>> b.saved(len(b.unsaved))
    >>> a.appear("b")
    >>> peer, query = a.next_query(now=0.0)
    >>> a.receive(peer, b.answer(b.read_query(query)), now=0.1, at=1e9)
    True
    >>> round(a.agent.estimate, 3)
    0.4
    """

    agent: Agent
    fleet: str
    life: int
    membership: Membership
    checks: ReplyChecks | None = None
    _: KW_ONLY
    seal: Seal | None = None
    in_step: bool = False
    refused: Counter[str] = field(default_factory=Counter)
    reply_filter: Callable[[Reply], Reply] | None = None
    relay_filter: RelayFilter | None = None

    def __post_init__(self) -> None:
        if self.in_step and self.agent.algorithm.relays:
            raise ValueError(NO_RELAYS_IN_STEP)
        # Agents of one process fit at different steps; those in step fit as in the simulator.
        self._fit_earlier = 0.0 if self.in_step else zlib.crc32(self.agent.name.encode()) / 2**32
        self.agent.hasten(self._fit_earlier)
        self.position: str | None = None
        self.n_samples = 0
        self.unsaved: list[bytes] = []
        self.counts: Counter[str] = Counter()
        self.on_refused: Callable[[Refused], None] | None = None
        self._context = f"colme {self.fleet}".encode()
        self._open_query: tuple[str, int] | None = None
        self._outside: dict[str, None] = {}  # peers without an entry in the row, by turn
        self._pause, self._n_calls = 1, 0
        self._held = HeldFrames(self.relay_filter)
        self._heard = PeerReplies(
            self.membership, self.checks, self.seal, self._context, self.refuse, self._held
        )
        self._replies: deque[Reply] = deque(maxlen=_PAST_REPLIES if self.in_step else 1)
        self._n_published = 0
        self._publish()

    @property
    def longest_reply(self) -> int:
        """The most bytes of a reply: more only if the agent asks for relays."""
        return MOST_BUNDLE_BYTES if self.agent.algorithm.relays else MOST_BYTES

    def appear(self, *peers: str) -> None:
        """Note that others are present, and add them to the row while it has free entries.

        Those who come together are added in the order of names, from the agent's own name on and
        round: agents that begin together ask different peers, and so have news for each other.
        """
        for peer in sorted(peers, key=lambda peer: (peer < self.agent.name, peer)):
            self.membership.appear(peer)
            self._outside[peer] = None
        while self._outside and len(self.agent.peers) != self.agent.room:
            self._pause = 1
            self.add_peer()

    def add_peer(self) -> None:
        """Add one peer to the row, in place of another if the row is full and one can go.

        While nobody can go this is tried less and less often, but at every eighth call.
        """
        self._n_calls += 1
        if not self._outside or self._n_calls < self._pause:
            return
        self._n_calls = 0
        peer, before = next(iter(self._outside)), self.agent.peers
        del self._outside[peer]
        if peer in before or peer not in self.membership.present:
            return
        try:
            is_added = self.agent.meet(peer)
        except ValueError:  # the risk was split over no more agents than are known
            self.refuse(Refused("no room", f"{peer!r} is one more than the risk was split over"))
            return
        self._pause = 1 if is_added else min(2 * self._pause, _LONGEST_PAUSE)
        if not is_added:
            self._outside[peer] = None
            return
        self.unsaved.append(pack(PeerAdded(peer)))
        self._outside.update(dict.fromkeys(set(before).difference(self.agent.peers)))

    def fold(self, samples: Sequence[float], position: str) -> int:
        """Fold samples that have arrived and return how many were good; refuse bad ones."""
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

    def next_query(self, now: float) -> tuple[str, bytes] | None:
        """Return whom to ask now, and the query; None: nobody."""
        peers = None if self.in_step else self.membership.reachable(now)
        peer = self.agent.choose_peer(peers)
        return None if peer is None else (peer, self.query_to(peer))

    def query_to(self, peer: str) -> bytes:
        """Return a new query to a peer; replies to earlier queries are no longer accepted."""
        self._open_query = (peer, secrets.randbits(63))
        self.counts["asked"] += 1
        as_of = self.agent.count if self.in_step else 0
        wanted = wanted_by(self.agent, peer)
        return encode(WireQuery(self.agent.name, peer, self._open_query[1], as_of, *wanted))

    def read_query(self, payload: bytes) -> WireQuery:
        """Return a query that reached this agent; raise Refused, and count it, if it is none."""
        try:
            return read_query(payload, self.agent.name)
        except Refused as refused:
            self.refuse(refused)
            raise

    def answer(self, query: WireQuery) -> bytes | None:
        """Return the reply; None if the query asks about samples that are still to come."""
        reply = self.published
        if query.as_of > reply.count:
            return None
        if query.as_of and self.in_step:
            oldest = self._replies[0].count
            if query.as_of < oldest:
                refused = Refused(
                    "forgotten", f"the reply after {query.as_of} samples is forgotten"
                )
                self.refuse(refused)
                raise refused
            reply = self._replies[query.as_of - oldest]
        self.counts["answered"] += 1
        own = encode(WireReply(query.nonce, self.life, reply))
        if self.seal is not None:
            own = encode(self.seal.seal(own, self._context))
        return self._held.bundle(own, query, self.agent) if query.relays else own

    def receive(self, peer: str, payload: bytes, now: float, at: float) -> bool:
        """Accept a reply to the open query; return False, and count why, if it is refused.

        Of what it relays, all that is good and new is accepted too; the rest is counted.
        `now` is the clock of this run, `at` the time of day, both in seconds.
        """
        try:
            event = self._heard.receive(self.agent, peer, payload, self._open_query, now, at)
        except Refused as refused:
            self.refuse(refused)
            return False
        self._open_query = None
        self.unsaved.append(pack(event))
        if event.relayed:
            self.counts["relayed"] += len(event.relayed)
        self.counts["heard"] += 1
        return True

    def missed(self, peer: str, now: float) -> None:
        """Note that a peer did not reply."""
        self.counts["unanswered"] += 1
        self._open_query = None
        self.membership.missed(peer, now)

    def refuse(self, refused: Refused) -> None:
        """Count what was refused, by its reason, and report it to `on_refused`."""
        self.refused[refused.reason] += 1
        if self.on_refused is not None:
            self.on_refused(refused)

    def saved(self, n: int) -> None:
        """Note that the first n of the unsaved events are safe: peers may hear of them."""
        del self.unsaved[:n]
        if not self.unsaved and self.n_samples != self._n_published:
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
        """Continue from a checkpoint and the events after it."""
        if checkpoint is not None:
            state = json.loads(checkpoint)
            snapshot = Snapshot.from_json(state["agent"])
            self.agent = Agent.restore(snapshot)
            self.agent.hasten(self._fit_earlier)
            self._heard.restore(snapshot.replies)
            self.membership.restore(state["membership"])
            self.position, self.n_samples = state["position"], state["n_samples"]
        for event in events:
            self._replay(event)
        self._replies.clear()
        self._publish()

    def _publish(self) -> None:
        """Let peers hear the state as it is now."""
        own = self.agent.answer(Query(self.agent.name, self.agent.name))
        self.published = own if self.reply_filter is None else self.reply_filter(own)
        self._replies.append(self.published)
        self._n_published = self.n_samples

    def _perceive(self, samples: Sequence[float], position: str) -> None:
        self.agent.perceive(*samples)
        self.unsaved.append(pack(SamplesFolded(tuple(map(float, samples)), position)))
        self.position = position
        self.n_samples += len(samples)

    def _replay(self, payload: bytes) -> None:
        """Do again what an event did."""
        match unpack(payload):
            case PeerAdded(peer):
                self.agent.meet(peer)
            case SamplesFolded(values, position):
                self.agent.perceive(*values)
                self.position = position
                self.n_samples += len(values)
            case ReplyAccepted() as event:
                self.agent.choose_peer({event.reply.sender})
                self._heard.accept(self.agent, event)
