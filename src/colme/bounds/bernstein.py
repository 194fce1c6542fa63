"""Empirical Bernstein: samples in a known range, of unknown variance.

Lives here: the bound with predictable stakes, and its stream.  Must not know agents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from colme import _check
from colme.bounds.bets import Bets
from colme.bounds.evidence import Evidence, N_co
from colme.bounds.protocol import Stream
from colme.bounds.running import Recipe, Running
from colme.bounds.scale import checked_range, range_sigma

__all__ = ["BernsteinStream", "EmpiricalBernstein"]

_MOST = 0.5  # the largest stake


@dataclass(frozen=True)
class EmpiricalBernstein(Recipe):
    """Time-uniform interval for samples in [low, high] that adapts to their variance.

    Parameters
    ----------
    low, high
        The range of the samples.
    gamma
        Risk of the interval, both sides together.

    Examples
    --------
    >>> stream = EmpiricalBernstein(low=1, high=5, gamma=0.05).stream()
    >>> for rating in [4, 5, 4, 4] * 100:
    ...     stream.update(rating)
    >>> [round(end, 2) for end in stream.interval]
    [4.16, 4.34]

    Notes
    -----
    In units of the range: centre Σ λ_i x_i / Σ λ_i and radius
    (ln(2/γ) + Σ (x_i - μ_{i-1})² ψ(λ_i)) / Σ λ_i with ψ(λ) = -ln(1-λ) - λ, stakes λ_i and running
    means μ_i of `Bets`.
    """

    low: float
    high: float
    gamma: float = 0.05

    def __post_init__(self) -> None:
        low, high = checked_range(self.low, self.high)
        self._keep(low=low, high=high, gamma=_check.risk("gamma", self.gamma))

    @property
    def scale(self) -> float:
        """Half the range."""
        return range_sigma(self.low, self.high)

    def _start(self, n: int | None) -> Stream[Any]:
        return BernsteinStream(self, n)


class BernsteinStream(Running[N_co]):
    """A stream of bounded samples; a handful of numbers, whatever its length.

    Examples
    --------
    >>> stream = EmpiricalBernstein(low=0, high=1).stream(2)
    >>> stream.update([0.0, 1.0])
    >>> stream.evidence.slope
    array([0.5, 0.5])
    """

    _kept = (*Running._kept, "_staked", "_center", "_price", *Bets.kept("_bets"))

    def __init__(self, bound: EmpiricalBernstein, n: int | None) -> None:
        super().__init__(bound.gamma, n, low=bound.low, high=bound.high)
        self._bound = bound
        self._width = bound.high - bound.low
        self._bets = Bets(bound.gamma, _MOST)
        self._staked: Any = 0.0  # Σ λ
        self._center: Any = 0.0  # Σ λ x / Σ λ
        self._price: Any = 0.0  # Σ (x - μ)² ψ(λ)

    def _fold(self, x: Any) -> None:
        unit = (x - self._bound.low) / self._width
        stake = self._bets.stake()
        self._staked = self._staked + stake
        self._center = self._center + stake / self._staked * (unit - self._center)
        self._price = self._price - (unit - self._bets.mean) ** 2 * (np.log1p(-stake) + stake)
        self._bets.fold(unit)

    @property
    def evidence(self) -> Evidence[N_co]:
        """Two straight lines: the average of the e-processes of either side."""
        if not self.count:
            return super().evidence
        center = self._bound.low + self._width * self._center
        return self._tell(center, 0.0, self._staked / self._width, self._price + math.log(2))
