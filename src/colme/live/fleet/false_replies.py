"""Lies: what an agent may say of itself instead of the truth, to try out a fleet.

Lives here: functions from the true reply to a false one, always a valid one.  Must not know who
believes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from colme.live.fleet.fleet_settings import Lie
from colme.messages import Reply

ReplyFilter: TypeAlias = Callable[[Reply], Reply]

_INFLATION = 100
"""How many times the true count an inflated one is."""
_LARGEST_COUNT = 2**53
"""Larger counts are not exact in floating point."""
_REACH = 10
"""A random count is at most this many times the true one."""


def reply_filter(
    lie: Lie, shift: float, low: float, high: float, seed: int, agent: int
) -> ReplyFilter:
    """Return a function from the true reply of a liar to its false one.

    Parameters
    ----------
    lie
        shifted (another mean), inflated (another mean, and far more samples) or random (any mean,
        any count).
    shift
        By how much the mean is moved, unless it is random.
    low, high
        Ends of the range of random means.
    seed, agent
        What random replies depend on.

    Examples
    --------
    >>> reply = Reply("b", 0.5, 10, squares=2.0)
    >>> reply_filter("shifted", 0.25, 0.0, 1.0, seed=1, agent=3)(reply).mean
    0.75
    >>> reply_filter("inflated", 0.25, 0.0, 1.0, seed=1, agent=3)(reply).count
    1000
    """
    rng = np.random.default_rng([seed, agent])

    def shifted(reply: Reply) -> Reply:
        return replace(reply, mean=reply.mean + shift)

    def inflated(reply: Reply) -> Reply:
        return _with_count(shifted(reply), min(_INFLATION * reply.count, _LARGEST_COUNT))

    def random(reply: Reply) -> Reply:
        if reply.count == 0:
            return reply
        most = min(_REACH * reply.count, _LARGEST_COUNT)
        count = int(rng.integers(1, most, endpoint=True))
        return _with_count(replace(reply, mean=float(rng.uniform(low, high))), count)

    return {"shifted": shifted, "inflated": inflated, "random": random}[lie]


def _with_count(reply: Reply, count: int) -> Reply:
    """Return the reply as if it were about another number of samples with the same variance."""
    if reply.count == 0:
        return reply
    times = count / reply.count
    squares = None if reply.squares is None else reply.squares * times
    shape = reply.shape
    if shape is not None:
        shape = (shape[0] / times, *shape[1:])
    return replace(reply, count=count, squares=squares, shape=shape)
