"""The samples of a run, block by block: the same numbers, whatever the blocks.

Lives here: counter-based random streams for a few thousand agents each, and the means they follow.
Must not know classes or algorithms.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from colme import _check
from colme.noise import NoiseLaw
from colme.problem.changes import MeanShift

Array = NDArray[np.float64]

_AGENTS_PER_PART = 4096
"""Agents that share a stream of random numbers: few enough that a block of theirs stays small.
Another number would give other samples for the same seed."""


@dataclass(eq=False)
class StreamPart:
    """The samples of a few thousand agents, one after the other.

    Attributes
    ----------
    noise, rng
        How samples scatter, and where the random numbers come from.
    first, last
        It serves the agents from `first` to before `last`.
    means
        The current mean of each agent; shifts are written into it.
    shifts
        When means change, in order of samples.
    n_drawn
        How many samples of each agent were drawn so far.

    Examples
    --------
    >>> from colme.noise import Bernoulli
    >>> rng, shifts = np.random.default_rng(0), deque([MeanShift(sample=1, agent=0, mean=1.0)])
    >>> part, out = StreamPart(Bernoulli(), rng, 0, 1, np.zeros(1), shifts), np.empty((3, 1))
    >>> part.fill(out)
    >>> out.tolist()
    [[0.0], [1.0], [1.0]]
    """

    noise: NoiseLaw
    rng: np.random.Generator
    first: int
    last: int
    means: Array
    shifts: deque[MeanShift]
    n_drawn: int = 0

    def fill(self, out: Array) -> None:
        """Write the next samples into out[sample, agent]."""
        means, end = self.means, self.n_drawn + len(out)
        while self.shifts and self.shifts[0].sample < end:
            shift = self.shifts.popleft()
            if means is self.means:
                means = np.tile(means, (len(out), 1))
            means[shift.sample - self.n_drawn :, shift.agent - self.first] = shift.mean
            self.means[shift.agent - self.first] = shift.mean
        block = out if out.flags.c_contiguous else np.empty(out.shape)
        self.noise.fill(self.rng, means, block)
        if block is not out:
            out[:] = block
        self.n_drawn = end


class SampleStream:
    """The samples of one run, taken block by block.

    Parameters
    ----------
    noise, true_means
        As in `colme.Problem`.
    shifts
        When means change; several shifts of one stream in order of time.
    run, seed
        Which random numbers are used.

    Attributes
    ----------
    parts
        Where the samples come from.  Different ones may be used by different threads.
    means
        The mean of each agent, after the samples taken so far.

    Examples
    --------
    >>> from colme import Problem
    >>> problem = Problem.gaussian([0.2, 0.8], n_agents=4, sigma=0.1)
    >>> stream = problem.sample_stream(run=3, seed=7)
    >>> blocks = np.concatenate([stream.take(2), stream.take(3)])
    >>> bool((blocks == problem.draw_run(5, run=3, seed=7)).all())
    True

    Notes
    -----
    Random numbers come from Philox-4x64: the key is made of seed and run, and the last word of the
    counter is the number of the part.  So each part can be started anywhere, and no two overlap.
    """

    def __init__(
        self,
        noise: NoiseLaw,
        true_means: Array,
        shifts: Iterable[MeanShift] = (),
        run: int = 0,
        seed: int = 0,
    ) -> None:
        self.n_agents, self.means = true_means.size, true_means.copy()
        of_agents = getattr(noise, "of_agents", None)
        # Noise that cannot be divided among parts is drawn for all agents at once.
        each = self.n_agents if of_agents is None else min(_AGENTS_PER_PART, self.n_agents)
        of_part: dict[int, deque[MeanShift]] = {}
        for shift in sorted(shifts, key=attrgetter("sample")):
            of_part.setdefault(shift.agent // each, deque()).append(shift)
        key = np.random.SeedSequence(seed, spawn_key=(run,)).generate_state(2, np.uint64)
        self.parts = []
        for number, first in enumerate(range(0, self.n_agents, each)):
            last = min(first + each, self.n_agents)
            own = noise if of_agents is None or each == self.n_agents else of_agents(first, last)
            rng = np.random.Generator(np.random.Philox(counter=[0, 0, 0, number], key=key))
            own_shifts = of_part.get(number, deque())
            part = StreamPart(own, rng, first, last, self.means[first:last], own_shifts)
            self.parts.append(part)

    def take(self, n_samples: int) -> Array:
        """Return the next samples, [sample, agent]."""
        out = np.empty((_check.positive_int("n_samples", n_samples), self.n_agents))
        for part in self.parts:
            part.fill(out[:, part.first : part.last])
        return out
