"""Between a stream, what an agent says of it, and what its peers make of that.

Lives here: a stream becomes a reply, a reply becomes a view at the reader's own risk.  Must not
know what is done with either.
"""

from __future__ import annotations

import math
from dataclasses import replace

from colme.bounds import Bound, Evidence, Stream
from colme.messages import Reply
from colme.model import Model, mean_precision
from colme.summary import View


def reply_of(sender: str, stream: Stream[float]) -> Reply:
    """Return what an agent says of its own stream: the public view of it.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> stream = Laplace(sigma=0.5, gamma=0.05).stream()
    >>> stream.update(0.25)
    >>> reply_of("a", stream).mean
    0.25
    """
    evidence = stream.evidence.around(stream.mean)
    return Reply(
        sender,
        mean=stream.mean,
        count=stream.count,
        squares=stream.squares,
        shape=(evidence.spread, evidence.slope, float(evidence.offset)),
        epoch=int(stream.epoch),
        variance=stream.variance,
    )


def completed(reply: Reply, bound: Bound) -> Reply:
    """Return the reply with what its sender left out, taken from the reader's own bound.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> completed(Reply("b", mean=0.5, count=3), Laplace(sigma=0.5, gamma=0.05)).squares
    0.5
    """
    if reply.count == 0:
        return reply
    if reply.variance is None and reply.shape is not None:
        reply = replace(reply, variance=math.inf)  # of another bound than the reader's, perhaps
    if reply.squares is not None and reply.shape is not None:
        return reply
    shape = getattr(bound, "shape", None)
    if shape is None:
        raise ValueError(
            f"the reply of {reply.sender!r} carries no evidence, and the agent's own bound, "
            f"{type(bound).__name__}, cannot stand in: let it answer with squares and shape"
        )
    squares = (reply.count - 1) * bound.scale**2
    return replace(
        reply,
        squares=squares if reply.squares is None else reply.squares,
        shape=shape(reply.count) if reply.shape is None else reply.shape,
        variance=bound.variance if reply.variance is None else reply.variance,
    )


def view_of(reply: Reply, log_risk: float, model: Model, price: float = 0.0) -> View[float]:
    """Return how an agent with that model of the noise reads a complete reply, at its risk γ.

    An agent that tests this sender at a smaller risk γ_j pays the price ln(γ/γ_j): that much more
    evidence is needed, in every test and in the radius.

    Examples
    --------
    >>> reply = Reply("b", mean=0.5, count=3, squares=0.5, shape=(0.125, float("inf"), 1.0))
    >>> view_of(reply, log_risk=1.0, model=Model.blank()).radius == (2 * 0.125 * 2.0) ** 0.5
    True
    >>> view_of(reply, log_risk=1.0, model=Model.blank(), price=0.5).offset
    1.5
    >>> view_of(Reply("b", 0.0, 0), log_risk=1.0, model=Model.blank()) == View()
    True
    """
    if reply.count == 0 or reply.squares is None or reply.shape is None:
        return View(epoch=reply.epoch)
    spread, slope, offset = reply.shape
    evidence = Evidence(reply.mean, spread, slope, offset + price)
    precision = mean_precision(reply.count, reply.squares, model)
    return View(
        mean=reply.mean,
        n_samples=reply.count,
        radius=evidence.radius(log_risk),
        precision=precision,
        spread=spread,
        slope=slope,
        offset=evidence.offset,
        squares=reply.squares,
        epoch=reply.epoch,
        variance=math.inf if reply.variance is None else reply.variance,
    )
