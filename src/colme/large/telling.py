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
from colme.views import Views, tell, told_by_counts

__all__ = ["Telling", "bytes_told"]

Array = NDArray[np.float64]


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
    return 8 * (1 + with_squares) if isinstance(bound, Counted) else 8 * len(Views._fields)


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
    batch
        How many samples each agent takes at each step.
    with_squares
        Whether Σ (x - x̄)² is told too.

    Examples
    --------
    >>> from colme import Problem
    >>> from colme.bounds import Laplace
    >>> flow = Problem.gaussian([0.0], n_agents=3, sigma=0.5).flow()
    >>> telling = Telling(flow, Laplace(0.5, 0.05), horizon=10, with_squares=False)
    >>> telling.open(4)
    >>> for number in range(telling.n_parts):
    ...     telling.fill(number)
    >>> telling.views.means.shape, telling.views.counts[2].tolist()
    ((3, 4), [1.0, 2.0, 3.0, 4.0])
    """

    def __init__(
        self, flow: Flow, bound: Bound, horizon: int, *, batch: int = 1, with_squares: bool
    ) -> None:
        if isinstance(bound, Restarted):
            raise ValueError(  # noqa: TRY004 - a wrong choice, not a wrong type
                "streams that restart are followed one by one, not block by block; received "
                f"{bound!r}: choose a window or a discount, or simulate fewer agents"
            )
        self._flow, self._bound, self._batch = flow, bound, batch
        self._with_squares = with_squares
        self._mean, self._square = np.zeros((2, flow.n_agents))
        self._memory = np.empty(0)
        self._streams: list[Stream[Any]] = []
        self._is_counted = isinstance(bound, Counted)
        if isinstance(bound, Counted):
            self._told = told_by_counts(bound, horizon * batch)[:, 0, batch - 1 :: batch]
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
        each = bytes_told(self._bound, with_squares=self._with_squares) // 8
        n_agents = self._flow.n_agents
        size = each * n_agents * n_steps
        if self._memory.size < size:
            self._memory = np.empty(0)  # the old piece goes before the new one comes
            self._memory = np.empty(size)
        fields = self._memory[:size].reshape(each, n_agents, n_steps)
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
        samples = np.empty((self._n_steps * self._batch, spring.last - spring.first))
        spring.fill(samples)
        if self._is_counted:
            self._fold(spring, samples)
        else:
            self._follow(spring, samples, self._streams[number])

    def _fold(self, spring: Spring, samples: Array) -> None:
        here = slice(spring.first, spring.last)
        means, squares = self.views.means[here], self.views.squares[here]
        every = np.empty((2, *samples.T.shape)) if self._batch > 1 else None
        if every is not None:
            means, squares = every
        summarise(
            samples,
            self._time * self._batch,
            self._mean[here],
            self._square[here],
            means,
            squares if self._with_squares else squares[:0],
        )
        if every is not None:
            self.views.means[here] = means[:, self._batch - 1 :: self._batch]
            if self._with_squares:
                self.views.squares[here] = squares[:, self._batch - 1 :: self._batch]

    def _follow(self, spring: Spring, samples: Array, stream: Stream[Any]) -> None:
        views, here = self.views, slice(spring.first, spring.last)
        log_risk = -math.log(self._bound.gamma)
        for step in range(self._n_steps):
            for sample in samples[step * self._batch : (step + 1) * self._batch]:
                stream.update(sample)
            told = tell(stream, log_risk)
            columns = (stream.mean, stream.count, *told, stream.squares, stream.epoch)
            for field, column in zip(views, columns, strict=True):
                field[here, step] = column
