"""Noise: how far the mean of an agent's samples may be from its true mean.

Lives here: the scatter of one sample of a table, and the intervals and evidence that follow.  Must
not know peers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from colme.bounds import mixture_width, student_radius, student_spread, tuned_prior
from colme.bounds.known_noise import TABLE_N_OPT, KnownNoise
from colme.data.summaries import Counts, Numbers, Summaries


def pooled_variance(summaries: Summaries) -> float:
    """Return the variance of samples around their agents' means; NaN with one sample each.

    Examples
    --------
    >>> pooled_variance(Summaries.of(["a", "a", "b"], [1.0, 3.0, 9.0]))
    2.0
    """
    degrees = int(np.sum(summaries.counts - 1))
    return float(np.sum(summaries.squares)) / degrees if degrees else math.nan


@dataclass(frozen=True)
class Noise:
    """The scatter of one sample of a table around its agent's true mean.

    Parameters
    ----------
    kind
        `sigma`: every sample is σ-sub-Gaussian; `range`: it lies in a range; `estimated`: it is
        Gaussian, and each agent has a variance of its own.
    scale
        σ, half the range, or the pooled standard deviation (NaN if no agent has two samples).
    low, high
        The ends of the range, if there is one: true means lie between them, too.

    Examples
    --------
    >>> Noise.of(Summaries.of(["a", "a", "b"], [1.0, 3.0, 9.0])).kind
    'estimated'
    >>> Noise.of(Summaries.of(["a", "b"], [3.0, 1.0]), value_range=(0, 5))
    Noise(kind='range', scale=2.5, low=0.0, high=5.0)

    Notes
    -----
    With σ or a range, intervals are normal mixtures.  Estimated, they are Student's, with the
    pooled variance added to an agent's own squares: that only widens them, so the guarantee stays,
    and an agent whose few samples happen to be equal still has an interval.
    """

    kind: Literal["sigma", "range", "estimated"]
    scale: float
    low: float = -math.inf
    high: float = math.inf

    @classmethod
    def of(
        cls,
        summaries: Summaries,
        sigma: float | None = None,
        value_range: tuple[float, float] | None = None,
    ) -> Noise:
        """Return the noise that is given, or estimated if none is.

        Values that are all 0 or 1, Σ (x - x̄)² = n x̄ (1 - x̄), have a range, given or not: there an
        estimate would fail.
        """
        known, means, squares = KnownNoise(sigma, value_range), summaries.means, summaries.squares
        if known.sigma is not None:
            return cls("sigma", known.sigma)
        if known.value_range is not None:
            low, high = known.value_range
            beyond = (means < low) | (means > high)
            if beyond.any():
                worst = int(np.argmax(beyond))
                raise ValueError(
                    f"all samples must lie in [{low:g}, {high:g}]; the mean of "
                    f"{summaries.agents[worst]!s} is {means[worst]:g}: give a wider range"
                )
            return cls("range", (high - low) / 2, low, high)
        of_coins = summaries.counts * means * (1 - means)
        if squares.any() and bool(np.all(np.abs(squares - of_coins) <= 1e-9 * summaries.counts)):
            return cls("range", 0.5, 0.0, 1.0)
        variance = pooled_variance(summaries)
        if variance == 0:
            raise ValueError(
                "all samples of each agent are equal, so their noise cannot be estimated: give "
                "the standard deviation of a sample (--sigma S) or the range of samples "
                "(--range LOW HIGH)"
            )
        return cls("estimated", math.sqrt(variance))

    @property
    def known(self) -> bool:
        """Whether noise can be distinguished from differences between agents."""
        return not math.isnan(self.scale)

    @property
    def meaning(self) -> str:
        """One sentence: what is assumed of samples."""
        if not self.known:
            return "Noise is unknown: no agent has two samples."
        return {
            "sigma": f"Samples are sub-Gaussian with sigma = {self.scale:g}, as given.",
            "range": f"Samples lie between {self.low:g} and {self.high:g}.",
            "estimated": (
                f"Noise is estimated (pooled standard deviation {self.scale:.4g}).  Intervals are "
                "exact for Gaussian samples, whatever the variance of each agent; for skewed ones "
                "(rare events, long tails) they miss more often than delta."
            ),
        }[self.kind]

    def radii(self, counts: Counts, squares: Numbers, risk: float) -> Numbers:
        """Return the half-width of each agent's interval, at all times at once, at that risk.

        Examples
        --------
        >>> Noise("sigma", 1.0).radii(np.array([1, 100]), np.zeros(2), 0.05).round(3)
        array([3.347, 0.334])
        """
        if not self.known:
            return np.full(len(counts), np.inf)
        prior = tuned_prior(TABLE_N_OPT, risk)
        if self.kind == "estimated":
            return student_radius(counts, squares + self.scale**2, prior, -math.log(risk))
        widths: Numbers = mixture_width(counts, prior, risk, np.log)
        return self.scale * np.sqrt(widths)

    def evidence(self, counts: Counts, squares: Numbers, risk: float) -> tuple[Numbers, Numbers]:
        """Return spreads and offsets of each agent's evidence, for joint tests at that risk.

        Examples
        --------
        >>> spreads, offsets = Noise("sigma", 1.0).evidence(np.array([100]), np.zeros(1), 0.01)
        >>> spreads.round(4), offsets.round(3)
        (array([0.01]), array([2.732]))

        Notes
        -----
        A test adds the peer's offset to the evidence it requires, so Student's parabola reaches up
        to ln(1/γ) plus the largest offset.
        """
        prior = tuned_prior(TABLE_N_OPT, risk)
        offsets = 0.5 * np.log1p(counts / prior)
        if not self.known:
            return np.full(len(counts), np.inf), offsets
        if self.kind == "estimated":
            level = -math.log(risk) + float(offsets.max(initial=0.0))
            return student_spread(counts, squares + self.scale**2, prior, level), offsets
        return self.scale**2 * (counts + prior) / counts**2, offsets
