"""The crowd: true means that scatter like one bell, fitted by likelihood.

Lives here: its center and its variance.  Must not know agents or other shapes.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Crowd", "common_share", "fit_crowd"]

Numbers: TypeAlias = NDArray[np.float64]

_STEPS = 48
_GOLDEN = (math.sqrt(5) - 1) / 2


class Crowd(NamedTuple):
    """Where true means lie, and how they scatter: N(center, variance).

    Examples
    --------
    >>> Crowd(center=2.0, variance=1.0).pulled(np.array([4.0]), np.array([1.0]))
    array([3.])
    """

    center: float
    variance: float

    def pulled(self, means: Numbers, noise: Numbers) -> Numbers:
        """Return means drawn to the center as far as their noise deserves.

        Notes
        -----
        m + τ² / (τ² + s²) (x̄ - m), with s² the noise of x̄.
        """
        return self.center + self.variance / (self.variance + noise) * (means - self.center)


def fit_crowd(means: Numbers, noise: Numbers) -> Crowd:
    """Return the crowd of the largest likelihood, x̄ ~ N(m, τ² + s²); all noise above 0.

    Examples
    --------
    >>> fit_crowd(np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4))
    Crowd(center=2.5, variance=0.25...)

    Notes
    -----
    For a given τ² the best m weighs means by 1 / (τ² + s²); what remains is a search for τ² alone:
    0 and a grid of 48 values up to the largest that can be, the square of the range of the means,
    then a golden section around the best of them.
    """
    span = float(np.ptp(means))
    if not span > 0:
        return Crowd(_center(means, 1.0 / noise), 0.0)
    low = float(means.min())
    scaled, errors = (means - low) / span, noise / span / span
    variance = _likeliest(scaled, errors)
    return Crowd(low + span * _center(scaled, 1.0 / (variance + errors)), variance * span**2)


def common_share(means: Numbers, noise: Numbers) -> tuple[float, float]:
    """Return the weighted mean, and which share of the way from there all means should keep.

    Examples
    --------
    >>> common_share(np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4))
    (2.5, 0.8)

    Notes
    -----
    The positive part estimator of James and Stein (1961) in its extension to unequal variances, as
    in Brown (2008) and Xie, Kou and Brown (2012).  With m the mean weighed by precision 1 / s², and
    A means,

        S = Σ (x̄ - m)² / s²,    share = max(0, 1 - (A - 3) / S);

    with three means or fewer it is 1.
    """
    center = _center(means, 1.0 / noise)
    spread = float(np.sum((means - center) ** 2 / noise))
    if len(means) <= 3:
        return center, 1.0
    return center, max(0.0, 1.0 - (len(means) - 3) / spread) if spread > 0 else 0.0


def _center(means: Numbers, weights: Numbers) -> float:
    return float(np.average(means, weights=weights))


def _deviance(variance: float, means: Numbers, errors: Numbers) -> float:
    """Return -2 log likelihood of the best center, up to a constant; `errors` are variances."""
    total = variance + errors
    off = means - _center(means, 1.0 / total)
    return float(np.sum(np.log(total) + off * off / total))


def _likeliest(means: Numbers, errors: Numbers) -> float:
    """Return the τ² of the largest likelihood, for means of range 1."""
    smallest = min(1e-4, 1e-4 * float(errors.min()))
    logs = np.linspace(math.log(smallest), 0.0, _STEPS)
    deviances = [_deviance(math.exp(log), means, errors) for log in logs]
    best = int(np.argmin(deviances))
    low, high = logs[max(best - 1, 0)], logs[min(best + 1, _STEPS - 1)]
    for _ in range(_STEPS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        lower = _deviance(math.exp(left), means, errors)
        if lower < _deviance(math.exp(right), means, errors):
            high = right
        else:
            low = left
    found = math.exp((low + high) / 2)
    never = _deviance(0.0, means, errors)
    return found if _deviance(found, means, errors) < never else 0.0
