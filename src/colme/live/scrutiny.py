"""Whether what a peer says can be true, given what it said before.

Lives here: rules over two replies of one peer.  Must not know clocks, networks or the agent.
"""

from __future__ import annotations

from dataclasses import dataclass

from colme.bounds import Evidence
from colme.live.wire import Refused
from colme.messages import Reply

__all__ = ["Scrutiny"]

_SLACK = 1e-6
"""Rounding of sums over very many samples stays far below this share."""


@dataclass(frozen=True)
class Scrutiny:
    """What is demanded of two replies of one peer, in the order in which it gave them.

    Parameters
    ----------
    log_risk
        ln(1/γ): an honest peer's mean jumps too far with probability at most γ.
    rate
        The most samples per second that any agent of the fleet takes; None: not declared.
    burst
        So many samples may come at once.
    steady
        Whether the mean of a stream is one thing within an epoch: not so with windows or discounts.

    Examples
    --------
    >>> scrutiny = Scrutiny(log_risk=15.0, rate=10.0, burst=5)
    >>> scrutiny.check(Reply("b", 0.5, 10), Reply("b", 0.5, 9), elapsed=1.0)
    Traceback (most recent call last):
    colme.live.wire.Refused: 'b' spoke of 10 samples, and now of 9
    >>> scrutiny.check(Reply("b", 0.5, 10), Reply("b", 0.5, 100), elapsed=1.0)
    Traceback (most recent call last):
    colme.live.wire.Refused: 'b' took 90 samples in 1 s; at most 10 a second, 5 at once, are allowed
    """

    log_risk: float
    rate: float | None = None
    burst: int = 100
    steady: bool = True

    def check(self, before: Reply, now: Reply, elapsed: float | None) -> None:
        """Raise Refused unless `now` can follow `before`, `elapsed` seconds later if known."""
        if now.epoch != before.epoch or before.count == 0:
            return
        if now.count < before.count:
            raise Refused(
                "count fell",
                f"{now.sender!r} spoke of {before.count} samples, and now of {now.count}",
            )
        self._check_rate(before, now, elapsed)
        if self.steady:
            self._check_sums(before, now)
            self._check_jump(before, now)

    def _check_rate(self, before: Reply, now: Reply, elapsed: float | None) -> None:
        more = now.count - before.count
        if self.rate is None or elapsed is None or more <= self.rate * elapsed + self.burst:
            return
        raise Refused(
            "too fast",
            f"{now.sender!r} took {more} samples in {elapsed:g} s; at most {self.rate:g} a "
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
            raise Refused("contradiction", f"{now.sender!r} contradicts what it said before")

    def _check_jump(self, before: Reply, now: Reply) -> None:
        if before.shape is None or now.shape is None:
            return
        allowed = sum(
            Evidence(reply.mean, *reply.shape).radius(self.log_risk)
            for reply in (before, now)
            if reply.shape is not None
        )
        moved = abs(now.mean - before.mean)
        if moved > allowed:
            raise Refused(
                "jump",
                f"the mean of {now.sender!r} moved by {moved:g}, at most {allowed:g} is likely",
            )
