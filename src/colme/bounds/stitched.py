"""Stitching: sub-Gaussian samples of known scale, on streams without end.

Lives here: the bound with the growth of the iterated logarithm.  Must not know agents.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from colme.bounds.counted import Counted

_S, _ETA = 1.4, 2.0  # epoch k lasts from η^k to η^(k+1) and gets the share 1 / (ζ(s) (k+1)^s)
_ZETA = 3.1055472779775806  # ζ(1.4)
_K = (_ETA**0.25 + _ETA**-0.25) / math.sqrt(2)
_MOST_RISK = 0.8  # above it the radius grows for a moment after n_min


@dataclass(frozen=True)
class Stitched(Counted):
    """Time-uniform interval around a σ-sub-Gaussian mean that shrinks as fast as any can.

    The radius falls like √(ln ln n / n), that of `Laplace` like √(ln n / n); at small risks it
    takes a very long stream before this pays.

    Parameters
    ----------
    sigma
        Sub-Gaussian scale of one sample.
    n_min
        Count from which on the interval is meant to be narrow.
    gamma
        Risk of the interval, both sides together; at most 0.8.

    Examples
    --------
    >>> bound = Stitched(sigma=0.5, gamma=0.05)
    >>> round(bound.radius(100), 4), bound.inverse(0.01)
    (0.1988, 45043)

    Notes
    -----
    σ k √(ℓ max(n, n_min)) / n with ℓ = s ln ln(η max(n, n_min) / n_min) + ln(2ζ(s) / (γ ln(η)^s)),
    k = (η^¼ + η^-¼)/√2, s = 1.4 and η = 2; each side has γ/2.
    """

    sigma: float
    n_min: float = field(default=1.0, kw_only=True)
    gamma: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gamma > _MOST_RISK:
            raise ValueError(
                f"gamma must be at most {_MOST_RISK} for a stitched bound; received "
                f"{self.gamma:g}: choose a smaller one, or NormalMixture"
            )

    def _width(self, n: Any, log: Callable[[Any], Any]) -> Any:
        time = np.maximum(n, self.n_min)
        constant = math.log(2 * _ZETA / self.gamma / math.log(_ETA) ** _S)
        level = _S * log(log(_ETA * time / self.n_min)) + constant
        return _K**2 * level * time / n**2

    def shape(self, n: float) -> tuple[float, float, float]:
        """Return the line of the current epoch.

        The average over k, with the shares as weights, of cosh(λ_k S) exp(-λ_k² n σ²/2) is an
        e-process, S = n (x̄ - m); every single term bounds it from below.
        """
        epoch = math.floor(math.log(max(n / self.n_min, 1.0), _ETA))
        price = math.log(2 * _ZETA * (epoch + 1) ** _S)
        middle = self.sigma**2 * self.n_min * _ETA ** (epoch + 0.5)
        rate = math.sqrt(2 * (price - math.log(self.gamma)) / middle)
        return 0.0, rate * n, rate**2 * n * self.sigma**2 / 2 + price
