"""The world of a demonstration fleet: a problem in plain values, and the samples that it gives.

Lives here: how a problem travels to another process, and the stream of each agent there.  Must not
know agents, nodes or networks.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Literal, Self

import numpy as np

from colme._settings import Table
from colme.live.pace import running_clock
from colme.noise import Bernoulli, Beta, Gaussian, Noise, Uniform
from colme.problem import Change, Problem

__all__ = ["BLOCK", "Stream", "World"]

BLOCK = 256
"""So many samples of a stream are drawn at once: a seed of its own for each block."""

_KINDS: dict[type, Literal["gaussian", "bernoulli", "uniform", "beta"]] = {
    Gaussian: "gaussian",
    Bernoulli: "bernoulli",
    Uniform: "uniform",
    Beta: "beta",
}
_MAKERS: dict[str, Callable[..., Noise]] = {kind: make for make, kind in _KINDS.items()}


class World(Table):
    """A problem in plain values, with the seed of its samples.

    Examples
    --------
    >>> problem = Problem.gaussian([0.2, 0.8], class_sizes=[1, 2], sigma=0.5)
    >>> World.of(problem, seed=1).problem().true_means.tolist()
    [0.2, 0.8, 0.8]
    """

    labels: tuple[int, ...]
    means: tuple[float, ...]
    noise: Literal["gaussian", "bernoulli", "uniform", "beta"]
    parameters: tuple[float | tuple[float, ...], ...]
    changes: tuple[tuple[int, tuple[int, ...], float], ...]
    seed: int

    @classmethod
    def of(cls, problem: Problem, seed: int) -> Self:
        """Return the world of a problem; refuse noise that cannot be told to another process."""
        kind = _KINDS.get(type(problem.noise))
        if kind is None:
            raise ValueError(
                "a fleet of processes knows gaussian, bernoulli, uniform and beta noise; received "
                f"{type(problem.noise).__name__}: run nodes of your own with it, in one process"
            )
        return cls(
            labels=tuple(problem.labels.tolist()),
            means=tuple(problem.true_means.tolist()),
            noise=kind,
            parameters=_parameters(problem.noise),
            changes=tuple((one.time, one.agents, one.mean) for one in problem.changes),
            seed=seed,
        )

    def problem(self) -> Problem:
        """Return the problem."""
        changes = [Change(*change) for change in self.changes]
        return Problem(self.labels, self.means, _MAKERS[self.noise](*self.parameters), changes)


def _parameters(noise: Noise) -> tuple[float | tuple[float, ...], ...]:
    match noise:
        case Gaussian():
            return (noise.sigmas or noise.sigma,)
        case Uniform():
            return (noise.half_width,)
        case Beta():
            return (noise.concentration, noise.low, noise.high)
    return ()


class Stream:
    """The samples of one agent: each a function of the seed, the agent and its number alone.

    Parameters
    ----------
    problem, seed
        What the samples are drawn from.
    agent
        Whose samples.
    interval
        Seconds from one sample to the next.
    length
        How many there are; None: no end.

    Examples
    --------
    >>> problem = Problem.gaussian([0.2, 0.8], class_sizes=[1, 2], sigma=0.5)
    >>> stream = Stream(problem, seed=1, agent=2, interval=0.0, length=300)
    >>> async def samples(n):
    ...     return [sample async for sample in stream.after(n)]
    >>> all_of_them = asyncio.run(samples(0))
    >>> len(all_of_them), all_of_them[255:] == asyncio.run(samples(255))
    (300, True)
    """

    def __init__(
        self, problem: Problem, seed: int, agent: int, interval: float, length: int | None = None
    ) -> None:
        self._seed, self._agent = seed, agent
        self._interval, self._length = interval, length
        sigmas = getattr(problem.noise, "sigmas", ())
        noise = Gaussian(sigmas[agent]) if sigmas else problem.noise
        changes = [
            Change(one.time, [0], one.mean) for one in problem.changes if agent in one.agents
        ]
        self._problem = Problem([0], problem.true_means[[agent]], noise, changes)

    def block(self, number: int) -> list[float]:
        """Return the samples of a block, counted from 0."""
        times = np.arange(number * BLOCK, (number + 1) * BLOCK) + 1
        rng = np.random.default_rng([self._seed, self._agent, number])
        drawn = np.empty((BLOCK, 1))
        self._problem.noise.fill(rng, self._problem.true_means_at(times), drawn)
        samples: list[float] = drawn[:, 0].tolist()
        return samples

    async def after(self, n: int) -> AsyncIterator[float]:
        """Give the samples after the n-th, each when it is due; those overdue at once."""
        begin, number, block = running_clock(), -1, []
        for i in range(n, 2**53 if self._length is None else self._length):
            if i // BLOCK != number:
                number = i // BLOCK
                block = self.block(number)
            due = begin + (i - n + 1) * self._interval
            await asyncio.sleep(max(0.0, due - running_clock()))
            yield block[i % BLOCK]
