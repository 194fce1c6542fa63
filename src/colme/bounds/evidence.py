"""Evidence: what a peer needs of a stream to test whether their means are equal.

Lives here: its shape, its inverse, and the test of a pair.  Must not know streams or bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from colme import _check
from colme._compile import compiled

Numbers: TypeAlias = NDArray[np.float64]
"""One number per stream."""

N_co = TypeVar("N_co", bound=float | Numbers, covariant=True)
"""A float for one stream, an array for several followed at once."""


@compiled
def huber(distance: float, spread: float, slope: float) -> float:
    """Return the Huber function: a parabola of that spread, continued by a line of that slope.

    An infinite slope leaves the parabola alone, no spread leaves the line alone, and an infinite
    spread (nothing known yet) gives 0.

    Examples
    --------
    >>> huber(1.0, 0.5, 10.0), huber(1.0, 0.5, 1.0), huber(1.0, 0.0, 3.0)
    (1.0, 0.75, 3.0)

    Notes
    -----
    H(d) = d²/(2q) while d <= s q, then s d - s²q/2: with z = min(d/q, s) and r = z q = min(d, s q)
    it is z (d - r/2).  Comparisons with the NaN of ∞ · 0 are false, which picks r = d.
    """
    steepness = distance / spread if spread > 0.0 else slope
    steepness = steepness if steepness < slope else slope
    reach = slope * spread
    reach = reach if reach < distance else distance
    return steepness * (distance - reach / 2) if distance > 0.0 else 0.0


@compiled
def separated(
    distance: float,
    spread_a: float,
    slope_a: float,
    offset_a: float,
    spread_b: float,
    slope_b: float,
    offset_b: float,
    log_risk: float,
) -> bool:
    """Return whether two streams whose centres are `distance` apart must have different means.

    If the streams are independent and their means equal, the answer is True at any time, with
    whatever delay the evidence arrives, with probability at most γ; `log_risk` = ln(1/γ).

    Examples
    --------
    >>> here = there = (0.01, float("inf"), 2.0)
    >>> [separated(distance, *here, *there, log_risk=2.25) for distance in (0.49, 0.5)]
    [False, True]

    Notes
    -----
    inf over m of H_a(|c_a - m|) + H_b(|c_b - m|) is the Huber function of |c_a - c_b| with the sum
    of the spreads and the smaller slope.
    """
    slope = slope_a if slope_a < slope_b else slope_b
    return huber(distance, spread_a + spread_b, slope) - offset_a - offset_b >= log_risk


@dataclass(frozen=True)
class Evidence(Generic[N_co]):
    """What the samples of a stream say against each value m of its mean.

    There is an e-process M(m), which if m is the mean ever reaches 1/γ with probability at most γ,
    with ln M(m) >= H(|center - m|) - offset for every m that the mean can be.  H is `huber` with
    this spread and slope.

    Parameters
    ----------
    center
        Where the evidence is smallest.
    spread
        Squared width of the parabola around it; +∞ while nothing is known.
    slope
        Slope of the line that continues the parabola; +∞ if nothing does.
    offset
        What is paid for not knowing beforehand when or where to look.

    Examples
    --------
    >>> Evidence(center=0.2, spread=0.02, slope=float("inf"), offset=2.0).radius(log_risk=2.0)
    0.4
    """

    center: N_co
    spread: N_co
    slope: N_co
    offset: N_co

    def around(self, mean: Any) -> Evidence[N_co]:
        """Return evidence around the mean instead of its own centre, no stronger than it was.

        Examples
        --------
        >>> Evidence(center=0.5, spread=0.0, slope=8.0, offset=1.0).around(0.75).offset
        3.0

        Notes
        -----
        H grows by at most its slope: H(|c - m|) >= H(|x̄ - m|) - s |x̄ - c|.  While nothing is known
        H is 0 around any mean.
        """
        if type(self.spread) is float:  # one stream: far quicker without arrays
            away = 0.0 if math.isinf(self.spread) else abs(mean - self.center)
            paid = self.slope * away if away > 0.0 else 0.0
            return Evidence(mean, self.spread, self.slope, self.offset + paid)
        off = np.where(np.isinf(self.spread), 0.0, np.abs(np.subtract(mean, self.center)))
        cost = np.multiply(self.slope, off, out=np.zeros(np.shape(off)), where=off > 0.0)
        return Evidence(mean, self.spread, self.slope, self.offset + cost[()])

    def radius(self, log_risk: float) -> N_co:
        """Return the smallest d with H(d) - offset >= `log_risk` = ln(1/γ)."""
        if type(self.spread) is float:  # one stream: far quicker without arrays
            return cast("N_co", self._radius_of_one(log_risk))
        level: Any = np.add(self.offset, _check.positive("log_risk", log_risk))
        near = np.sqrt(2 * self.spread * level)
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.multiply(self.slope, self.spread)  # where the line begins
            radius = np.where(reach <= near, np.divide(level, self.slope) + reach / 2, near)
        return cast("N_co", radius if radius.ndim else float(radius))

    def _radius_of_one(self, log_risk: float) -> float:
        spread, slope = cast("float", self.spread), cast("float", self.slope)
        level = cast("float", self.offset) + _check.positive("log_risk", log_risk)
        near = math.sqrt(2 * spread * level) if level >= 0.0 else math.nan
        reach = slope * spread  # where the line begins
        if not reach <= near:  # NaN of ∞ · 0 too
            return near
        return level / slope + reach / 2 if slope > 0.0 else math.inf
