"""What every agent says about itself, block by block.

Lives here: samples drawn and folded for a block of time, in the layouts that the loops read.  Must
not know peers, labels or algorithms.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme.bounds import Bound, Restarted, Stream
from colme.bounds.counted import Counted
from colme.folding import summarise
from colme.problem.flow import Flow, Spring
from colme.views import BYTES_PER_VIEW, Views, tell, told_by_counts

__all__ = ["Telling", "bytes_told"]

Array = NDArray[np.float64]

_BYTES_DRAWN = 4 << 20
"""Samples that are drawn before they are folded."""


def bytes_told(bound: Bound, *, with_squares: bool) -> int:
    """Return how many bytes one agent's view at one step takes.

    Examples
    --------
    >>> from colme.bounds import Laplace, Windowed
    >>> bytes_told(Laplace(0.5, 0.05), with_squares=True)
    16
    >>> bytes_told(Windowed(Laplace(0.5, 0.05), length=10), with_squares=True)
    64
    """
    return 8 * (1 + with_squares) if isinstance(bound, Counted) else BYTES_PER_VIEW


class Telling:
    """The views of one run, a block after the other, for agents of one bound.

    Parameters
    ----------
    flow
        Where the samples come from.
    bound
        How far the mean of a stream may be off.
    horizon
        How many steps there are in all.
    longest
        How many steps the longest block has.
    batch
        How many samples each agent takes at each step; the flow knows.
    with_squares
        Whether Σ (x - x̄)² is told too.

    Examples
    --------
    >>> from colme import Problem
    >>> from colme.bounds import Laplace
    >>> flow = Problem.gaussian([0.0], n_agents=3, sigma=0.5).flow()
    >>> telling = Telling(flow, Laplace(0.5, 0.05), horizon=10, longest=4, with_squares=False)
    >>> telling.open(4)
    >>> for number in range(telling.n_parts):
    ...     telling.fill(number)
    >>> telling.views.means.shape, telling.views.counts[2].tolist()
    ((3, 4), [1.0, 2.0, 3.0, 4.0])
    """

    def __init__(
        self,
        flow: Flow,
        bound: Bound,
        horizon: int,
        *,
        longest: int,
        batch: int = 1,
        with_squares: bool,
    ) -> None:
        if isinstance(bound, Restarted):
            raise ValueError(  # noqa: TRY004 - a wrong choice, not a wrong type
                "streams that restart are followed one by one, not block by block; received "
                f"{bound!r}: choose a window or a discount, or simulate fewer agents"
            )
        self._flow, self._bound, self._batch = flow, bound, batch
        self._with_squares = with_squares
        self._mean, self._square = np.zeros((2, flow.n_agents))
        self._each = bytes_told(bound, with_squares=with_squares) // 8
        self._memory = np.empty(self._each * flow.n_agents * longest)
        self._streams: list[Stream[Any]] = []
        self._is_counted = isinstance(bound, Counted)
        if isinstance(bound, Counted):
            self._told = told_by_counts(bound, horizon, batch)[:, 0]
        else:
            self._streams = [bound.stream(one.last - one.first) for one in flow.springs]
        self._time = self._n_steps = 0

    @property
    def n_parts(self) -> int:
        """In how many parts a block is filled, by one thread each."""
        return len(self._flow.springs)

    def open(self, n_steps: int) -> None:
        """Begin the next block of time; its views are there once all parts are filled."""
        self._time += self._n_steps
        self._n_steps = n_steps
        shape = self._each, self._flow.n_agents, n_steps
        fields = self._memory[: math.prod(shape)].reshape(shape)
        self.views = self._shared(fields) if self._is_counted else Views(*fields)

    def _shared(self, fields: Array) -> Views:
        """Return views of which counts, shapes and epochs are the same for all agents."""
        shape = fields.shape[1:]
        here = slice(self._time, self._time + self._n_steps)
        counts = np.arange(here.start + 1.0, here.stop + 1.0) * self._batch
        counts = np.broadcast_to(counts, shape)
        radii, spreads, slopes, offsets = np.broadcast_to(
            self._told[:, np.newaxis, here], (4, *shape)
        )
        # What nobody looks at takes no memory: these zeros are never written.
        squares = fields[1] if self._with_squares else np.zeros(shape)
        epochs = np.broadcast_to(0.0, shape)
        return Views(fields[0], counts, radii, spreads, slopes, offsets, squares, epochs)

    def fill(self, number: int) -> None:
        """Draw and fold the samples of one part; different parts by different threads."""
        spring = self._flow.springs[number]
        n_agents, n_samples = spring.last - spring.first, self._n_steps * self._batch
        at_once = max(1, _BYTES_DRAWN // (8 * n_agents))
        for before in range(0, n_samples, at_once):
            samples = np.empty((min(at_once, n_samples - before), n_agents))
            spring.fill(samples)
            if self._is_counted:
                self._fold(spring, samples, before)
            else:
                self._follow(spring, samples, before, self._streams[number])

    def _fold(self, spring: Spring, samples: Array, before: int) -> None:
        """Fold samples of a block, so many after its first one."""
        here = slice(spring.first, spring.last)
        views, batch = (self.views.means[here], self.views.squares[here]), self._batch
        # What comes sample by sample for a whole block is written where it belongs at once.
        is_whole = batch == 1 and len(samples) == self._n_steps
        every = views if is_whole else np.empty((2, *samples.T.shape))
        summarise(
            samples,
            self._time * batch + before,
            self._mean[here],
            self._square[here],
            every[0],
            every[1] if self._with_squares else every[1][:0],
        )
        if is_whole:
            return
        first = -(before + 1) % batch  # the first of them that ends a step
        for view, told in zip(views, every[: 1 + self._with_squares], strict=False):
            ends = told[:, first::batch]
            step = (before + first) // batch
            view[:, step : step + ends.shape[1]] = ends

    def _follow(self, spring: Spring, samples: Array, before: int, stream: Stream[Any]) -> None:
        views, here = self.views, slice(spring.first, spring.last)
        log_risk = -math.log(self._bound.gamma)
        for number, sample in enumerate(samples, start=before + 1):
            stream.update(sample)
            if number % self._batch:
                continue
            told = tell(stream, log_risk)
            columns = (stream.mean, stream.count, *told, stream.squares, stream.epoch)
            for field, column in zip(views, columns, strict=True):
                field[here, number // self._batch - 1] = column
