"""Lies: what an agent may say of itself instead of the truth, to try out a fleet.

Lives here: functions from the true reply to a false one, always a valid one.  Must not know who
believes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from colme.live.fleet.fleet_settings import FleetSettings
from colme.messages import Reply

ReplyFilter: TypeAlias = Callable[[Reply], Reply]

_INFLATION = 100
"""How many times the true count an inflated one is."""
_LARGEST_COUNT = 2**53
"""Larger counts are not exact in floating point."""
_REACH = 10
"""A random count is at most this many times the true one."""


def reply_filter(settings: FleetSettings, agent: int) -> ReplyFilter | None:
    """Return a function from the true reply of an agent to its false one; None: it does not lie.

    Random means are those of the problem, or at most `shift` beyond them.

    Examples
    --------
    >>> from colme.problem import Problem
    >>> problem = Problem.gaussian([0.2], n_agents=3, sigma=0.5)
    >>> settings = FleetSettings(problem=problem, liars=1.0, lie="inflated", shift=0.25)
    >>> false = reply_filter(settings, agent=2)(Reply("2", 0.5, 10, squares=2.0))
    >>> false.mean, false.count
    (0.75, 1000)
    """
    if agent not in settings.liar_numbers:
        return None
    shift, means = settings.shift, settings.problem.true_means
    low, high = float(means.min()) - abs(shift), float(means.max()) + abs(shift)
    rng = np.random.default_rng([settings.seed, agent])

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

    return {"shifted": shifted, "inflated": inflated, "random": random}[settings.lie]


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
