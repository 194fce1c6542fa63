"""Discounts: the older a sample, the less it counts.

Lives here: the discounted bound, its stream, and how many samples its weights are worth.  Must not
know agents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from colme import _check
from colme.bounds.evidence import N_co
from colme.bounds.fading import FadingStream, checked_fading
from colme.bounds.protocol import Bound, Stream
from colme.bounds.running import Running, folded_mean, folded_squares
from colme.bounds.wrapper import Wrapper, checked_revisit

__all__ = ["Discounted", "DiscountedStream", "Weights", "next_weights"]


class Weights(NamedTuple):
    """The sum of the weights, the sum of their squares, and what follows from both.

    Examples
    --------
    >>> half = next_weights(next_weights(Weights(), 0.5), 0.5)
    >>> half.total, round(half.worth, 3), half.whole
    (1.5, 1.8, 1)
    """

    total: float = 0.0
    squared: float = 0.0

    @property
    def worth(self) -> float:
        """How many samples of equal weight would tell as much: (Σw)² / Σw²."""
        return self.total / (self.squared / self.total)

    @property
    def whole(self) -> int:
        """The whole number below it, at least 1."""
        return max(1, math.floor(self.worth + 1e-9))

    @property
    def share(self) -> float:
        """What Σw (x - x̄)² is multiplied by, so that over count - 1 it estimates the variance."""
        worth = self.worth
        return worth / self.total * ((self.whole - 1) / (worth - 1)) if worth > 1 else 0.0


def next_weights(weights: Weights, factor: float) -> Weights:
    """Return the weights after one more sample.

    Examples
    --------
    >>> next_weights(Weights(1.0, 1.0), 0.5)
    Weights(total=1.5, squared=1.25)
    """
    return Weights(factor * weights.total + 1, factor**2 * weights.squared + 1)


@dataclass(frozen=True)
class Discounted(Wrapper):
    """A bound over all samples, each with weight factor^age, for a mean that may change.

    The interval holds the mean of a constant stream **at each time** with probability at least
    1 - γ, not at all times at once.

    Parameters
    ----------
    bound
        `Laplace`, `NormalMixture`, `Stitched` or `Asymptotic`.
    factor
        What a sample loses with each that follows, in (0, 1]; 1 forgets nothing.
    revisit
        Every so many queries one goes to an excluded peer; 0: none.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> stream = Discounted(Laplace(sigma=0.5, gamma=0.05), factor=0.98).stream()
    >>> for sample in [0.0] * 200 + [1.0] * 200:
    ...     stream.update(sample)
    >>> stream.count, round(stream.mean, 3), stream.epoch
    (98, 0.983, 7.0)

    Notes
    -----
    n = (Σw)²/Σw², a real number that tends to (1 + factor)/(1 - factor).  The interval and the
    evidence are those of n samples; the count that is told is the whole number below n, and the
    squares told are such that over count - 1 they estimate the variance.  The epoch is one more
    every ⌈1/(1 - factor)⌉ samples.
    """

    bound: Bound
    factor: float
    revisit: int = 10

    def __post_init__(self) -> None:
        factor = _check.positive("factor", self.factor)
        if factor > 1:
            raise ValueError(f"factor must be in (0, 1]; received {factor:g}")
        most = (1 + factor) / (1 - factor) if factor < 1 else math.inf
        bound: Any = checked_fading(self.bound, most)
        self._keep(bound=bound, factor=factor, revisit=checked_revisit(self.revisit))

    @property
    def memory(self) -> float:
        """How many samples an epoch lasts; +∞ if nothing is forgotten."""
        if self.factor == 1:
            return math.inf
        return float(math.ceil(round(1 / (1 - self.factor), 6)))

    def revisit_in(self, epoch: int) -> int:
        """Return every how many queries one goes to an excluded peer: none in the first epoch."""
        return self.revisit if epoch > 0 else 0

    def _start(self, n: int | None) -> Stream[Any]:
        return DiscountedStream(self, n)


class DiscountedStream(FadingStream[N_co]):
    """A weighted mean and weighted squares; a handful of numbers, whatever its length.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> stream = Discounted(Laplace(sigma=0.5, gamma=0.05), factor=0.5).stream()
    >>> for sample in (0.0, 3.0):
    ...     stream.update(sample)
    >>> stream.mean
    2.0
    """

    _kept = (*Running._kept, "_seen", "_total", "_squared", "_scatter")

    def __init__(self, bound: Discounted, n: int | None) -> None:
        super().__init__(bound, n)
        self._bound = bound
        self._total = 0.0  # Σ w
        self._squared = 0.0  # Σ w²
        self._scatter: Any = 0.0  # Σ w (x - x̄)²

    @property
    def epoch(self) -> N_co:
        """How often the memory has been filled anew."""
        return self._answer(max(self._seen - 1, 0) // self._bound.memory)

    def _resume(self, state: Any) -> None:
        super()._resume(state)
        if self._seen and min(self._total, self._squared) < 1:
            raise ValueError(f"weights of samples sum to 1 or more; received {state!r}")
        if self._seen:
            self._show()

    def _fold(self, x: Any) -> None:
        factor, before = self._bound.factor, self._mean
        self._mean = folded_mean(before, factor * self._total, x)
        self._scatter = folded_squares(factor * self._scatter, before, self._mean, x)
        self._total, self._squared = next_weights(Weights(self._total, self._squared), factor)

    def _show(self) -> None:
        weights = Weights(self._total, self._squared)
        self.count, self._squares = weights.whole, self._scatter * weights.share
        scatter = self._scatter * (weights.worth / weights.total)
        self._within._stand_for(weights.worth, self._mean, scatter)
