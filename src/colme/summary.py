"""From a stream to what is known of it: the view that its agent keeps, and tells others.

Lives here: `View`, and how samples and a bound become one.  Must not know peers.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from colme.bounds import Evidence

__all__ = ["View", "recentred"]


class View(NamedTuple):
    """What is known of one agent's stream.

    Attributes
    ----------
    mean, n_samples
        The mean, and of how many samples it is (0: never heard of).
    radius
        How far that mean may be from the truth at the risk γ of who looks.
    precision
        One over the variance of that mean, as who looks estimates it (0: never heard of).
    spread, slope, offset
        The evidence around that mean, see `colme.bounds.Evidence`.
    squares
        Σ (x - x̄)² over those samples.
    epoch
        How often the stream has begun anew.

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
    squares: float = 0.0
    epoch: float = 0.0


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
    if type(evidence.spread) is float:  # one stream: far quicker without arrays
        away = 0.0 if math.isinf(evidence.spread) else abs(mean - evidence.center)
        paid_for = evidence.slope * away if away > 0.0 else 0.0
        return Evidence(mean, evidence.spread, evidence.slope, evidence.offset + paid_for)
    off = np.where(np.isinf(evidence.spread), 0.0, np.abs(np.subtract(mean, evidence.center)))
    paid = np.multiply(evidence.slope, off, out=np.zeros(np.shape(off)), where=off > 0.0)
    return Evidence(mean, evidence.spread, evidence.slope, evidence.offset + paid[()])
