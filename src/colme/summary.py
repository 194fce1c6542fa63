"""From a stream to what is known of it: the view that its agent keeps, and tells others.

Lives here: `View`, and how samples and a bound become one.  Must not know peers.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from colme.bounds import Evidence

__all__ = ["View", "mean_precision", "recentred"]

_PRIOR_COUNT = 10.0
"""The variance of a stream starts at its scale squared, which counts for so many samples."""


class View(NamedTuple):
    """What is known of one agent's stream.

    Attributes
    ----------
    mean, n_samples
        The mean, and of how many samples it is (0: never heard of).
    radius
        How far that mean may be from the truth at the risk γ of who looks.
    precision
        One over the variance of that mean, as it is estimated (0: never heard of).
    spread, slope, offset
        The evidence around that mean, see `colme.bounds.Evidence`.

    Examples
    --------
    >>> View().radius
    inf
    """

    mean: float = 0.0
    n_samples: float = 0.0
    radius: float = math.inf
    precision: float = 0.0
    spread: float = math.inf
    slope: float = math.inf
    offset: float = 0.0


def mean_precision(count: Any, squares: Any, scale: float) -> Any:
    """Return one over the estimated variance of a mean; numbers and arrays alike.

    `squares` is Σ (x - x̄)², and `scale` the most that the standard deviation can be: the bound
    on it is safe and often far too wide, so it only stands for the first few samples.

    Examples
    --------
    >>> float(mean_precision(1, 0.0, scale=0.5))
    4.0
    >>> round(float(mean_precision(1000, 1000 * 0.01, scale=0.5)))
    80720
    >>> float(mean_precision(0, 0.0, scale=0.5)), float(mean_precision(1, 0.0, scale=math.inf))
    (0.0, 0.0)

    Notes
    -----
    n / v with v = (10 σ² + Σ (x - x̄)²) / (10 + n - 1), or the sample variance if σ is unknown.
    """
    if math.isinf(scale):
        known, degrees = np.asarray(squares), np.maximum(np.subtract(count, 1.0), 0.0)
    else:
        known = squares + _PRIOR_COUNT * scale**2
        degrees = _PRIOR_COUNT + np.subtract(count, 1.0)
    return np.divide(count * degrees, known, out=np.zeros(np.shape(known)), where=known > 0.0)


def recentred(evidence: Evidence[Any], mean: Any) -> Evidence[Any]:
    """Return evidence around the mean instead of its own centre, no stronger than it was.

    Examples
    --------
    >>> evidence = recentred(Evidence(center=0.5, spread=0.0, slope=8.0, offset=1.0), mean=0.75)
    >>> float(evidence.offset)
    3.0

    Notes
    -----
    H grows by at most its slope: H(|c - m|) >= H(|x̄ - m|) - s |x̄ - c|.  While nothing is known
    H is 0 around any mean.
    """
    off = np.where(np.isinf(evidence.spread), 0.0, np.abs(np.subtract(mean, evidence.center)))
    paid = np.multiply(evidence.slope, off, out=np.zeros(np.shape(off)), where=off > 0.0)
    return Evidence(mean, evidence.spread, evidence.slope, evidence.offset + paid[()])
