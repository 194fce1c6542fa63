"""Liars: what an agent may say of itself instead of the truth, to try out a fleet.

Lives here: functions from the true reply to the one that is told, always a valid one.  Must not
know who believes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from colme.messages import Reply

__all__ = ["LIES", "inflated", "randomly", "shifted", "tongue_of"]

Lie = Literal["shifted", "inflated", "random"]
Tongue: TypeAlias = Callable[[Reply], Reply]

LIES: tuple[Lie, ...] = ("shifted", "inflated", "random")
"""The ways to lie."""

_TIMES = 100
"""An inflated count is so many times the true one."""
_MOST = 2**53
"""Counts beyond are not whole numbers any more."""
_REACH = 10
"""A random count is at most so many times the true one."""


def shifted(reply: Reply, shift: float) -> Reply:
    """Return the reply of an agent that claims another mean.

    Examples
    --------
    >>> shifted(Reply("b", 0.5, 10), shift=0.25).mean
    0.75
    """
    return replace(reply, mean=reply.mean + shift)


def inflated(reply: Reply, shift: float) -> Reply:
    """Return the reply of an agent that claims another mean, and far more samples of it.

    Examples
    --------
    >>> inflated(Reply("b", 0.5, 10, squares=2.0, shape=(0.5, 1.0, 2.0)), shift=0.25)
    Reply(sender='b', mean=0.75, count=1000, squares=200.0, shape=(0.005, 1.0, 2.0), epoch=0)
    """
    return _claiming(shifted(reply, shift), min(_TIMES * reply.count, _MOST))


def randomly(reply: Reply, rng: np.random.Generator, low: float, high: float) -> Reply:
    """Return the reply of an agent that claims any mean in a range, and any count.

    Examples
    --------
    >>> reply = randomly(Reply("b", 0.5, 10), np.random.default_rng(0), 0.0, 1.0)
    >>> 0.0 <= reply.mean <= 1.0, 1 <= reply.count <= 100
    (True, True)
    """
    if reply.count == 0:
        return reply
    count = int(rng.integers(1, min(_REACH * reply.count, _MOST), endpoint=True))
    return _claiming(replace(reply, mean=float(rng.uniform(low, high))), count)


def tongue_of(lie: Lie, shift: float, low: float, high: float, seed: int, agent: int) -> Tongue:
    """Return what a liar says, given the truth.

    Parameters
    ----------
    lie
        How it lies.
    shift
        How far it moves its mean, if it does.
    low, high
        Between these lie the means of one that answers at random.
    seed, agent
        What its random answers depend on.

    Examples
    --------
    >>> tongue_of("shifted", 0.25, 0.0, 1.0, seed=1, agent=3)(Reply("b", 0.5, 10)).mean
    0.75
    """
    rng = np.random.default_rng([seed, agent])
    match lie:
        case "shifted":
            return lambda reply: shifted(reply, shift)
        case "inflated":
            return lambda reply: inflated(reply, shift)
        case "random":
            return lambda reply: randomly(reply, rng, low, high)
    raise ValueError(f"a lie is one of {', '.join(LIES)}; received {lie!r}")


def _claiming(reply: Reply, count: int) -> Reply:
    """Return the reply as if it were about so many samples that scatter alike."""
    if reply.count == 0:
        return reply
    times = count / reply.count
    squares = None if reply.squares is None else reply.squares * times
    shape = reply.shape
    if shape is not None:
        shape = (shape[0] / times, *shape[1:])
    return replace(reply, count=count, squares=squares, shape=shape)
