"""Discounts: the older a sample, the less it counts.

Lives here: the discounted bound, its stream, and how many samples its weights are worth.  Must not
know agents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from colme._compile import kernel
from colme.bounds.base import Bound, StreamBase
from colme.bounds.evidence import N_co, Numbers
from colme.bounds.moments import folded_mean, folded_squares
from colme.bounds.wrapper import Forgetting, ForgettingStream
from colme.view import View


class DiscountWeights(NamedTuple):
    """The sum of the weights, the sum of their squares, and what follows from both.

    Examples
    --------
    >>> half = DiscountWeights().after_sample(0.5).after_sample(0.5)
    >>> half.total, round(half.worth, 3), half.whole
    (1.5, 1.8, 1)
    """

    total: float = 0.0
    squared: float = 0.0

    @property
    def worth(self) -> float:
        """How many samples of equal weight would say as much: (Σw)² / Σw²."""
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

    def after_sample(self, factor: float) -> DiscountWeights:
        """Return the weights after one more sample."""
        return DiscountWeights(factor * self.total + 1, factor**2 * self.squared + 1)


@kernel
def fold_discounted(
    samples: Numbers, factor: float, weights: Numbers, means: Numbers, squares: Numbers
) -> None:
    """Fold samples, each worth `factor` times the next, into weighted means and squares.

    `weights` are the sums of the weights before each sample.

    Examples
    --------
    >>> means, squares = np.empty((1, 2)), np.empty((1, 2))
    >>> fold_discounted(np.array([[0.0], [3.0]]), 0.5, np.array([0.0, 1.0]), means, squares)
    >>> means.tolist(), squares.tolist()
    ([[0.0, 2.0]], [[0.0, 3.0]])
    """
    horizon, n_agents = samples.shape
    for a in range(n_agents):
        mean, square = 0.0, 0.0
        for t in range(horizon):
            before = mean
            mean = folded_mean(before, factor * weights[t], samples[t, a])
            square = folded_squares(factor * square, before, mean, samples[t, a])
            means[a, t], squares[a, t] = mean, square


@lru_cache(maxsize=16)
def _weights_by_age(factor: float, n_samples: int) -> tuple[Numbers, Numbers]:
    """Return Σw before each sample, and after it what weighted squares are multiplied by."""
    weights, before, share = DiscountWeights(), [], []
    for _ in range(n_samples):
        before.append(weights.total)
        weights = weights.after_sample(factor)
        share.append(weights.share)
    return np.array(before), np.array(share)


class DiscountedStream(ForgettingStream[N_co]):
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

    _kept = (*StreamBase._kept, "_seen", "_total", "_squared", "_scatter")

    def __init__(self, bound: Discounted, n: int | None) -> None:
        super().__init__(bound, n)
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
        weights = DiscountWeights(self._total, self._squared).after_sample(factor)
        self._total, self._squared = weights

    def _show(self) -> None:
        weights = DiscountWeights(self._total, self._squared)
        self.count, self._squares = weights.whole, self._scatter * weights.share
        scatter = self._scatter * (weights.worth / weights.total)
        self._within._stand_for(weights.worth, self._mean, scatter)


@dataclass(frozen=True)
class Discounted(Forgetting):
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
        As for `Windowed`.

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
    evidence are those of n samples; the count is the whole number below n, and the squares over
    count - 1 estimate the variance.  The epoch is one more
    every ⌈1/(1 - factor)⌉ samples.
    """

    bound: Bound
    factor: float
    revisit: int = 10
    stream_type = DiscountedStream

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.factor > 1:
            raise ValueError(f"factor must be in (0, 1]; received {self.factor:g}")
        most = (1 + self.factor) / (1 - self.factor) if self.factor < 1 else math.inf
        self._check_within(most)

    @property
    def memory(self) -> float:
        """How many samples an epoch lasts; +∞ if nothing is forgotten."""
        if self.factor == 1:
            return math.inf
        return float(math.ceil(round(1 / (1 - self.factor), 6)))

    def _fold_means(self, samples: Numbers, views: View[Numbers]) -> None:
        before, share = _weights_by_age(self.factor, len(samples))
        fold_discounted(samples, self.factor, before, views.mean, views.squares)
        views.squares[:] *= share
