"""The views of every agent, one block of time after the other.

Lives here: samples, given or drawn, folded into the columns that the compiled loop reads.  Must not
know peers, labels or algorithms, nor how any bound folds its samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme.bounds import Bound
from colme.bounds.counted import views_by_count
from colme.bounds.protocol import Folder
from colme.problem.sample_stream import SampleStream, StreamPart
from colme.summary.folders import RunFolder, count_arrived, joint_folder
from colme.view import View

Array: TypeAlias = NDArray[np.float64]

BYTES_PER_VIEW = 8 * (len(View._fields) - 1)
"""What the view of one agent at one step takes if agents share nothing; precisions take nothing."""

_BYTES_DRAWN = 4 << 20
"""Samples that are drawn before they are folded."""

_AGENTS_PER_PART = 64
"""Agents whose given samples are folded by one thread: some tenths of a millisecond of work."""


class _Part(NamedTuple):
    """The agents from `first` to before `last`: what one thread folds, and draws if need be."""

    first: int
    last: int
    source: StreamPart | None
    folder: Folder


class BlockViews:
    """The private and the public views of one run, block by block.

    Parameters
    ----------
    source
        Where the samples come from: samples[k, agent] of one run, or `Problem.sample_stream`.
    bounds
        One bound for all agents, or one for each.
    horizon
        How many steps there are in all.
    longest
        How many steps the longest block has.
    arrivals
        int[time, agent]: how many samples each agent receives at each step; by default `batch`.
        They need given samples and the whole horizon in one block.  Samples that never arrive are
        not looked at.
    batch
        How many samples each agent receives at each step.
    with_squares
        Whether Σ (x - x̄)² is needed; it is 0 otherwise.

    Attributes
    ----------
    private, public
        What every agent knows of its own stream, and what others see of it: views [agent, step] of
        the open block.  They are the same object unless a bound distinguishes them.
    n_parts
        In how many parts a block is filled, by one thread each.
    bytes_per_view
        How many bytes the views of one agent at one step take.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> blocks = BlockViews(
    ...     np.ones((10, 3)), Laplace(0.5, 0.05), horizon=10, longest=4, with_squares=False
    ... )
    >>> blocks.open(n_steps=4)
    >>> for part in range(blocks.n_parts):
    ...     blocks.fill(part)
    >>> blocks.private.mean.shape, blocks.private.n_samples[2].tolist()
    ((3, 4), [1.0, 2.0, 3.0, 4.0])
    >>> blocks.public is blocks.private
    True

    Notes
    -----
    The compiled loop is compiled anew for each layout of its arrays.  There are two.  If all agents
    have one bound whose evidence follows from the count, and equal counts, then counts, evidence
    and epochs are broadcast over agents.  Otherwise, and for a lone agent, each has its own.
    """

    private: View[Array]
    public: View[Array]

    def __init__(
        self,
        source: Array | SampleStream,
        bounds: Bound | Sequence[Bound],
        horizon: int,
        *,
        longest: int,
        arrivals: NDArray[np.integer[Any]] | None = None,
        batch: int = 1,
        with_squares: bool,
    ) -> None:
        self._samples = source if isinstance(source, np.ndarray) else None
        self._n_agents = source.shape[1] if isinstance(source, np.ndarray) else source.n_agents
        self._batch, self._with_squares = batch, with_squares
        self._with_arrivals = arrivals is not None
        self._bounds = bounds if isinstance(bounds, Sequence) else (bounds,)
        self._has_public_view = any(bound.has_public_view for bound in self._bounds)
        own = self._bounds[0]
        is_shared = own.shares_columns and all(bound == own for bound in self._bounds)
        is_shared &= not self._with_arrivals and self._n_agents > 1
        self._shared = own if is_shared else None
        if self._with_arrivals and (self._samples is None or longest < horizon):
            raise ValueError(
                "arrivals[time, agent] need given samples and the whole horizon in one block; "
                f"received blocks of {longest} steps for a horizon of {horizon}"
            )
        each = _AGENTS_PER_PART if is_shared else self._n_agents
        cuts = pairwise([*range(0, self._n_agents, each), self._n_agents])
        agents: list[tuple[int, int, StreamPart | None]] = [(*cut, None) for cut in cuts]
        if not isinstance(source, np.ndarray):
            agents = [(part.first, part.last, part) for part in source.parts]
        if is_shared:
            self._parts = [
                _Part(*some, own.folder(some[1] - some[0], batch, with_squares=with_squares))
                for some in agents
            ]
        elif isinstance(source, np.ndarray) and longest == horizon:
            self._parts = [self._whole(source, horizon, arrivals)]
        else:
            self._parts = [self._part(*some) for some in agents]
        self.n_parts = len(self._parts)
        self.bytes_per_view = BYTES_PER_VIEW * (1 + self._has_public_view)
        if is_shared:
            self.bytes_per_view = 8 * (1 + with_squares)
        self._memory = np.empty(self.bytes_per_view // 8 * self._n_agents * longest)
        self._time = self._n_steps = 0

    def _part(self, first: int, last: int, source: StreamPart | None) -> _Part:
        """Return agents whose streams go on from block to block."""

        def folder_of(bound: Bound, agents: NDArray[np.int64]) -> Folder:
            return bound.folder(agents.size, self._batch, with_squares=self._with_squares)

        own = self._bounds[first:last] if len(self._bounds) > 1 else self._bounds
        return _Part(first, last, source, joint_folder(own, last - first, folder_of, self._batch))

    def _whole(
        self, samples: Array, horizon: int, arrivals: NDArray[np.integer[Any]] | None
    ) -> _Part:
        """Return agents whose whole streams are folded at once."""
        if arrivals is None and self._batch > 1:
            arrivals = np.full((horizon, self._n_agents), self._batch)
        arrived = None if arrivals is None else count_arrived(arrivals, *samples.shape)

        def folder_of(bound: Bound, agents: NDArray[np.int64]) -> Folder:
            return RunFolder(bound, None if arrived is None else arrived[agents])

        folder = joint_folder(self._bounds, self._n_agents, folder_of, batch=None)
        return _Part(0, self._n_agents, None, folder)

    def open(self, n_steps: int) -> None:
        """Begin the next block of time; its views are there once all parts are filled."""
        self._time += self._n_steps
        self._n_steps = n_steps
        shape = self.bytes_per_view // 8, self._n_agents, n_steps
        columns = self._memory[: math.prod(shape)].reshape(shape)
        if self._shared is None:
            self.private = self.public = _own_views(columns[: BYTES_PER_VIEW // 8])
            if self._has_public_view:
                self.public = _own_views(columns[BYTES_PER_VIEW // 8 :])
            return
        # Counts, evidence and epochs are the same for all agents.
        known = views_by_count(self._shared, self._time, n_steps, self._batch)
        shared = View(*(np.broadcast_to(column, shape[1:]) for column in known))
        zero = np.broadcast_to(0.0, shape[1:])
        # What nobody looks at takes no memory: these zeros are never written.
        squares = columns[1] if self._with_squares else np.zeros(shape[1:])
        self.private = shared._replace(mean=columns[0], squares=squares, precision=zero, epoch=zero)
        self.public = self.private

    def fill(self, part: int) -> None:
        """Fold the samples of one part, drawn if need be; different parts by different threads."""
        here = self._parts[part]
        private = View(*(column[here.first : here.last] for column in self.private))
        public = private
        if self.public is not self.private:
            public = View(*(column[here.first : here.last] for column in self.public))
        n_samples, n_agents = self._n_steps * self._batch, here.last - here.first
        if self._samples is not None:
            first = self._time * self._batch
            rows = slice(None) if self._with_arrivals else slice(first, first + n_samples)
            samples = np.ascontiguousarray(self._samples[rows, here.first : here.last])
            here.folder.fold(samples, 0, private, public)
        else:
            at_once = max(1, _BYTES_DRAWN // (8 * n_agents))
            for before in range(0, n_samples, at_once):
                samples = np.empty((min(at_once, n_samples - before), n_agents))
                here.source.fill(samples)  # type: ignore[union-attr]
                here.folder.fold(samples, before, private, public)
        if self._shared is None and not self._with_squares:
            private.squares[:] = public.squares[:] = 0.0


def views_of(
    samples: Array,
    bounds: Bound | Sequence[Bound],
    *,
    with_squares: bool,
    arrivals: NDArray[np.integer[Any]] | None = None,
) -> View[Array]:
    """Return the private views of a whole run; the parameters are those of `BlockViews`.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> views = views_of(np.ones((3, 2)), Laplace(0.5, 0.05), with_squares=True)
    >>> views.n_samples[1].tolist(), views.radius.shape
    ([1.0, 2.0, 3.0], (2, 3))
    >>> arrivals = np.array([[0, 1], [2, 0]])
    >>> views = views_of(
    ...     np.ones((3, 2)), Laplace(0.5, 0.05), with_squares=True, arrivals=arrivals
    ... )
    >>> views.n_samples.tolist()
    [[0.0, 2.0], [1.0, 1.0]]
    """
    horizon = len(samples) if arrivals is None else len(arrivals)
    blocks = BlockViews(
        samples, bounds, horizon, longest=horizon, arrivals=arrivals, with_squares=with_squares
    )
    blocks.open(horizon)
    for part in range(blocks.n_parts):
        blocks.fill(part)
    return blocks.private


def bytes_per_view(bounds: Bound | Sequence[Bound], *, with_squares: bool) -> int:
    """Return how many bytes the views of one agent at one step take, for one sample a step.

    Examples
    --------
    >>> from colme.bounds import Laplace, Windowed
    >>> bytes_per_view(Laplace(0.5, 0.05), with_squares=True)
    16
    >>> bytes_per_view(Windowed(Laplace(0.5, 0.05), length=10), with_squares=True)
    72
    """
    each = bounds if isinstance(bounds, Sequence) else (bounds,)
    if each[0].shares_columns and all(bound == each[0] for bound in each):
        return 8 * (1 + with_squares)
    return BYTES_PER_VIEW * (1 + any(bound.has_public_view for bound in each))


def _own_views(columns: Array) -> View[Array]:
    """Return views of these columns; precisions are for whoever looks to estimate.

    They are zeros that are never written, and so take no memory, of the same layout as the rest.
    """
    zero, rest = np.zeros(columns.shape[1:]), iter(columns)
    return View(*(zero if name == "precision" else next(rest) for name in View._fields))
