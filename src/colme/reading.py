"""How an agent reads what is said: a reply becomes a view, at the agent's own risk.

Lives here: filling in what a reply leaves out, and reading it.  Must not know what is done with it.
"""

from __future__ import annotations

from dataclasses import replace

from colme.bounds import Bound, Evidence
from colme.messages import Reply
from colme.model import Model, mean_precision
from colme.summary import View

__all__ = ["completed", "view_of"]


def completed(reply: Reply, bound: Bound) -> Reply:
    """Return the reply with what its sender left out, as if it had the reader's bound.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> completed(Reply("b", mean=0.5, count=3), Laplace(sigma=0.5, gamma=0.05)).squares
    0.5
    """
    if reply.count == 0 or (reply.squares is not None and reply.shape is not None):
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
    )


def view_of(reply: Reply, log_risk: float, model: Model, price: float = 0.0) -> View:
    """Return what a complete reply says, with risk γ, to an agent with that model of the noise.

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
    told = (spread, slope, evidence.offset, reply.squares, reply.epoch)
    return View(reply.mean, reply.count, evidence.radius(log_risk), precision, *told)
