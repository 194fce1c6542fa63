"""Bells: a few bell-shaped crowds among strays, fitted to the means of a table.

Lives here: one fit, by expectation and maximisation.  Must not know agents, nor which fit is best.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled, exponential, kernel

__all__ = ["Bells", "fit_bells"]

Numbers = NDArray[np.float64]

_BELL = 1 / math.sqrt(2 * math.pi)
_MOST_STEPS = 200
_SETTLED = 1e-2
"""A fit has settled when a step raises the log-likelihood by less than this, per bell."""
_NOTHING = 1e-9
_STRAYS = 1e-5
"""Share of strays: what an agent some 4 standard errors off all bells needs to stay alone."""


class Bells(NamedTuple):
    """How the true means of agents are spread: Σ_k share_k N(center_k, variance_k) + strays.

    Attributes
    ----------
    centers, variances, shares
        One of each per bell; what shares lack to 1 are strays.
    width
        Strays lie anywhere over so much.
    log_likelihood
        Of the means it was fitted to, in units of the strays' density.

    Examples
    --------
    >>> Bells(np.zeros(1), np.ones(1), np.ones(1), 10.0, 0.0).strays
    0.0
    """

    centers: Numbers
    variances: Numbers
    shares: Numbers
    width: float
    log_likelihood: float

    @property
    def strays(self) -> float:
        """Share of the strays."""
        return 1.0 - float(self.shares.sum())


class _Fit(NamedTuple):
    """A fit on its way: the bells, and what they say of each mean."""

    means: Numbers
    noise: Numbers
    centers: Numbers
    variances: Numbers
    shares: Numbers
    densities: NDArray[np.float64]
    explained: Numbers


@compiled
def _explain(width: float, fit: _Fit) -> float:
    """Write the density of each mean by bell, and one over that by all; return the likelihood.

    Densities are in units of the strays', so that no choice of units can overflow.
    """
    means, noise, explained = fit.means, fit.noise, fit.explained
    n = means.shape[0]
    for l in range(n):
        explained[l] = _STRAYS
    for k in range(fit.centers.shape[0]):
        density, center, variance = fit.densities[k], fit.centers[k], fit.variances[k]
        share = fit.shares[k] * _BELL * width
        for l in range(n):
            total = variance + noise[l]
            off = means[l] - center
            density[l] = share / math.sqrt(total) * exponential(-0.5 * off * off / total)
            explained[l] += density[l]
    likelihood = 0.0
    for l in range(n):
        likelihood += math.log(explained[l])
        explained[l] = 1.0 / explained[l]
    return likelihood


@compiled
def _scatter(k: int, center: float, fit: _Fit) -> float:
    """Return Σ r E[(true mean - center)²] over the means of bell k, r their chances."""
    means, noise, density, explained = fit.means, fit.noise, fit.densities[k], fit.explained
    before, variance = fit.centers[k], fit.variances[k]
    scatter = 0.0
    for l in range(means.shape[0]):
        pull = variance / (variance + noise[l])
        off = before + (means[l] - before) * pull - center
        scatter += density[l] * explained[l] * (off * off + pull * noise[l])
    return scatter


@compiled
def _move(free: bool, fit: _Fit) -> float:
    """Move each bell to the means it explains; return how many means all explain."""
    means, noise, explained = fit.means, fit.noise, fit.explained
    explained_by_all = 0.0
    for k in range(fit.centers.shape[0]):
        density, variance = fit.densities[k], fit.variances[k]
        mass = weight = total = 0.0
        for l in range(means.shape[0]):
            chance = density[l] * explained[l]
            mass += chance
            chance /= variance + noise[l]
            weight += chance
            total += chance * means[l]
        if mass > _NOTHING:
            center = total / weight
            if free:
                fit.variances[k] = _scatter(k, center, fit) / mass
            fit.centers[k] = center
        fit.shares[k] = mass
        explained_by_all += mass
    return explained_by_all


@kernel
def _climb(width: float, free: bool, fit: _Fit) -> float:
    """Improve a fit step by step until it has settled; return its log-likelihood."""
    before = -math.inf
    for step in range(_MOST_STEPS):
        likelihood = _explain(width, fit)
        if step > 3 and likelihood - before < _SETTLED * fit.centers.shape[0]:
            break
        before = likelihood
        mass = _move(free, fit)
        if mass < _NOTHING:
            return -math.inf
        for k in range(fit.centers.shape[0]):
            fit.shares[k] *= (1.0 - _STRAYS) / mass
    return likelihood


def fit_bells(
    means: Numbers,
    noise: Numbers,
    centers: Numbers,
    variances: Numbers | None = None,
    shares: Numbers | None = None,
) -> Bells:
    """Return the bells that explain the means best, from a start.

    Parameters
    ----------
    means, noise
        Mean of each agent's samples, and the variance it has as an estimate.
    centers
        Where the bells start.
    variances
        With which variances they start; None for classes, each with one mean.
    shares
        With which shares they start; equal ones if None.

    Examples
    --------
    >>> means = np.repeat([0.0, 1.0], 20) + np.tile([-0.1, 0.1], 20)
    >>> fitted = fit_bells(means, np.full(40, 0.01), np.array([0.2, 0.9]))
    >>> fitted.centers.round(6).tolist(), fitted.shares.round(3).tolist()
    ([0.0, 1.0], [0.5, 0.5])

    Notes
    -----
    x̄_l ~ Σ_k p_k N(c_k, τ_k² + s_l²) + p_0 / width, with s_l² the noise of x̄_l.
    """
    size, n = len(centers), len(means)
    width = float(np.ptp(means) + 2 * math.sqrt(noise.mean()))
    start = np.zeros(size) if variances is None else variances
    fit = _Fit(
        means,
        noise,
        np.array(centers, np.float64),
        np.array(start, np.float64),
        np.full(size, (1.0 - _STRAYS) / size) if shares is None else np.array(shares, np.float64),
        np.empty((size, n)),
        np.empty(n),
    )
    likelihood = _climb(width, variances is not None, fit)
    return Bells(fit.centers, fit.variances, fit.shares, width, likelihood)
