"""The problem of a demonstration fleet: in plain values, and as one stream of samples per agent.

Lives here: how a problem is sent to another process, and what each agent samples there.  Must not
know agents, nodes or networks.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import PlainSerializer, PlainValidator

from colme._settings import Table
from colme.live.schedule import running_clock
from colme.noise import Bernoulli, Beta, Gaussian, NoiseLaw, Uniform
from colme.problem import Change, Problem

BLOCK = 256
"""Samples of a stream that are drawn at once, each block with its own seed."""

_PARAMETERS: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    Gaussian: lambda noise: (noise.sigmas or noise.sigma,),
    Bernoulli: lambda _: (),
    Uniform: lambda noise: (noise.half_width,),
    Beta: lambda noise: (noise.concentration, noise.low, noise.high),
}
"""The kinds of noise that can be written down, and the arguments that make each of them."""
_KINDS: dict[str, type] = {kind.__name__.lower(): kind for kind in _PARAMETERS}


class ProblemRecord(Table):
    """A problem in plain values.

    Examples
    --------
    >>> problem = Problem.gaussian([0.2, 0.8], class_sizes=[1, 2], sigma=0.5)
    >>> ProblemRecord.of(problem).problem().true_means.tolist()
    [0.2, 0.8, 0.8]
    """

    labels: tuple[int, ...]
    means: tuple[float, ...]
    noise: Literal["gaussian", "bernoulli", "uniform", "beta"]
    parameters: tuple[float | tuple[float, ...], ...]
    changes: tuple[tuple[int, tuple[int, ...], float], ...]

    @classmethod
    def of(cls, problem: Problem) -> Self:
        """Write a problem down; refuse noise that cannot be sent to another process."""
        kind = type(problem.noise)
        if kind not in _PARAMETERS:
            raise ValueError(
                f"a fleet of processes supports {', '.join(_KINDS)} noise; received "
                f"{kind.__name__}: run nodes of your own with it, in one process"
            )
        return cls.make(
            {
                "labels": problem.labels.tolist(),
                "means": problem.true_means.tolist(),
                "noise": kind.__name__.lower(),
                "parameters": _PARAMETERS[kind](problem.noise),
                "changes": [(one.time, one.agents, one.mean) for one in problem.changes],
            }
        )

    def problem(self) -> Problem:
        """Return the problem."""
        noise: NoiseLaw = _KINDS[self.noise](*self.parameters)
        return Problem(self.labels, self.means, noise, [Change(*one) for one in self.changes])


def _problem_of(value: Problem | dict[str, Any]) -> Problem:
    return value if isinstance(value, Problem) else ProblemRecord.make(value).problem()


ProblemField = Annotated[
    Problem,
    PlainValidator(_problem_of),
    PlainSerializer(ProblemRecord.of, return_type=ProblemRecord),
]
"""A problem among settings, which are written down and read again."""


@dataclass(eq=False)
class AgentStream:
    """The samples of one agent: each depends on the seed, the agent and its number alone.

    Parameters
    ----------
    problem, seed
        What the samples are drawn from.
    agent
        Whose samples.
    interval
        Seconds from one sample to the next.
    length
        Number of samples; None: no end.

    Examples
    --------
    >>> problem = Problem.gaussian([0.2, 0.8], class_sizes=[1, 2], sigma=0.5)
    >>> stream = AgentStream(problem, seed=1, agent=2, interval=0.0, length=300)
    >>> async def samples(n):
    ...     return [sample async for sample in stream.after(n)]
    >>> all_of_them = asyncio.run(samples(0))
    >>> len(all_of_them), all_of_them[255:] == asyncio.run(samples(255))
    (300, True)
    """

    problem: Problem
    seed: int
    agent: int
    interval: float
    length: int | None = None

    def __post_init__(self) -> None:
        whole, agent = self.problem, self.agent
        sigmas = getattr(whole.noise, "sigmas", ())
        noise = Gaussian(sigmas[agent]) if sigmas else whole.noise
        changes = [Change(one.time, [0], one.mean) for one in whole.changes if agent in one.agents]
        self._own = Problem([0], whole.true_means[[agent]], noise, changes)

    def block(self, number: int) -> list[float]:
        """Return the samples of a block, counted from 0."""
        times = np.arange(number * BLOCK, (number + 1) * BLOCK) + 1
        rng = np.random.default_rng([self.seed, self.agent, number])
        drawn = np.empty((BLOCK, 1))
        self._own.noise.fill(rng, self._own.true_means_at(times), drawn)
        samples: list[float] = drawn[:, 0].tolist()
        return samples

    async def after(self, n: int) -> AsyncIterator[float]:
        """Give the samples after the n-th, each when it is due; overdue ones at once."""
        begin, number, block = running_clock(), -1, []
        for i in range(n, 2**53 if self.length is None else self.length):
            if i // BLOCK != number:
                number = i // BLOCK
                block = self.block(number)
            due = begin + (i - n + 1) * self.interval
            await asyncio.sleep(max(0.0, due - running_clock()))
            yield block[i % BLOCK]
