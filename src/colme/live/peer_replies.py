"""What peers say, accepted: replies and what they relay, checked against what was said before.

Holds the last reply of each peer, what may follow it, and how both reach the agent.  Must not know
how anything travels, is stored or is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from colme.agent import Agent
from colme.live.journal import RelayAccepted, ReplyAccepted
from colme.live.membership import Membership
from colme.live.relays import HeldFrames, unbundled
from colme.live.reply_checks import ReplyChecks, claimed_reply, open_reply, read_reply
from colme.live.wire import Refused, Seal
from colme.messages import Reply
from colme.reply_view import completed


@dataclass(eq=False)
class PeerReplies:
    """The last replies of peers, and the rules for those that follow.

    Parameters
    ----------
    membership, checks
        Who has which life, and what replies must satisfy; without checks all are accepted.
    seal, context
        Opens sealed replies; None: names are believed.
    refuse
        Called for each relayed frame that is refused; the reply that carries it still counts.
    held
        Keeps the frames, to relay them.

    Examples
    --------
    >>> from colme.live.wire import WireReply, encode
    >>> agent = Agent("a", sigma=0.5, delta=0.01, peers="ab")
    >>> heard = PeerReplies(Membership(1.0), None, None, b"", print)
    >>> frame = encode(WireReply(nonce=7, life=1, reply=Reply("b", mean=0.1, count=3)))
    >>> event = heard.receive(agent, "b", frame, ("b", 7), now=0.0, at=1e9)
    >>> event.reply.count, event.relayed
    (3, ())
    """

    membership: Membership
    checks: ReplyChecks | None
    seal: Seal | None
    context: bytes
    refuse: Callable[[Refused], None]
    held: HeldFrames = field(default_factory=HeldFrames)
    _last: dict[str, Reply] = field(default_factory=dict)
    _direct: dict[str, tuple[Reply, float]] = field(default_factory=dict)

    def restore(self, replies: Iterable[Reply]) -> None:
        """Take over what peers said before a restart."""
        self._last = {reply.sender: reply for reply in replies}

    def receive(
        self,
        agent: Agent,
        peer: str,
        payload: bytes,
        query: tuple[str, int] | None,
        now: float,
        at: float,
    ) -> ReplyAccepted:
        """Let the agent learn from a peer's reply to the open query, or raise Refused.

        Return what has happened, to be stored.
        """
        relays = agent.algorithm.relays
        bundle = unbundled(payload, relays)
        message = read_reply(bundle.own, peer, query, self.seal, self.context)
        total = self.membership.epoch_of(peer, message.life, message.reply.epoch)
        self._check(_in_epoch(message.reply, total), now)
        frames, news = {peer: bundle.own}, []
        if len(bundle.relayed) > relays:
            self.refuse(Refused("relay: too many", f"{peer!r} relayed {len(bundle.relayed)}"))
        for frame in bundle.relayed[:relays]:
            try:
                one = self._news_in(agent, frame, {agent.name, *frames}, now)
            except Refused as refused:
                text = f"relayed by {peer!r}: {refused}"
                self.refuse(Refused(f"relay: {refused.reason}", text))
                continue
            if one is not None:
                news.append(one)
                frames[one.reply.sender] = frame
        event = ReplyAccepted(message.reply, message.life, at, tuple(news))
        self.accept(agent, event)
        self._direct[peer] = self._last[peer], now
        self.held.keep(frames, agent)
        return event

    def accept(self, agent: Agent, event: ReplyAccepted) -> None:
        """Let the agent learn from what was found good, now or before a restart."""
        reply = self._in_total_epochs(event)
        relayed = [self._in_total_epochs(one) for one in event.relayed]
        try:
            agent.receive(reply, relayed)
        except ValueError as error:
            raise Refused("values", str(error)) from None
        self._last.update({one.sender: one for one in (reply, *relayed)})
        self.membership.hear(reply.sender, event.life, event.reply.epoch, event.at)
        for one in event.relayed:
            self.membership.hear_of(one.reply.sender, one.life, one.reply.epoch)

    def _in_total_epochs(self, said: ReplyAccepted | RelayAccepted) -> Reply:
        """Return a reply with its epoch counted over all lives of its sender."""
        reply = said.reply
        return _in_epoch(reply, self.membership.epoch_of(reply.sender, said.life, reply.epoch))

    def _news_in(
        self, agent: Agent, frame: bytes, others: set[str], now: float
    ) -> RelayAccepted | None:
        """Return what a relayed frame says, None if that is no news; raise Refused if it is bad.

        Seals are opened for news only, because that takes longest.
        """
        claim = claimed_reply(frame)
        reply, peer = claim.reply, claim.reply.sender
        if peer in others:
            raise Refused("misdirected", f"{peer!r} speaks for itself, or was relayed before")
        total = self.membership.epoch_of_relayed(peer, claim.life, reply.epoch)
        in_total = _in_epoch(reply, total)
        if not agent.is_news(in_total):
            return None
        open_reply(frame, self.seal, self.context)
        self._check(in_total, now)
        try:
            completed(in_total, agent.bound)
        except ValueError as error:
            raise Refused("values", str(error)) from None
        return RelayAccepted(reply, claim.life)

    def _check(self, reply: Reply, now: float) -> None:
        """Refuse a reply that cannot follow the one before.

        The rate is checked against what the peer itself said last: only of that it is known when.
        """
        if self.checks is None:
            return
        if reply.sender in self._direct:
            before, then = self._direct[reply.sender]
            self.checks.check_rate(before, reply, now - then)
        if reply.sender in self._last:
            self.checks.check(self._last[reply.sender], reply, None)


def _in_epoch(reply: Reply, epoch: int) -> Reply:
    """Return a reply with another epoch, or raise Refused if there is no such epoch."""
    try:
        return replace(reply, epoch=epoch)
    except ValueError as error:
        raise Refused("values", str(error)) from None
