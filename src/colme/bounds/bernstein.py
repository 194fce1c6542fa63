"""Empirical Bernstein: samples in a known range, of unknown variance.

Lives here: the bound with predictable stakes, and its stream.  Must not know agents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from colme.bounds.bounded import Bets, BoundedBound, BoundedStream
from colme.bounds.evidence import Evidence, N_co


class BernsteinStream(BoundedStream[N_co]):
    """A stream of bounded samples; a handful of numbers, whatever its length.

    Examples
    --------
    >>> stream = EmpiricalBernstein(low=0, high=1).stream(2)
    >>> stream.update([0.0, 1.0])
    >>> stream.evidence.slope
    array([0.5, 0.5])
    """

    _kept = (*BoundedStream._kept, "_staked", "_center", "_price", *Bets.kept("_bets"))

    _largest_stake = 0.5  # ψ grows without limit towards 1

    def __init__(self, bound: EmpiricalBernstein, n: int | None) -> None:
        super().__init__(bound, n)
        self._staked: Any = 0.0  # Σ λ
        self._center: Any = 0.0  # Σ λ x / Σ λ
        self._price: Any = 0.0  # Σ (x - μ)² ψ(λ)

    def _bet(self, stake: Any, unit: Any) -> None:
        self._staked = self._staked + stake
        self._center = self._center + stake / self._staked * (unit - self._center)
        self._price = self._price - (unit - self._bets.mean) ** 2 * (np.log1p(-stake) + stake)

    @property
    def evidence(self) -> Evidence[N_co]:
        """Two straight lines: the average of the e-processes of either side."""
        if not self.count:
            return super().evidence
        center = self._low + self._width * self._center
        return self._as_evidence(center, 0.0, self._staked / self._width, self._price + math.log(2))


@dataclass(frozen=True)
class EmpiricalBernstein(BoundedBound):
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
    stream_type = BernsteinStream
