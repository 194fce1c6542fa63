"""Normal mixtures: sub-Gaussian samples of known scale.

Lives here: the bound of the ColME paper and its tuned sibling.  Must not know agents.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from colme.bounds.counted import Counted


@lru_cache(maxsize=256)
def tuned_prior(n_opt: float, gamma: float) -> float:
    """Return the prior count ν at which a normal mixture is narrowest after `n_opt` samples.

    Examples
    --------
    >>> round(tuned_prior(500, 0.05), 2)
    60.89

    Notes
    -----
    ν = n_opt / u with u - ln(1 + u) = 2 ln(1/γ), that is u = -W₋₁(-γ²/e) - 1, by Newton's method:
    the left side rises and is convex, so from the second step on u comes down to the root.
    """
    level = -2 * math.log(gamma)
    u = level + math.sqrt(2 * level)
    for _ in range(50):
        step = (u - math.log1p(u) - level) * (1 + u) / u
        u -= step
        if abs(step) <= 1e-15 * u:
            break
    return n_opt / u


def mixture_width(n: Any, prior: float, gamma: float, log: Callable[[Any], Any]) -> Any:
    """Return the square of the radius for σ = 1; numbers and arrays alike.

    Examples
    --------
    >>> round(mixture_width(100, 1.0, 0.05, math.log), 4)
    0.1071

    Notes
    -----
    (2/n)(1 + ν/n) ln(√(n/ν + 1) / γ).
    """
    return 2 / n * (1 + prior / n) * (0.5 * log(n / prior + 1) - math.log(gamma))


def mixture_shape(n: float, variance: Any, prior: float) -> tuple[Any, float, float]:
    """Return spread, slope and offset of the evidence of n samples of that variance.

    Examples
    --------
    >>> mixture_shape(1, 2.0, 1.0)
    (4.0, inf, 0.34657359027997264)

    Notes
    -----
    ln M(m) = n²(x̄ - m)² / (2σ²(n + ν)) - ½ ln(1 + n/ν): a parabola, exactly.
    """
    return variance * (n + prior) / n**2, math.inf, 0.5 * math.log1p(n / prior)


class Mixture(Counted):
    """A normal mixture of a prior count ν; subclasses choose it.

    Examples
    --------
    >>> bounds: list[Mixture] = [Laplace(0.5, 0.05), NormalMixture(0.5, n_opt=500, gamma=0.05)]
    >>> [round(bound.prior, 2) for bound in bounds]
    [1.0, 60.89]
    """

    prior: float

    def _width(self, n: Any, log: Callable[[Any], Any]) -> Any:
        return mixture_width(n, self.prior, self.gamma, log)

    def shape(self, n: float) -> tuple[float, float, float]:
        """Return spread, slope and offset of the evidence of n >= 1 samples."""
        return mixture_shape(n, self.sigma**2, self.prior)


@dataclass(frozen=True)
class Laplace(Mixture):
    """Time-uniform interval around the mean of a σ-sub-Gaussian stream.

    With probability at least 1 - γ the mean of the first n samples is within ``radius(n)`` of
    the true mean for every n at once.

    Parameters
    ----------
    sigma
        Sub-Gaussian scale of one sample (for Gaussian noise, its standard deviation).
    gamma
        Risk of the interval, both sides together.

    Examples
    --------
    >>> from colme.bounds import split_risk
    >>> bound = Laplace(sigma=0.5, gamma=split_risk(0.001, 200))
    >>> round(bound.radius(100), 4), bound.radius(0)
    (0.2895, inf)
    >>> bound.inverse(0.05)
    3680

    Notes
    -----
    β(n) = σ √( (2/n) (1 + 1/n) ln(√(n+1) / γ) ): Lemma 1, by the method of mixtures.
    """

    sigma: float
    gamma: float
    prior: ClassVar[float] = 1.0  # type: ignore[misc] # the same for all


@dataclass(frozen=True)
class NormalMixture(Mixture):
    """Time-uniform interval around a σ-sub-Gaussian mean, narrowest at a count of your choice.

    Parameters
    ----------
    sigma
        Sub-Gaussian scale of one sample.
    n_opt
        The count at which no other prior would give a narrower interval.
    gamma
        Risk of the interval, both sides together.

    Examples
    --------
    >>> tuned, plain = NormalMixture(sigma=0.5, n_opt=500, gamma=0.05), Laplace(0.5, 0.05)
    >>> [round(bound.radius(500), 4) for bound in (tuned, plain)]
    [0.0679, 0.0782]

    Notes
    -----
    σ √( (2/n) (1 + ν/n) ln(√(n/ν + 1) / γ) ), ν by `tuned_prior`; `Laplace` has ν = 1.
    """

    sigma: float
    n_opt: float
    gamma: float = 0.05

    @property
    def prior(self) -> float:  # type: ignore[override]
        """The prior count ν."""
        return tuned_prior(self.n_opt, self.gamma)
