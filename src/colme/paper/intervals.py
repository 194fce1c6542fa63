"""How sure a measured mean is: the 95 % interval of the mean over runs.

Lives here: Student's t for whole degrees of freedom.  Must not know experiments or tables.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike


def mean_interval(times: ArrayLike, level: float = 0.95) -> tuple[float, float] | None:
    """Return the interval of the mean of times[run, agent], or None for a single run.

    Agents of one run hear the same peers, so only the averages of whole runs are independent:
    the interval is Student's, on those.

    Examples
    --------
    >>> low, high = mean_interval([[1, 3], [3, 5], [5, 7]])
    >>> round(low, 2), round(high, 2)
    (-0.97, 8.97)
    """
    averages = np.asarray(times, dtype=np.float64).mean(axis=1)
    if averages.size < 2:
        return None
    half = t_quantile((1 + level) / 2, averages.size - 1) * averages.std(ddof=1)
    half /= math.sqrt(averages.size)
    return float(averages.mean() - half), float(averages.mean() + half)


def t_quantile(probability: float, degrees: int) -> float:
    """Return the t that Student's distribution stays below with a probability in [0.5, 1).

    Examples
    --------
    >>> round(t_quantile(0.975, 19), 4)
    2.093
    """
    if not (0.5 <= probability < 1 and degrees >= 1):
        raise ValueError(
            "a quantile is computed for 0.5 <= probability < 1 and degrees >= 1; "
            f"received {probability}, {degrees}"
        )
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        if (1 + _two_sided(angle, degrees)) / 2 < probability:
            low = angle
        else:
            high = angle
    return math.sqrt(degrees) * math.tan(low)


def _two_sided(angle: float, degrees: int) -> float:
    """Return P(|T| < √ν tan angle), a finite sum for whole ν (Abramowitz and Stegun, 26.7.3-4)."""
    cosine, odd = math.cos(angle), degrees % 2
    term = cosine if odd else 1.0
    total = term if degrees > 1 else 0.0
    for k in range(2 + odd, degrees, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    share = math.sin(angle) * total
    return 2 / math.pi * (angle + share) if odd else share
