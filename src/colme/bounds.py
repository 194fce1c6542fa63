"""Confidence sequences: how far a running mean may be from the truth, at every time at once.

Lives here: radii, their inverses, and the one place where risk is divided.  Must not know agents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check

__all__ = ["Laplace", "range_sigma", "split_risk"]


def split_risk(delta: float, n_agents: int) -> float:
    """Return γ = δ / (8 A), the risk left for each of the A intervals an agent holds.

    All A intervals of one agent hold at all times with probability at least 1 - A γ = 1 - δ/8.

    Examples
    --------
    >>> split_risk(0.001, 200)
    6.25e-07

    Notes
    -----
    Lemma 1.
    """
    return _check.risk("delta", delta) / (8 * _check.positive_int("n_agents", n_agents))


def range_sigma(low: float, high: float) -> float:
    """Return the sub-Gaussian scale (high - low) / 2 of any stream that stays in [low, high].

    Examples
    --------
    >>> range_sigma(0, 1)
    0.5

    Notes
    -----
    Hoeffding's lemma.
    """
    low, high = _check.finite("low", low), _check.finite("high", high)
    if low >= high:
        raise ValueError(f"a range needs low < high; received low={low:g}, high={high:g}")
    return (high - low) / 2


@dataclass(frozen=True)
class Laplace:
    """Time-uniform interval around the mean of a σ-sub-Gaussian stream.

    With probability at least 1 - γ the mean of the first n samples is within ``radius(n)`` of
    the true mean for every n at once.

    Parameters
    ----------
    sigma
        Sub-Gaussian scale of one sample (for Gaussian noise, its standard deviation).
    gamma
        Risk of the interval, both sides together.

    Examples
    --------
    >>> bound = Laplace(sigma=0.5, gamma=split_risk(0.001, 200))
    >>> round(bound.radius(100), 4), bound.radius(0)
    (0.2895, inf)
    >>> bound.inverse(0.05)
    3680

    Notes
    -----
    β(n) = σ √( (2/n) (1 + 1/n) ln(√(n+1) / γ) ): Lemma 1, by the method of mixtures.
    """

    sigma: float
    gamma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", _check.positive("sigma", self.sigma))
        object.__setattr__(self, "gamma", _check.risk("gamma", self.gamma))

    @overload
    def radius(self, n: float) -> float: ...
    @overload
    def radius(self, n: NDArray[np.generic]) -> NDArray[np.float64]: ...
    def radius(self, n: ArrayLike) -> float | NDArray[np.float64]:
        """Return β(n); +∞ for n = 0."""
        if not isinstance(n, np.ndarray):
            return self._radius(float(n))  # type: ignore[arg-type]
        counts = n.astype(np.float64)
        some = np.maximum(counts, 1.0)
        spread = 2 / some * (1 + 1 / some) * (0.5 * np.log(some + 1) - math.log(self.gamma))
        return np.where(counts > 0, self.sigma * np.sqrt(spread), np.inf)

    def _radius(self, n: float) -> float:
        if n == 0:
            return math.inf
        spread = 2 / n * (1 + 1 / n) * (0.5 * math.log(n + 1) - math.log(self.gamma))
        return self.sigma * math.sqrt(spread)

    def inverse(self, x: float) -> int:
        """Return the smallest n with β(n) < x, exactly."""
        if not x > 0:
            raise ValueError(f"a radius is inverted at x > 0; received {x}")
        high = 1
        while self._radius(high) >= x:
            high *= 2
        low = high // 2  # β(low) >= x, or low = 0
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._radius(middle) < x else (middle, high)
        return high
