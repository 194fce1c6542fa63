"""The crowd: true means that scatter like one normal distribution, fitted by likelihood.

Lives here: its center and its variance.  Must not know agents or other shapes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from colme.data.summaries import Numbers

_STEPS = 48
"""Values of the variance on the grid, and steps of the search around the best of them."""
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
        """Return means drawn to the center, the further the noisier they are.

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
    For a given τ² the best m weighs means by 1 / (τ² + s²), so only τ² is searched: 0 and a grid
    of 48 values up to the largest possible, the square of the range of the means, then a golden
    section around the best of them.
    """
    span, low = float(np.ptp(means)), float(means.min())
    if not span > 0:
        return Crowd(float(np.average(means, weights=1.0 / noise)), 0.0)
    scaled, errors = (means - low) / span, noise / span / span
    smallest = min(1e-4, 1e-4 * float(errors.min()))
    logs = np.linspace(math.log(smallest), 0.0, _STEPS)
    best = int(np.argmin([_profile(math.exp(log), scaled, errors)[0] for log in logs]))
    left, right = logs[max(best - 1, 0)], logs[min(best + 1, _STEPS - 1)]
    for _ in range(_STEPS):
        lower, upper = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
        deviance = _profile(math.exp(lower), scaled, errors)[0]
        if deviance < _profile(math.exp(upper), scaled, errors)[0]:
            right = upper
        else:
            left = lower
    variance = math.exp((left + right) / 2)
    (some, center), (none, common) = (_profile(v, scaled, errors) for v in (variance, 0.0))
    if some >= none:
        variance, center = 0.0, common
    return Crowd(low + span * center, variance * span**2)


def _profile(variance: float, means: Numbers, errors: Numbers) -> tuple[float, float]:
    """Return -2 log likelihood, up to a constant, and the center that makes it least."""
    total = variance + errors
    center = float(np.average(means, weights=1.0 / total))
    off = means - center
    return float(np.sum(np.log(total) + off * off / total)), center


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
    center = float(np.average(means, weights=1.0 / noise))
    spread = float(np.sum((means - center) ** 2 / noise))
    if len(means) <= 3:
        return center, 1.0
    return center, max(0.0, 1.0 - (len(means) - 3) / spread) if spread > 0 else 0.0
