"""How long a large simulation will take, from a small one.

Lives here: a trial on a few agents, and what follows from it for many.  Must not know memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from colme.noise import NoiseLaw
from colme.problem import Problem

_MOST_AGENTS = 1500
_MOST_THAT_KNOW_ALL = 400
_MOST_STEPS = 300
_GROWTH = 1.6
"""How much longer a step takes in a fleet that no cache holds than in a small one."""
_LARGE = 100_000
"""Agents from which on no cache holds them."""

Run = Callable[[Problem, int], object]
"""Simulates a problem for a number of steps."""


def part_of(problem: Problem, n_agents: int) -> Problem:
    """Return the first agents of a problem, or all if noise forbids it, without changes.

    Examples
    --------
    >>> part_of(Problem.bernoulli([0.2, 0.8], n_agents=50), 7).n_agents
    7
    """
    share: Callable[[int, int], NoiseLaw] | None = getattr(problem.noise, "of_agents", None)
    if n_agents >= problem.n_agents or share is None:
        return Problem(problem.labels, problem.true_means, problem.noise)
    labels = problem.labels[:n_agents]
    return Problem(labels, problem.true_means[:n_agents], share(0, n_agents))


def seconds_of(
    run: Run, problem: Problem, horizon: int, runs: int, *, knows_all: bool = False
) -> float:
    """Return about how many seconds runs of a problem take, from one with few agents and steps.

    The first, very short trial also compiles; only the second is timed.

    Examples
    --------
    >>> problem = Problem.bernoulli([0.2, 0.8], n_agents=50)
    >>> seconds_of(lambda problem, horizon: time.sleep(0.01), problem, horizon=10, runs=7) > 0.06
    True
    """
    most = _MOST_THAT_KNOW_ALL if knows_all else _MOST_AGENTS
    small, steps = part_of(problem, most), min(horizon, _MOST_STEPS)
    run(small, 2)
    start = time.perf_counter()
    run(small, steps)
    taken = time.perf_counter() - start
    larger = problem.n_agents / small.n_agents
    growth = _GROWTH ** np.clip(np.log(larger) / np.log(_LARGE / _MOST_AGENTS), 0.0, 1.0)
    work = larger * (larger if knows_all else 1.0) * (horizon / steps) * runs
    return float(taken * work * growth)
