"""Bounds that depend on the samples through their count and their mean alone.

Lives here: radii, their exact inverse, and the stream.  Must not know any particular formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme.bounds.evidence import Evidence, N_co
from colme.bounds.protocol import Stream
from colme.bounds.running import Recipe, Running

__all__ = ["Counted", "CountedStream", "first_below"]


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


class Counted(Recipe):
    """A bound for samples of scale `sigma`, with a radius that follows from the count.

    Examples
    --------
    >>> from colme.bounds import Stitched
    >>> isinstance(Stitched(sigma=0.5), Counted)
    True
    """

    sigma: float

    @property
    def scale(self) -> float:
        """The scale of one sample."""
        return self.sigma

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

    def _start(self, n: int | None) -> Stream[Any]:
        return CountedStream(self, n)


class CountedStream(Running[N_co]):
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

    def __init__(self, bound: Counted, n: int | None) -> None:
        super().__init__(bound.gamma, n)
        self._bound = bound

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
        return self._tell(self._mean, *self._bound.shape(self.count))
