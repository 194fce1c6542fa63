"""Whether bytes are a query or the reply that was asked for, and whether a reply can be true.

Holds rules over one message, and over two replies of one peer.  Must not know clocks, networks or
the agent.
"""

from __future__ import annotations

from dataclasses import dataclass

from colme.bounds import Evidence
from colme.live.wire import Refused, Seal, SealedReply, WireQuery, WireReply, decode
from colme.messages import Reply

_SLACK = 1e-6
"""Rounding errors of sums over very many samples stay far below this share."""


@dataclass(frozen=True)
class ReplyChecks:
    """What two consecutive replies of one peer must satisfy.

    Parameters
    ----------
    log_risk
        ln(1/γ): the mean of an honest peer jumps too far with probability at most γ.
    rate
        Maximum samples per second of any agent of the fleet; None: not declared.
    burst
        Maximum samples at once, beyond the rate.

    Examples
    --------
    >>> checks = ReplyChecks(log_risk=15.0, rate=10.0, burst=5)
    >>> checks.check(Reply("b", 0.5, 10), Reply("b", 0.5, 9), elapsed=1.0)
    Traceback (most recent call last):
    colme.live.wire.Refused: 'b' reported 10 samples before, and now 9
    >>> checks.check(Reply("b", 0.5, 10), Reply("b", 0.5, 100), elapsed=1.0)
    Traceback (most recent call last):
    colme.live.wire.Refused: 'b' took 90 samples in 1 s; at most 10 a second, 5 at once, are allowed
    """

    log_risk: float
    rate: float | None = None
    burst: int = 100

    def check(self, before: Reply, now: Reply, elapsed: float | None) -> None:
        """Raise Refused unless `now` can follow `before`, `elapsed` seconds later if known."""
        if now.epoch != before.epoch or before.count == 0:
            return
        if now.count < before.count:
            raise Refused(
                "count fell",
                f"{now.sender!r} reported {before.count} samples before, and now {now.count}",
            )
        if elapsed is not None:
            self.check_rate(before, now, elapsed)
        self._check_sums(before, now)
        self._check_jump(before, now)

    def check_rate(self, before: Reply, now: Reply, elapsed: float) -> None:
        """Raise Refused if `now` has more samples than `elapsed` seconds after `before` allow."""
        more, rate = now.count - before.count, self.rate
        if now.epoch != before.epoch or before.count == 0 or rate is None:
            return
        if more > rate * elapsed + self.burst:
            raise Refused(
                "too fast",
                f"{now.sender!r} took {more} samples in {elapsed:g} s; at most {rate:g} a "
                f"second, {self.burst} at once, are allowed",
            )

    def _check_sums(self, before: Reply, now: Reply) -> None:
        """Refuse sums of squares that no samples in between can explain.

        With m more samples of mean y the sum grows by at least n m / (n + m) (y - x̄)², which is
        n (n + m) / m times the square of how far the mean moved.
        """
        if before.squares is None or now.squares is None:
            return
        more, moved = now.count - before.count, now.mean - before.mean
        largest = max(abs(now.mean), abs(before.mean))
        slack = _SLACK * (now.squares + before.squares) + now.count * (largest * _SLACK) ** 2
        if more == 0:
            same = before.count * moved**2 <= slack and abs(now.squares - before.squares) <= slack
        else:
            least = before.squares + before.count * now.count / more * moved**2
            same = now.squares + slack >= least * (1 - _SLACK)
        if not same:
            raise Refused("contradiction", f"{now.sender!r} contradicts its reply before")

    def _check_jump(self, before: Reply, now: Reply) -> None:
        if before.shape is None or now.shape is None:
            return
        radii = (
            Evidence(before.mean, *before.shape).radius(self.log_risk),
            Evidence(now.mean, *now.shape).radius(self.log_risk),
        )
        moved, allowed = abs(now.mean - before.mean), sum(radii)
        if moved > allowed:
            raise Refused(
                "jump",
                f"the mean of {now.sender!r} moved by {moved:g}, at most {allowed:g} is likely",
            )


def read_query(payload: bytes, receiver: str) -> WireQuery:
    """Return a query to `receiver`, or raise Refused.

    Examples
    --------
    >>> from colme.live.wire import encode
    >>> read_query(encode(WireQuery("a", "b", nonce=7)), "c")
    Traceback (most recent call last):
    colme.live.wire.Refused: a query for 'b' came here
    """
    message = decode(payload)
    if not isinstance(message, WireQuery):
        raise Refused("not a question", "a query was expected")
    if message.receiver != receiver:
        raise Refused("misdirected", f"a query for {message.receiver!r} came here")
    return message


def read_reply(
    payload: bytes, peer: str, query: tuple[str, int] | None, seal: Seal | None, context: bytes
) -> WireReply:
    """Return the reply of a peer to the open query, or raise Refused.

    Parameters
    ----------
    query
        Who was asked, and the nonce of the query; None if no query is open.
    seal, context
        Opens sealed replies, which must have been sealed in that context; None: names are believed.

    Examples
    --------
    >>> from colme.live.wire import encode
    >>> frame = encode(WireReply(nonce=7, life=1, reply=Reply("b", mean=0.1, count=3)))
    >>> read_reply(frame, "b", ("b", 7), None, b"").reply.count
    3
    >>> read_reply(frame, "b", ("b", 8), None, b"")
    Traceback (most recent call last):
    colme.live.wire.Refused: 'b' answered a query that is not open
    """
    message = open_reply(payload, seal, context)
    if message.reply.sender != peer:
        raise Refused("impostor", f"{message.reply.sender!r} answered for {peer!r}")
    if query != (peer, message.nonce):
        raise Refused("unasked", f"{peer!r} answered a query that is not open")
    return message


def open_reply(payload: bytes, seal: Seal | None, context: bytes) -> WireReply:
    """Return the reply in a frame, whoever was asked; raise Refused unless its sender sealed it.

    Examples
    --------
    >>> from colme.live.wire import encode
    >>> frame = encode(WireReply(nonce=7, life=1, reply=Reply("b", mean=0.1, count=3)))
    >>> open_reply(frame, None, b"").reply.sender
    'b'
    """
    message = decode(payload)
    author = None
    if seal is not None:
        if not isinstance(message, SealedReply):
            raise Refused("unsealed", "a reply came without a seal")
        author = seal.open(message, context)
        message = decode(message.payload)
    if not isinstance(message, WireReply):
        raise Refused("not an answer", "a reply was expected")
    if author not in (None, message.reply.sender):
        raise Refused("impostor", f"{author!r} answered in the name of {message.reply.sender!r}")
    return message


def claimed_reply(payload: bytes) -> WireReply:
    """Return the reply that a frame claims to hold; nothing is proven.

    Examples
    --------
    >>> from colme.live.wire import encode
    >>> reply = encode(WireReply(nonce=7, life=1, reply=Reply("b", mean=0.1, count=3)))
    >>> claimed_reply(encode(SealedReply(reply, b"no certificate", b"no signature"))).life
    1
    """
    message = decode(payload)
    if isinstance(message, SealedReply):
        message = decode(message.payload)
    if not isinstance(message, WireReply):
        raise Refused("not an answer", "a reply was expected")
    return message
