"""Descriptions: how the true means of a table may be spread, and what each says of an agent.

Lives here: classes, crowds and how many; their likelihoods and costs; the mean they expect.  Must
not know halves, intervals or tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme.data.estimating.bells import Bells, fit_bells

__all__ = ["Description", "Opinion", "agree", "describe", "expect", "hear", "odds", "weigh"]

Numbers: TypeAlias = NDArray[np.float64]

_MOST_CLASSES, _MOST_CROWDS = 16, 4
_FEWEST = 5
"""Every class or crowd beyond the first needs so many agents, ..."""
_FEWEST_AMID = 12
"""... and a narrow crowd amid a wide one so many in all."""
_SURPRISE = 2.0
"""Several classes are believed if they are so much likelier, in units of the logarithm."""
_HOPELESS = 5.0
"""More classes are not tried once so much likelihood is lost."""
_LEAST_WEIGHT = 1e-6
_LEAST_CHANCE = 1e-200
"""A bell with less weight explains nobody."""
_MOST_AGENTS = 2_000
"""So many agents, drawn by chance, decide between descriptions."""


class Description(NamedTuple):
    """One way in which true means may be spread, and how well it explains a table.

    Attributes
    ----------
    bells
        The fit.
    classes
        Whether each bell is a class, that is, one mean.
    score
        The log-likelihood, less what the description costs.

    Examples
    --------
    >>> Description(Bells(np.zeros(1), np.zeros(1), np.ones(1), 1.0, 0.0), True, -2.0).classes
    True
    """

    bells: Bells
    classes: bool
    score: float


class Opinion(NamedTuple):
    """The mean expected of each agent, and the square error expected of it.

    Examples
    --------
    >>> Opinion(np.zeros(2), np.ones(2)).errors
    array([1., 1.])
    """

    means: Numbers
    errors: Numbers


def describe(means: Numbers, noise: Numbers) -> list[Description]:
    """Return all descriptions of the means, best or not.

    Examples
    --------
    >>> means = np.repeat([0.0, 1.0], 30) + np.tile([-0.1, 0.0, 0.1], 20)
    >>> best = max(describe(means, np.full(60, 0.01)), key=lambda one: one.score)
    >>> best.classes, best.bells.centers.round(3).tolist()
    (True, [0.0, 1.0])

    Notes
    -----
    One to four crowds, the two being either side by side or a narrow one amid a wide one; and
    classes, more and more of them until it is hopeless; each from quantiles of the means.  The
    cost is ½ ln n for each number fitted (the Bayesian information criterion) and 2 more for two
    or more classes.
    """
    return [*_crowds(means, noise), *_classes(means, noise)]


def _crowds(means: Numbers, noise: Numbers) -> Iterator[Description]:
    n, unit = len(means), 0.5 * math.log(len(means))
    total = float(np.var(means))
    spread = max(total - float(noise.mean()), 0.02 * total)
    found = []
    for size in range(1, max(1, min(_MOST_CROWDS, n // _FEWEST)) + 1):
        start = np.full(size, spread / size**2)
        found.append(fit_bells(means, noise, _quantiles(means, size), start))
    if n >= _FEWEST_AMID:
        around, start = np.full(2, np.median(means)), np.array([spread / 100, 2 * spread])
        amid = fit_bells(means, noise, around, start)
        if amid.log_likelihood > found[1].log_likelihood:  # often the two crowds found already
            found[1] = amid
    for bells in found:
        cost = unit * (3 * len(bells.centers) - 1)
        yield Description(bells, False, bells.log_likelihood - cost)


def _classes(means: Numbers, noise: Numbers) -> Iterator[Description]:
    n, unit = len(means), 0.5 * math.log(len(means))
    best = -math.inf
    for size in range(1, max(1, min(_MOST_CLASSES, n // _FEWEST)) + 1):
        bells = fit_bells(means, noise, _quantiles(means, size))
        score = bells.log_likelihood - unit * (2 * size - 1) - (_SURPRISE if size > 1 else 0.0)
        yield Description(bells, True, score)
        best = max(best, score)
        if score < best - _HOPELESS and size > 3:
            return


def _quantiles(means: Numbers, size: int) -> Numbers:
    return np.quantile(means, (np.arange(size) + 0.5) / size)


def odds(bells: Bells, means: Numbers, noise: Numbers) -> Numbers:
    """Return how probably each mean belongs to each bell: [agent, bell]; the rest is for strays.

    Examples
    --------
    >>> bells = Bells(np.array([0.0, 1.0]), np.zeros(2), np.array([0.5, 0.5]), 2.0, 0.0)
    >>> odds(bells, np.array([0.5, 0.9]), np.full(2, 0.04)).round(4).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    total = bells.variances + noise[:, np.newaxis]
    off = means[:, np.newaxis] - bells.centers
    with np.errstate(divide="ignore"):
        logs = np.log(bells.shares * bells.width) - 0.5 * np.log(2 * math.pi * total)
        logs = np.column_stack(
            [logs - 0.5 * off**2 / total, np.full(len(means), _log_strays(bells))]
        )
    logs -= logs.max(axis=1, keepdims=True)
    densities = np.exp(logs)
    chances: Numbers = (densities / densities.sum(axis=1, keepdims=True))[:, :-1]
    return chances


def _log_strays(bells: Bells) -> float:
    return math.log(bells.strays) if bells.strays > 0 else -math.inf


def expect(bells: Bells, means: Numbers, noise: Numbers) -> Opinion:
    """Return the mean that a fit expects of each agent.

    Examples
    --------
    >>> bells = Bells(np.zeros(1), np.ones(1), np.ones(1), 1.0, 0.0)
    >>> expect(bells, np.array([2.0, -2.0]), np.ones(2)).means
    array([ 1., -1.])

    Notes
    -----
    In bell k the true mean is c_k + τ_k² / (τ_k² + s²) (x̄ - c_k) ± the rest; a stray keeps x̄.  The
    error counts which bell it is, what remains within a bell, and that c_k is known only to
    1 / Σ r / (τ_k² + s²), r the chances of all agents to be in the bell.
    """
    total = bells.variances + noise[:, np.newaxis]
    chances = odds(bells, means, noise)
    pull = noise[:, np.newaxis] / total
    drawn = means[:, np.newaxis] + pull * (bells.centers - means[:, np.newaxis])
    weights = (chances / total).sum(axis=0)
    center = np.divide(1.0, weights, out=np.zeros_like(weights), where=weights > _LEAST_CHANCE)
    left = bells.variances * pull + pull**2 * center
    return agree(
        [chances[:, k] for k in range(chances.shape[1])] + [1.0 - chances.sum(axis=1)],
        [Opinion(drawn[:, k], left[:, k]) for k in range(drawn.shape[1])] + [Opinion(means, noise)],
    )


def agree(weights: Sequence[Numbers | float], opinions: Sequence[Opinion]) -> Opinion:
    """Return the average of opinions; what they differ by adds to the error expected.

    Examples
    --------
    >>> agree([0.5, 0.5], [Opinion(np.zeros(1), np.ones(1)), Opinion(np.ones(1), np.ones(1))])
    Opinion(means=array([0.5]), errors=array([1.25]))
    """
    pairs = list(zip(weights, opinions, strict=True))
    means = sum((weight * one.means for weight, one in pairs), np.zeros(1))
    errors = sum(
        (weight * (one.errors + (one.means - means) ** 2) for weight, one in pairs), np.zeros(1)
    )
    return Opinion(means, errors)


def weigh(descriptions: Sequence[Description]) -> list[tuple[float, Description]]:
    """Return the descriptions worth hearing, each with its weight.

    Examples
    --------
    >>> bells = Bells(np.zeros(1), np.zeros(1), np.ones(1), 1.0, 0.0)
    >>> [round(weight, 2) for weight, _ in weigh([Description(bells, True, -1.0)] * 2)]
    [0.5, 0.5]
    """
    scores = np.array([one.score for one in descriptions])
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    heard = weights > _LEAST_WEIGHT
    shares = (weights / weights[heard].sum()).tolist()
    return [(shares[i], one) for i, one in enumerate(descriptions) if heard[i]]


def hear(means: Numbers, noise: Numbers) -> list[tuple[float, Description]]:
    """Return the descriptions of the means that are worth hearing, each with its weight.

    Examples
    --------
    >>> means = np.repeat([0.0, 1.0], 30) + np.tile([-0.1, 0.0, 0.1], 20)
    >>> max(hear(means, np.full(60, 0.01)))[1].bells.centers.round(3).tolist()
    [0.0, 1.0]

    Notes
    -----
    Of many agents 2000, drawn by chance, decide which descriptions these are; then they are fitted
    to all.
    """
    if len(means) <= _MOST_AGENTS:
        return weigh(describe(means, noise))
    chosen = np.random.default_rng(0).choice(len(means), _MOST_AGENTS, replace=False)
    return [
        (weight, one._replace(bells=_refit(one, means, noise)))
        for weight, one in weigh(describe(means[chosen], noise[chosen]))
    ]


def _refit(one: Description, means: Numbers, noise: Numbers) -> Bells:
    variances = None if one.classes else one.bells.variances
    return fit_bells(means, noise, one.bells.centers, variances, one.bells.shares)
