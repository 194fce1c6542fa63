"""The samples of a run, block by block: the same numbers, whatever the blocks.

Lives here: counter-based streams for a few thousand agents each, and the means they follow.  Must
not know classes, arrivals or algorithms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme import _check
from colme.noise import Noise
from colme.problem.changes import Change

__all__ = ["Flow", "Spring"]

Array = NDArray[np.float64]

_AGENTS_PER_SPRING = 4096
"""So many agents share a stream of random numbers: few enough that a block of theirs stays small,
and never another number, or the same seed would give other samples."""


class Spring:
    """The samples of a few thousand agents, one step after the other.

    Attributes
    ----------
    first, last
        It serves the agents from `first` to before `last`.

    Examples
    --------
    >>> from colme.noise import Bernoulli
    >>> rng = np.random.default_rng(0)
    >>> spring = Spring(Bernoulli(), rng, 0, np.zeros(1), [Change(2, [0], 1.0)])
    >>> out = np.empty((3, 1))
    >>> spring.fill(out)
    >>> out.tolist()
    [[0.0], [1.0], [1.0]]
    """

    def __init__(
        self,
        noise: Noise,
        rng: np.random.Generator,
        first: int,
        true_means: Array,
        changes: Sequence[Change] = (),
    ) -> None:
        self.first, self.last = first, first + true_means.size
        self.noise, self.rng = noise, rng
        self._means = true_means.copy()
        self._changes = changes
        self._applied = 0
        self._time = 0

    def fill(self, out: Array) -> None:
        """Write the samples of the next steps into out[time, agent]."""
        n_steps = len(out)
        done = 0
        while done < n_steps:
            until = min(n_steps, self._change_by(self._time + done + 1) - self._time)
            self.noise.fill(self.rng, self._means, out[done:until])
            done = until
        self._time += n_steps

    def _change_by(self, step: int) -> int:
        """Apply what has changed by that step; return the last step before the next change."""
        for change in self._changes[self._applied :]:
            if change.time > step:
                return change.time - 1
            agents = np.array(change.agents)
            here = agents[(agents >= self.first) & (agents < self.last)]
            self._means[here - self.first] = change.mean
            self._applied += 1
        return np.iinfo(np.int64).max


class Flow:
    """The samples of one run, taken block by block.

    Attributes
    ----------
    springs
        Where they come from.  Different ones may be used by different threads.

    Examples
    --------
    >>> from colme import Problem
    >>> problem = Problem.gaussian([0.2, 0.8], n_agents=4, sigma=0.1)
    >>> flow = problem.flow(run=3, seed=7)
    >>> blocks = np.concatenate([flow.take(2), flow.take(3)])
    >>> bool((blocks == problem.draw_run(5, run=3, seed=7)).all())
    True

    Notes
    -----
    Random numbers come from Philox-4x64: the key is made of seed and run, and the last word of the
    counter is the number of the spring, so each can be started anywhere and none overlap.
    """

    def __init__(
        self,
        noise: Noise,
        true_means: Array,
        changes: Sequence[Change] = (),
        run: int = 0,
        seed: int = 0,
    ) -> None:
        self.n_agents = true_means.size
        # Noise that cannot be shared out is drawn for all agents at once.
        each = _AGENTS_PER_SPRING if hasattr(noise, "of_agents") else self.n_agents
        key = np.random.SeedSequence(seed, spawn_key=(run,)).generate_state(2, np.uint64)
        self.springs = []
        for number, first in enumerate(range(0, self.n_agents, each)):
            last = min(first + each, self.n_agents)
            self.springs.append(
                Spring(
                    _of_agents(noise, first, last),
                    _generator(key, number),
                    first,
                    true_means[first:last],
                    changes,
                )
            )

    def take(self, n_steps: int) -> Array:
        """Return the samples of the next steps, [time, agent]."""
        out = np.empty((_check.positive_int("n_steps", n_steps), self.n_agents))
        self.fill(out)
        return out

    def fill(self, out: Array) -> None:
        """Write the samples of the next steps into out[time, agent]."""
        for spring, here in self._places(out):
            spring.fill(here)

    def fill_around(self, means: Array, out: Array) -> None:
        """Write samples around means[time, agent] of their own into out[time, agent]."""
        for spring, here in self._places(out):
            spring.noise.fill(spring.rng, means[:, spring.first : spring.last], here)

    def _places(self, out: Array) -> Iterator[tuple[Spring, Array]]:
        """Yield each spring with a piece of memory in one piece, which goes to its columns."""
        for spring in self.springs:
            here = out[:, spring.first : spring.last]
            part = here if here.flags.c_contiguous else np.empty(here.shape)
            yield spring, part
            if part is not here:
                here[:] = part


def _of_agents(noise: Any, first: int, last: int) -> Noise:
    shared: Noise = noise.of_agents(first, last) if hasattr(noise, "of_agents") else noise
    return shared


def _generator(key: NDArray[Any], number: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(counter=[0, 0, 0, number], key=key))
