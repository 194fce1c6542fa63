"""Bounds that depend on the samples through their count and their mean alone.

Lives here: radii, their exact inverse, and the stream.  Must not know any particular formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import chain
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme.bounds.base import Bound, StreamBase
from colme.bounds.evidence import Evidence, N_co, Numbers
from colme.bounds.folder import EVIDENCE
from colme.bounds.moments import fold_moments
from colme.bounds.protocol import Folder
from colme.view import View


def first_below(x: float, radius: Callable[[float], float]) -> int:
    """Return the smallest n with radius(n) < x, exactly, for a radius that falls.

    Examples
    --------
    >>> first_below(0.25, lambda n: 1 / n)
    5
    """
    if not x > 0:
        raise ValueError(f"a radius is inverted at x > 0; received {x}")
    high = 1
    while radius(high) >= x:
        high *= 2
    low = high // 2  # radius(low) >= x, or low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if radius(middle) < x else (middle, high)
    return high


class CountedStream(StreamBase[N_co]):
    """A stream whose interval is its mean ± the radius at its count.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> stream = Laplace(sigma=0.5, gamma=0.05).stream()
    >>> stream.interval
    (-inf, inf)
    >>> stream.update(1.0)
    >>> [round(end, 3) for end in stream.interval]
    [-0.828, 2.828]
    """

    @property
    def interval(self) -> tuple[N_co, N_co]:
        """The mean ± the radius."""
        radius = self._bound.radius(self.count)
        return self._between(self._mean - radius, self._mean + radius)

    @property
    def evidence(self) -> Evidence[N_co]:
        """A shape that follows from the count, around the mean."""
        if not self.count:
            return super().evidence
        return self._as_evidence(self._mean, *self._bound.shape(self.count))


class Counted(Bound):
    """A bound for samples of scale `sigma`, with a radius that follows from the count.

    Examples
    --------
    >>> from colme.bounds import Stitched
    >>> bound: Counted = Stitched(sigma=0.5)
    >>> round(bound.radius(100), 3), bound.inverse(0.2)
    (0.199, 99)
    """

    sigma: float
    shares_columns = True
    stream_type = CountedStream

    @property
    def scale(self) -> float:
        """The scale of one sample."""
        return self.sigma

    @property
    def variance(self) -> float:
        """The square of the scale."""
        return self.sigma**2

    @overload
    def radius(self, n: float) -> float: ...
    @overload
    def radius(self, n: NDArray[np.generic]) -> NDArray[np.float64]: ...
    def radius(self, n: ArrayLike) -> float | NDArray[np.float64]:
        """Return the radius after n samples; +∞ for n = 0."""
        if not isinstance(n, np.ndarray):
            return self._radius(float(n))  # type: ignore[arg-type]
        counts = n.astype(np.float64)
        some = np.maximum(counts, 1.0)
        return np.where(counts > 0, self.sigma * np.sqrt(self._width(some, np.log)), np.inf)

    def inverse(self, x: float) -> int:
        """Return the smallest n with radius(n) < x, exactly."""
        return first_below(x, self._radius)

    def _radius(self, n: float) -> float:
        if n == 0:
            return math.inf
        return self.sigma * math.sqrt(self._width(n, math.log))

    def _width(self, n: Any, log: Callable[[Any], Any]) -> Any:
        """Return the square of the radius for samples of scale 1; numbers and arrays alike."""
        raise NotImplementedError

    def shape(self, n: float) -> tuple[float, float, float]:
        """Return spread, slope and offset of the evidence of n >= 1 samples."""
        raise NotImplementedError

    def folder(self, n_agents: int, batch: int = 1, *, with_squares: bool = True) -> Folder:
        """Return what folds the samples of n agents, `batch` a step, block after block."""
        return CountedFolder(self, n_agents, batch, with_squares=with_squares)

    def fold_run(self, samples: Numbers, views: View[Numbers]) -> None:
        """Write the views[agent, k] of whole streams samples[k, agent]."""
        self.folder(samples.shape[1]).fold(samples, 0, views, views)


@lru_cache(maxsize=256)
def views_by_count(bound: Counted, before: int, n_steps: int, batch: int = 1) -> View[Numbers]:
    """Return what follows from the count alone: columns [step], for every stream of the bound.

    The first of the steps comes after `before` others; each takes `batch` samples.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> views_by_count(Laplace(sigma=0.5, gamma=0.05), before=2, n_steps=3).n_samples
    array([3., 4., 5.])
    """
    counts = np.arange(before + 1.0, before + n_steps + 1.0) * batch
    # The formulas of bounds take one count at a time: libraries may round logarithms of whole
    # arrays in another way.
    shapes = chain.from_iterable(map(bound.shape, map(int, counts)))
    by_step = np.fromiter(shapes, np.float64, 3 * n_steps).reshape(n_steps, 3)
    spread, slope, offset = np.ascontiguousarray(by_step.T)
    radius = Evidence(0.0, spread, slope, offset).radius(-math.log(bound.gamma))
    zeros, variance = np.zeros(n_steps), np.full(n_steps, bound.variance)
    return View(zeros, counts, radius, zeros, spread, slope, offset, zeros, zeros, variance)


class CountedFolder:
    """A folder whose means and squares are folded by a compiled loop; the rest follows from counts.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> views = View(*np.empty((len(View._fields), 1, 2)))
    >>> folder = CountedFolder(Laplace(sigma=0.5, gamma=0.05), n_agents=1, batch=1)
    >>> folder.fold(np.array([[0.0], [1.0]]), 0, views, views)
    >>> views.mean.tolist(), views.spread.tolist()
    ([[0.0, 0.5]], [[0.5, 0.1875]])
    """

    def __init__(
        self, bound: Counted, n_agents: int, batch: int = 1, *, with_squares: bool = True
    ) -> None:
        self._bound, self._batch, self._with_squares = bound, batch, with_squares
        self._count = 0
        self._mean, self._square = np.zeros((2, n_agents))

    def fold(
        self, samples: Numbers, before: int, private: View[Numbers], _public: View[Numbers]
    ) -> None:
        """Fold the next samples; see `Folder.fold`."""
        steps = slice(before // self._batch, (before + len(samples)) // self._batch)
        # Columns that are broadcast over agents hold what follows from the count already.
        if steps.start < steps.stop and private.n_samples.flags.writeable:
            first = self._count // self._batch
            known = views_by_count(self._bound, first, steps.stop - steps.start, self._batch)
            for name in ("n_samples", "epoch", "variance", *EVIDENCE):
                getattr(private, name)[:, steps] = getattr(known, name)
        # What comes sample by sample for a whole block is written where it belongs at once.
        if self._batch == 1 and len(samples) == private.mean.shape[1]:
            self._fold_means(samples, private.mean, private.squares)
            return
        means, squares = np.empty((2, *samples.T.shape))
        self._fold_means(samples, means, squares)
        ends = slice(-(before + 1) % self._batch, None, self._batch)  # samples that end a step
        private.mean[:, steps] = means[:, ends]
        if self._with_squares:
            private.squares[:, steps] = squares[:, ends]

    def _fold_means(self, samples: Numbers, means: Numbers, squares: Numbers) -> None:
        kept = squares if self._with_squares else squares[:0]
        fold_moments(samples, self._count, self._mean, self._square, means, kept)
        self._count += len(samples)
