"""The samples of a run, block by block: the same numbers, whatever the blocks.

Lives here: counter-based random streams for a few thousand agents each, and the means they follow.
Must not know classes or algorithms.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from operator import attrgetter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check
from colme.arrivals import check_arrivals
from colme.noise import NoiseLaw
from colme.problem.changes import Change, MeanShift, check_horizon, mean_shifts

Array = NDArray[np.float64]

_AGENTS_PER_PART = 4096
"""Agents that share a stream of random numbers: few enough that a block of theirs stays small.
Another number would give other samples for the same seed."""


class StreamPart:
    """The samples of a few thousand agents, one after the other.

    Parameters
    ----------
    noise, rng
        How samples scatter, and where the random numbers come from.
    first
        The number of the first agent.
    means
        The current mean of each agent; shifts are written into it.
    shifts
        When means change, in order of samples.

    Attributes
    ----------
    first, last
        It serves the agents from `first` to before `last`.

    Examples
    --------
    >>> from colme.noise import Bernoulli
    >>> rng, shifts = np.random.default_rng(0), [MeanShift(sample=1, agent=0, mean=1.0)]
    >>> part, out = StreamPart(Bernoulli(), rng, 0, np.zeros(1), shifts), np.empty((3, 1))
    >>> part.fill(out)
    >>> out.tolist()
    [[0.0], [1.0], [1.0]]
    """

    def __init__(
        self,
        noise: NoiseLaw,
        rng: np.random.Generator,
        first: int,
        means: Array,
        shifts: Iterable[MeanShift] = (),
    ) -> None:
        self.first, self.last = first, first + means.size
        self._noise, self._rng, self._means = noise, rng, means
        self._shifts = deque(shifts)
        self._n_drawn = 0

    def fill(self, out: Array) -> None:
        """Write the next samples into out[sample, agent], which must be contiguous."""
        means, end = self._means, self._n_drawn + len(out)
        while self._shifts and self._shifts[0].sample < end:
            shift = self._shifts.popleft()
            if means is self._means:
                means = np.tile(means, (len(out), 1))
            means[shift.sample - self._n_drawn :, shift.agent - self.first] = shift.mean
            self._means[shift.agent - self.first] = shift.mean
        self._noise.fill(self._rng, means, out)
        self._n_drawn = end


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
        each = self.n_agents if of_agents is None else _AGENTS_PER_PART
        of_part: dict[int, list[MeanShift]] = {}
        for shift in sorted(shifts, key=attrgetter("sample")):
            of_part.setdefault(shift.agent // each, []).append(shift)
        key = np.random.SeedSequence(seed, spawn_key=(run,)).generate_state(2, np.uint64)
        self.parts = []
        for number, first in enumerate(range(0, self.n_agents, each)):
            means = self.means[first : first + each]
            own = noise if of_agents is None else of_agents(first, first + means.size)
            philox = np.random.Philox(counter=[0, 0, 0, number], key=key)
            rng = np.random.Generator(philox)
            self.parts.append(StreamPart(own, rng, first, means, of_part.get(number, ())))

    def take(self, n_samples: int) -> Array:
        """Return the next samples, [sample, agent]."""
        out = np.empty((_check.positive_int("n_samples", n_samples), self.n_agents))
        self.fill(out)
        return out

    def fill(self, out: Array) -> None:
        """Write the next samples into out[sample, agent]."""
        for part in self.parts:
            columns = out[:, part.first : part.last]
            block = columns if columns.flags.c_contiguous else np.empty(columns.shape)
            part.fill(block)
            if block is not columns:
                columns[:] = block


def draw_runs(
    noise: NoiseLaw,
    true_means: Array,
    changes: Sequence[Change],
    runs: Sequence[int],
    horizon: int,
    seed: int,
    arrivals: ArrayLike | None,
) -> Array:
    """Return samples[run, sample, agent] of the given runs: see `colme.Problem.draw`.

    Examples
    --------
    >>> from colme.noise import Bernoulli
    >>> draw_runs(Bernoulli(), np.zeros(2), [Change(2, [0], 1.0)], [0], 3, 0, None).tolist()
    [[[0.0, 0.0], [1.0, 0.0], [1.0, 0.0]]]
    """
    lengths = [check_horizon(horizon, changes)]
    counts: Sequence[NDArray[np.int32] | None] = [None]
    if arrivals is not None:
        arrived = check_arrivals(arrivals, len(runs), true_means.size, horizon)
        lengths = [max(1, int(one.sum(axis=0, dtype=np.int64).max())) for one in arrived]
        counts = list(arrived)
    samples = np.empty((len(runs), max(lengths), true_means.size))
    for i, run in enumerate(runs):
        length, arriving = lengths[i % len(lengths)], counts[i % len(counts)]
        shifts = mean_shifts(changes, arrivals=arriving)
        stream = SampleStream(noise, true_means, shifts, run, seed)
        stream.fill(samples[i, :length])
        samples[i, length:] = stream.means  # another run has longer streams
    return samples
