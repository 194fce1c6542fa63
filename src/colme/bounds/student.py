"""Student's bound: Gaussian samples of unknown variance.

Lives here: the normal mixture that needs no scale, its radius, and its stream.  Must not know
agents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme.bounds.base import Bound, StreamBase
from colme.bounds.evidence import Evidence, N_co
from colme.bounds.mixture import tuned_prior


def student_radius(n: Any, squares: Any, prior: float, level: float) -> NDArray[np.float64]:
    """Return how far from the mean of n samples the evidence reaches `level`; numbers or arrays.

    `squares` are Σ (x - x̄)², `prior` is ν; +∞ where so few samples never can.

    Examples
    --------
    >>> student_radius([1, 10, 100], [0.0, 9.0, 99.0], prior=6.0, level=math.log(20)).round(3)
    array([  inf, 1.917, 0.313])

    Notes
    -----
    With Q = Σ (x - x̄)² and κ = ν / (n + ν), the evidence against a mean at distance d is

        ln M = ½ ln κ + (n/2) ln( (Q + n d²) / (Q + κ n d²) ),

    which reaches ln(1/γ) at n d² = Q (g - 1) / (1 - κ g), g = (γ² κ)^(-1/n), if κ g < 1.
    """
    n = np.asarray(n, dtype=np.float64)
    kappa = prior / (n + prior)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        growth = np.expm1((2 * level - np.log(kappa)) / n)
        within = 1 - kappa - kappa * growth
        radius = np.sqrt(np.divide(squares, n) * growth / within)
    return np.where(within > 0, radius, np.inf)


def student_spread(n: Any, squares: Any, prior: float, level: float) -> NDArray[np.float64]:
    """Return the spread of the parabola that lies below the evidence until it reaches `level`.

    Examples
    --------
    >>> spread = student_spread(100, 99.0, prior=6.0, level=10.0)
    >>> offset = 0.5 * math.log1p(100 / 6)
    >>> bool(np.isclose(student_radius(100, 99.0, 6.0, 10.0) ** 2, 2 * spread * (10 + offset)))
    True

    Notes
    -----
    ln M is concave as a function of d², so the chord from d = 0 to where it reaches the level lies
    below it: a parabola in d.  Beyond, ln M stays above the level and the parabola does not.
    """
    radius = student_radius(n, squares, prior, level)
    offset = 0.5 * np.log1p(np.divide(n, prior))
    return np.where(radius > 0, radius**2 / (2 * (level + offset)), np.inf)


class StudentStream(StreamBase[N_co]):
    """A stream of samples, their mean and their variance.

    Examples
    --------
    >>> stream = Student(n_opt=10).stream()
    >>> stream.update(1.0)
    >>> stream.interval
    (-inf, inf)
    """

    def __init__(self, bound: Student, n: int | None) -> None:
        super().__init__(bound, n)
        self._prior = bound.prior

    @property
    def interval(self) -> tuple[N_co, N_co]:
        """The mean ± the radius; everything while all samples are equal."""
        radius = student_radius(self.count, self._squares, self._prior, self._log_risk)
        radius = np.where(radius > 0, radius, np.inf)
        return self._between(self._mean - radius, self._mean + radius)

    @property
    def evidence(self) -> Evidence[N_co]:
        """A parabola around the mean, below the evidence as far as a test looks."""
        if self.count < 2:
            return super().evidence
        offset = 0.5 * math.log1p(self.count / self._prior)
        level = 2 * self._log_risk + offset
        spread = student_spread(self.count, self._squares, self._prior, level)
        return self._as_evidence(self._mean, spread, np.inf, offset)


@dataclass(frozen=True)
class Student(Bound):
    """Time-uniform interval around the mean of Gaussian samples of unknown variance.

    Exact for independent Gaussian samples, whatever their variance.  For others of finite variance
    it is only near, the nearer the more samples; skewed ones break it, rare events and tails on one
    side most of all.

    Parameters
    ----------
    n_opt
        The count at which the interval is about narrowest, compared with other priors.
    gamma
        Risk of the interval, both sides together.

    Examples
    --------
    >>> streams = Student(n_opt=100, gamma=0.05).stream(2)
    >>> for pair in [(19.0, 1.9), (21.0, 2.1), (20.0, 2.0), (20.0, 2.0)] * 25:
    ...     streams.update(pair)
    >>> streams.interval[0].round(3)
    array([19.78 ,  1.978])

    Notes
    -----
    The likelihood of the mean m + σθ, θ ~ N(0, 1/ν), over that of m, with σ integrated out of both
    as 1/σ; `student_radius` has the formula, docs/7-bounds.md why it is a martingale whatever σ.
    The parabola for peers lies below the evidence up to 2 ln(1/γ) + offset, which is enough for a
    peer whose offset is larger by up to ln(1/γ).
    """

    n_opt: float
    gamma: float = 0.05
    stream_type = StudentStream

    @property
    def prior(self) -> float:
        """The prior count ν."""
        return tuned_prior(self.n_opt, self.gamma)
