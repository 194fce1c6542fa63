"""Descriptions: how the true means of a table may be spread, and what each says of an agent.

Lives here: classes and crowds, how many of them, what each costs, and the mean they expect.  Must
not know halves, intervals or tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from colme.data.summaries import Counts, Numbers
from colme.model import mixture

_MAX_CLASSES, _MAX_CROWDS = 16, 4
_MIN_AGENTS = 5
"""Every class or crowd beyond the first needs this many agents, ..."""
_MIN_AGENTS_NESTED = 12
"""... and a narrow crowd inside a wide one this many in all."""
_SURPRISE = 2.0
"""Several classes cost this much more, in units of the logarithm: they must be clearly likelier."""
_HOPELESS = 5.0
"""More classes are not tried once this much likelihood is lost."""
_LEAST_WEIGHT = 1e-6
"""Descriptions with less weight are left out."""
_LEAST_PRECISION = 1e-200
"""A component whose members have less precision in all explains nobody."""
_MAX_AGENTS = 2_000
"""At most this many agents, drawn by chance, decide between descriptions."""


class Description(NamedTuple):
    """One way in which true means may be spread, and how well it explains a table.

    Attributes
    ----------
    components
        The fit.
    are_classes
        Whether each component is a class, that is, one mean.
    score
        The log-likelihood, less what the description costs.

    Examples
    --------
    >>> means = np.repeat([0.0, 1.0], 30) + np.tile([-0.1, 0.0, 0.1], 20)
    >>> weight, best = max(describe(means, np.full(60, 0.01)))
    >>> weight > 0.9, best.are_classes, best.components.centers.round(3).tolist()
    (True, True, [0.0, 1.0])
    """

    components: mixture.Components
    are_classes: bool
    score: float


class Opinion(NamedTuple):
    """The mean expected of each agent, and the square error expected of it.

    Examples
    --------
    >>> agree([0.5, 0.5], [Opinion(np.zeros(1), np.ones(1)), Opinion(np.ones(1), np.ones(1))])
    Opinion(means=array([0.5]), errors=array([1.25]))
    """

    means: Numbers
    errors: Numbers


def describe(means: Numbers, noise: Numbers) -> list[tuple[float, Description]]:
    """Return the descriptions that explain the means, each with its weight.

    Examples
    --------
    >>> described = describe(np.array([0.0, 0.1, 0.2, 5.0, 5.1]), np.full(5, 0.01))
    >>> round(sum(weight for weight, _ in described), 9)
    1.0

    Notes
    -----
    One to four crowds, two of them either side by side or a narrow one inside a wide one; and
    classes, more and more of them until it is hopeless; each starts from quantiles of the means.
    The cost is ½ ln n for each number fitted (the Bayesian information criterion) and 2 more for
    two or more classes.  A description weighs as much as its likelihood less its cost.  Of many
    agents 2000, drawn by chance, decide; then the descriptions are fitted to all.
    """
    precisions, n = 1.0 / noise, len(means)
    chosen: slice | Counts = slice(None)
    if n > _MAX_AGENTS:
        chosen = np.random.default_rng(0).choice(n, _MAX_AGENTS, replace=False)
    found = list(_descriptions(means[chosen], precisions[chosen]))
    scores = np.array([one.score for one in found])
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    weights[weights <= _LEAST_WEIGHT] = 0.0
    kept = [(w, one) for w, one in zip((weights / weights.sum()).tolist(), found, strict=True) if w]
    if n <= _MAX_AGENTS:
        return kept
    return [(w, _refitted(one, means, precisions)) for w, one in kept]


def _descriptions(means: Numbers, precisions: Numbers) -> Iterator[Description]:
    """Yield all descriptions of the means, good or not."""
    n, unit, total = len(means), 0.5 * math.log(len(means)), float(np.var(means))
    spread = max(total - float((1.0 / precisions).mean()), 0.02 * total)
    starts = [
        np.quantile(means, (np.arange(size) + 0.5) / size)
        for size in range(1, max(1, min(_MAX_CLASSES, n // _MIN_AGENTS)) + 1)
    ]
    for size, start in enumerate(starts[:_MAX_CROWDS], 1):
        crowds = mixture.fit_components(means, precisions, start, np.full(size, spread / size**2))
        if size == 2 and n >= _MIN_AGENTS_NESTED:
            around, widths = np.full(2, np.median(means)), np.array([spread / 100, 2 * spread])
            nested = mixture.fit_components(means, precisions, around, widths)
            crowds = max(crowds, nested, key=lambda one: one.log_likelihood)
        yield Description(crowds, False, crowds.log_likelihood - unit * (3 * size - 1))
    best = -math.inf
    for size, start in enumerate(starts, 1):
        classes = mixture.fit_components(means, precisions, start)
        cost = unit * (2 * size - 1) + (_SURPRISE if size > 1 else 0.0)
        score = classes.log_likelihood - cost
        yield Description(classes, True, score)
        best = max(best, score)
        if score < best - _HOPELESS and size > 3:
            return


def _refitted(one: Description, means: Numbers, precisions: Numbers) -> Description:
    """Return a description fitted to other means, from where it is."""
    centers, variances, shares = one.components[:3]
    start = None if one.are_classes else variances
    return one._replace(
        components=mixture.fit_components(means, precisions, centers, start, shares)
    )


def expect(components: mixture.Components, means: Numbers, noise: Numbers) -> Opinion:
    """Return the mean that a fit expects of each agent.

    Examples
    --------
    >>> crowd = mixture.Components(np.zeros(1), np.ones(1), np.ones(1), 1.0, 0.0)
    >>> expect(crowd, np.array([2.0, -2.0]), np.ones(2)).means.round(3)
    array([ 1., -1.])

    Notes
    -----
    In component k the true mean is c_k + τ_k² / (τ_k² + s²) (x̄ - c_k) ± the rest; an outlier keeps
    x̄.  The error counts which component it is, what remains within a component, and that c_k is
    known only to 1 / Σ r / (τ_k² + s²), r the chances of all agents to be in the component.
    """
    precisions = 1.0 / noise
    chances = mixture.component_chances(components, means, precisions)
    opinions = [Opinion(means, noise)]
    for k, (center, variance) in enumerate(zip(*components[:2], strict=True)):
        weight = float(np.sum(chances[k] * mixture.shrunk_precision(precisions, variance)))
        center_error = 1.0 / weight if weight > _LEAST_PRECISION else 0.0
        share = mixture.pull_share(precisions, variance)
        error = variance * share + share**2 * center_error
        opinions.append(Opinion(means + share * (center - means), error))
    return agree([1.0 - chances.sum(axis=0), *chances], opinions)


def agree(weights: Sequence[Numbers | float], opinions: Sequence[Opinion]) -> Opinion:
    """Return the average of opinions; what they differ by adds to the error expected.

    Examples
    --------
    >>> agree([1.0, 0.0], [Opinion(np.zeros(1), np.ones(1)), Opinion(np.ones(1), np.ones(1))])
    Opinion(means=array([0.]), errors=array([1.]))
    """
    means, errors = np.zeros(1), np.zeros(1)
    for weight, one in zip(weights, opinions, strict=True):
        means = means + weight * one.means
    for weight, one in zip(weights, opinions, strict=True):
        errors = errors + weight * (one.errors + (one.means - means) ** 2)
    return Opinion(means, errors)
