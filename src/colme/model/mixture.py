"""One mixture for streams and tables: normal components among outliers, and the noise of a mean.

Lives here: the density of a mean in a component, how far a component draws it, and a fit with a
given number of components.  Must not know agents, time, or how many components there should be.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled, exponential, kernel

Array: TypeAlias = NDArray[np.float64]

NORMAL_PEAK = 1 / math.sqrt(2 * math.pi)
"""The density of a standard normal variable at its mean."""
LEAST_OUTLIERS = 1e-5
"""Share of outliers: what an agent 4 standard errors off all components needs to stay alone."""
OWN_COUNT = 10.0
"""The variance of all agents counts like this many samples in an agent's own variance."""
SCALE_COUNT = 1.0
"""A given scale is an upper limit, often far too large: it counts like this many samples."""
_MAX_STEPS = 200
_SETTLED = 1e-2
"""A fit has settled when a step raises the log-likelihood by less than this, per component."""
_NOTHING = 1e-9
"""A component that explains fewer means than this is not moved."""


@compiled
def shrunk_precision(precision: Any, variance: Any) -> Any:
    """Return one over the variance of a mean around the center of its component.

    Examples
    --------
    >>> shrunk_precision(4.0, 0.75)
    1.0

    Notes
    -----
    w / (1 + τ² w) = 1 / (τ² + 1/w), with w the precision and τ² the variance of the component.
    """
    return precision / (1.0 + variance * precision)


@compiled
def pull_share(precision: Any, variance: Any) -> Any:
    """Return how much of the way to the center of its component a mean should go.

    Examples
    --------
    >>> pull_share(4.0, 0.75), pull_share(4.0, 0.0)
    (0.25, 1.0)
    """
    return 1.0 / (1.0 + variance * precision)


@compiled
def component_density(scale: float, off: float, root: float, precision: float) -> float:
    """Return the density of a mean at distance `off` from the center, times `scale` · √(2π).

    `precision` is already shrunk, `root` its square root.

    Examples
    --------
    >>> component_density(NORMAL_PEAK, 0.0, 2.0, 4.0) == 2 * NORMAL_PEAK
    True
    """
    return scale * root * exponential(-0.5 * off * off * precision)


@compiled
def precision_of_mean(count: Any, squares: Any, variance: float) -> Any:
    """Return one over the variance of a mean of `count` samples with Σ (x - x̄)² = `squares`.

    `variance` is that of a sample, averaged over all agents.

    Examples
    --------
    >>> precision_of_mean(4, 0.75, 0.25)
    16.0

    Notes
    -----
    n / v with v = (10 v̄ + Σ (x - x̄)²) / (10 + n - 1), v̄ the average variance.
    """
    total = OWN_COUNT * variance + squares
    return count * (OWN_COUNT + count - 1.0) / total


class Components(NamedTuple):
    """How the true means of agents are spread: Σ_k share_k N(center_k, variance_k) + outliers.

    Attributes
    ----------
    centers, variances, shares
        One of each per component; what the shares lack to 1 belongs to outliers.
    width
        Outliers lie anywhere in a range of this width.
    log_likelihood
        Of the means it was fitted to, in units of the outliers' density.

    Examples
    --------
    >>> means = np.repeat([0.0, 1.0], 20) + np.tile([-0.1, 0.1], 20)
    >>> fitted = fit_components(means, np.full(40, 100.0), np.array([0.2, 0.9]))
    >>> fitted.centers.round(6).tolist(), fitted.shares.round(3).tolist()
    ([0.0, 1.0], [0.5, 0.5])
    """

    centers: Array
    variances: Array
    shares: Array
    width: float
    log_likelihood: float


class _Fit(NamedTuple):
    """A fit in progress: the components, and what they say of each mean."""

    means: Array
    precisions: Array
    centers: Array
    variances: Array
    shares: Array
    densities: Array
    explained: Array


@compiled
def _explain(width: float, fit: _Fit) -> float:
    """Write each mean's density by component, and one over its total; return the log-likelihood.

    Densities are in units of the outliers' density, so that no choice of units can overflow.
    """
    means, precisions, explained = fit.means, fit.precisions, fit.explained
    n = means.shape[0]
    for l in range(n):
        explained[l] = LEAST_OUTLIERS
    for k in range(fit.centers.shape[0]):
        density, center, variance = fit.densities[k], fit.centers[k], fit.variances[k]
        scale = fit.shares[k] * NORMAL_PEAK * width
        for l in range(n):
            shrunk = shrunk_precision(precisions[l], variance)
            density[l] = component_density(scale, means[l] - center, math.sqrt(shrunk), shrunk)
            explained[l] += density[l]
    likelihood = 0.0
    for l in range(n):
        likelihood += math.log(explained[l])
        explained[l] = 1.0 / explained[l]
    return likelihood


@compiled
def _scatter(k: int, center: float, fit: _Fit) -> float:
    """Return Σ r E[(true mean - center)²] over the means of component k, r their chances."""
    means, precisions, density, explained = (
        fit.means,
        fit.precisions,
        fit.densities[k],
        fit.explained,
    )
    before, variance = fit.centers[k], fit.variances[k]
    scatter = 0.0
    for l in range(means.shape[0]):
        share = pull_share(precisions[l], variance)
        off = means[l] + share * (before - means[l]) - center
        scatter += density[l] * explained[l] * (off * off + share * variance)
    return scatter


@compiled
def _move(free: bool, fit: _Fit) -> float:
    """Move each component to the means it explains; return how many means all explain."""
    means, precisions, explained = fit.means, fit.precisions, fit.explained
    explained_by_all = 0.0
    for k in range(fit.centers.shape[0]):
        density, variance = fit.densities[k], fit.variances[k]
        mass = weight = total = 0.0
        for l in range(means.shape[0]):
            chance = density[l] * explained[l]
            mass += chance
            chance *= shrunk_precision(precisions[l], variance)
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
def _climb(steps: int, width: float, free: bool, fit: _Fit) -> float:
    """Improve a fit until it has settled, in at most `steps` steps; return its log-likelihood."""
    likelihood = _explain(width, fit)
    for step in range(steps):
        before = likelihood
        mass = _move(free, fit)
        if mass < _NOTHING:
            return -math.inf
        for k in range(fit.centers.shape[0]):
            fit.shares[k] *= (1.0 - LEAST_OUTLIERS) / mass
        likelihood = _explain(width, fit)
        if step > 2 and likelihood - before < _SETTLED * fit.centers.shape[0]:
            break
    return likelihood


def fit_components(
    means: Array,
    precisions: Array,
    centers: Array,
    variances: Array | None = None,
    shares: Array | None = None,
) -> Components:
    """Return the components that explain the means best, from a start.

    Parameters
    ----------
    means, precisions
        The mean of each agent's samples, and one over the variance of its error.
    centers
        Where the components start.
    variances
        With which variances they start; None for classes, each with one mean.
    shares
        With which shares they start; equal ones if None.

    Examples
    --------
    >>> means = np.random.default_rng(0).normal(3.0, 1.0, 200)
    >>> crowd = fit_components(means, np.full(200, 1e6), np.zeros(1), np.ones(1))
    >>> crowd.centers.round(1).tolist(), crowd.variances.round(1).tolist()
    ([3.0], [0.9])

    Notes
    -----
    By expectation and maximisation: x̄_l ~ Σ_k p_k N(c_k, τ_k² + 1/w_l) + p_0 / width.
    """
    size = len(centers)
    width = float(np.ptp(means) + 2 * math.sqrt((1.0 / precisions).mean()))
    start = np.zeros(size) if variances is None else variances
    equal = np.full(size, (1.0 - LEAST_OUTLIERS) / size)
    fit = _started(means, precisions, centers, start, equal if shares is None else shares)
    likelihood = _climb(_MAX_STEPS, width, variances is not None, fit)
    return Components(fit.centers, fit.variances, fit.shares, width, likelihood)


def component_chances(components: Components, means: Array, precisions: Array) -> Array:
    """Return how probably each mean belongs to each component; the rest is for outliers.

    Examples
    --------
    >>> two = Components(np.array([0.0, 1.0]), np.zeros(2), np.array([0.5, 0.5]), 2.0, 0.0)
    >>> component_chances(two, np.array([0.5, 0.9]), np.full(2, 25.0)).round(3).tolist()
    [[0.5, 0.0], [0.5, 1.0]]
    """
    fit = _started(means, precisions, *components[:3])
    _climb(0, components.width, False, fit)
    return fit.densities * fit.explained


def _started(
    means: Array, precisions: Array, centers: Array, variances: Array, shares: Array
) -> _Fit:
    """Return a fit that starts from a copy of these components."""
    return _Fit(
        means,
        precisions,
        np.array(centers, np.float64),
        np.array(variances, np.float64),
        np.array(shares, np.float64),
        np.empty((len(centers), len(means))),
        np.empty(len(means)),
    )
