"""Bets: how much to stake on the next sample of a bounded stream.

Lives here: the one rule for stakes, predictable from past samples.  Must not know what is won.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["Bets"]


class Bets:
    """Running mean and variance of samples in [0, 1], and the next stake they suggest.

    Both start from one imagined sample, of mean 1/2 and variance 1/4, and every stake is known
    before the sample that it is placed on.

    Examples
    --------
    >>> bets = Bets(gamma=0.05, most=0.5)
    >>> float(bets.stake())
    0.5
    >>> bets.fold(1.0)
    >>> bets.mean, bets.variance
    (0.75, 0.15625)

    Notes
    -----
    λ_t = min(most, √(2 ln(2/γ) / (v_{t-1} t ln(1 + t)))), where μ_t = (½ + Σ x_i)/(t + 1) and
    v_t = (¼ + Σ (x_i - μ_i)²)/(t + 1).
    """

    @staticmethod
    def kept(name: str) -> tuple[str, ...]:
        """Return the attributes that samples change, of bets that go by that name."""
        return f"{name}.turn", f"{name}.mean", f"{name}.variance"

    def __init__(self, gamma: float, most: float) -> None:
        self.mean: Any = 0.5
        self.variance: Any = 0.25
        self.turn = 1  # which sample comes next
        self._most = most
        self._level = 2 * math.log(2 / gamma)

    def stake(self) -> Any:
        """Return the share to stake on the next sample."""
        t = self.turn
        return np.minimum(np.sqrt(self._level / (self.variance * t * math.log1p(t))), self._most)

    def fold(self, x: Any) -> None:
        """Learn from one sample in [0, 1], or from one of each stream."""
        self.turn += 1
        self.mean = self.mean + (x - self.mean) / self.turn
        self.variance = self.variance + ((x - self.mean) ** 2 - self.variance) / self.turn
