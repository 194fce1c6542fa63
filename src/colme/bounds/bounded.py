"""Samples in a known range: what follows from it, and stakes for bets on the next sample.

Lives here: ranges, the one rule for stakes, predictable from past samples, and what bounds by bets
have in common.  Must not know what is won.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from colme import _check
from colme.bounds.base import Bound, StreamBase
from colme.bounds.evidence import N_co


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
    low, high = checked_range(low, high)
    return (high - low) / 2


def checked_range(low: float, high: float) -> tuple[float, float]:
    """Return both ends as floats, or raise ValueError unless they are finite and in order.

    Examples
    --------
    >>> checked_range(0, 1)
    (0.0, 1.0)
    """
    low, high = _check.sample("low", low), _check.sample("high", high)
    if low >= high:
        raise ValueError(f"a range needs low < high; received low={low:g}, high={high:g}")
    return low, high


class Bets:
    """Running mean and variance of samples in [0, 1], and the next stake they suggest.

    Both start from one imagined sample, of mean 1/2 and variance 1/4, and every stake is known
    before the sample that it is placed on.

    Examples
    --------
    >>> bets = Bets(gamma=0.05, largest=0.5)
    >>> float(bets.stake())
    0.5
    >>> bets.fold(1.0)
    >>> bets.mean, bets.variance
    (0.75, 0.15625)

    Notes
    -----
    λ_t = min(largest, √(2 ln(2/γ) / (v_{t-1} t ln(1 + t)))), where μ_t = (½ + Σ x_i)/(t + 1) and
    v_t = (¼ + Σ (x_i - μ_i)²)/(t + 1).
    """

    @staticmethod
    def kept(name: str) -> tuple[str, ...]:
        """Return the attributes that samples change, of bets that go by that name."""
        return f"{name}.turn", f"{name}.mean", f"{name}.variance"

    def __init__(self, gamma: float, largest: float) -> None:
        self.mean: Any = 0.5
        self.variance: Any = 0.25
        self.turn = 1  # which sample comes next
        self._largest = largest
        self._level = 2 * math.log(2 / gamma)

    def stake(self) -> Any:
        """Return the share to stake on the next sample."""
        t = self.turn
        return np.minimum(np.sqrt(self._level / (self.variance * t * math.log1p(t))), self._largest)

    def fold(self, x: Any) -> None:
        """Learn from one sample in [0, 1], or from one of each stream."""
        self.turn += 1
        self.mean = self.mean + (x - self.mean) / self.turn
        self.variance = self.variance + ((x - self.mean) ** 2 - self.variance) / self.turn


class BoundedBound(Bound):
    """A bound for samples in [low, high].

    Examples
    --------
    >>> from colme.bounds import Betting
    >>> bound: BoundedBound = Betting(low=1, high=5)
    >>> bound.scale
    2.0
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = checked_range(self.low, self.high)
        self._set("low", low)
        self._set("high", high)

    @property
    def scale(self) -> float:
        """Half the range."""
        return range_sigma(self.low, self.high)


class BoundedStream(StreamBase[N_co]):
    """A stream of bounded samples, and the stakes on them; subclasses say what is won.

    Examples
    --------
    >>> from colme.bounds import EmpiricalBernstein
    >>> stream: BoundedStream = EmpiricalBernstein(low=0, high=1).stream()
    >>> stream.update(0.25)
    >>> stream.count, stream.mean
    (1, 0.25)
    """

    _largest_stake: ClassVar[float]

    def __init__(self, bound: BoundedBound, n: int | None) -> None:
        super().__init__(bound, n)
        self._width = bound.high - bound.low
        self._bets = Bets(bound.gamma, self._largest_stake)

    def _fold(self, x: Any) -> None:
        unit = (x - self._low) / self._width
        self._bet(self._bets.stake(), unit)
        self._bets.fold(unit)

    def _bet(self, stake: Any, unit: Any) -> None:
        """Place a stake on a sample in [0, 1]; `_bets` know only those before it."""
        raise NotImplementedError
