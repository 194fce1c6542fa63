"""The sharp estimates of a table: the mean expected of each agent.

Lives here: how far descriptions are trusted, judged by what one half of the samples says of the
other, and the estimates that follow.  Must not know intervals, tests or files.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from colme.data.estimator.crowd import common_share, fit_crowd
from colme.data.estimator.descriptions import Description, Opinion, agree, describe, expect
from colme.data.estimator.noise import Noise
from colme.data.summaries import Counts, Halves, Numbers, Summaries
from colme.model.mixture import SCALE_COUNT, component_chances, precision_of_mean

# With fewer agents, looking at others is not certain to help (James and Stein need four).
_MIN_AGENTS = 4
# How far each step is trusted before anything is known of it, ...
_TRUST = (1.0, 0.1, 0.1)
# ... which counts like this many agents whose estimate the step moves by one standard error.
_FAITH = 4.0
# A slope is plain if it is this many times its standard error.
_PLAIN = 4.0
# At most this many agents take part in the judgement.
_MAX_JUDGED = 2_000


class Trust(NamedTuple):
    """How far to go at each of three steps, from 0 (not at all) to 1 (all the way).

    Attributes
    ----------
    share
        From the own mean to that drawn to the common one by the same share for everybody.
    crowd
        From there to the crowd's, where those with few samples are drawn further.
    descriptions
        From there to what the descriptions expect.
    own_noise
        Whether agents differ so much in noise that each is given its own variance.

    Examples
    --------
    >>> Trust().descriptions
    0.1
    """

    share: float = _TRUST[0]
    crowd: float = _TRUST[1]
    descriptions: float = _TRUST[2]
    own_noise: bool = False


class SharpMeans(NamedTuple):
    """The mean expected of each agent, and how it came about.

    Attributes
    ----------
    means, errors
        Of each agent: the mean expected, and the square error expected of it.
    noise
        The square error of each agent's own mean.
    labels
        The class each agent most probably belongs to, counted from the lowest mean, -1 for
        outliers; None if means are more probably spread than of a few classes.
    trust
        What the halves have shown.

    Examples
    --------
    >>> table = Summaries.of(["a", "a", "b"], [1.0, 3.0, 5.0])
    >>> sharp_means(table, Noise.of(table)).means.tolist()  # two agents: no certain gain
    [2.0, 5.0]
    """

    means: Numbers
    errors: Numbers
    noise: Numbers
    labels: Counts | None
    trust: Trust


def sharp_means(summaries: Summaries, noise: Noise) -> SharpMeans:
    """Return the means expected of the agents of a table.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> agents = np.repeat(np.arange(60), 60)
    >>> table = Summaries.of(agents, rng.normal(agents % 2, 1.0))
    >>> found = sharp_means(table, Noise.of(table))
    >>> found.labels.tolist() == (np.arange(60) % 2).tolist(), found.means[:2].round(1).tolist()
    (True, [0.0, 1.0])

    Notes
    -----
    From the own mean x̄ there are three steps: j, drawn to the common mean by the share of James and
    Stein; c, drawn to the crowd's center as far as its own noise deserves; d, the descriptions'
    average.  The estimate is x̄ + μ (j - x̄), then κ of the way from there to c, then λ of the way
    to d.

    Trust μ, κ and λ are regressions: all is found from one half of each agent's samples, and what
    the means of the other half are further than x̄, j and c is regressed on j - x̄, c - j and d - c.
    """
    counts, means, squares = summaries.counts, summaries.means, summaries.squares
    if not noise.known or len(summaries) < _MIN_AGENTS:
        own = np.full(len(means), np.nan) if not noise.known else noise.scale**2 / counts
        return SharpMeans(means.copy(), own, own, None, Trust())
    degrees, total = float(np.sum(counts - 1)), float(np.sum(squares))
    if noise.kind != "estimated":
        degrees, total = degrees + SCALE_COUNT, total + SCALE_COUNT * noise.scale**2
    variance = total / degrees
    trust = Trust() if summaries.halves is None else _judge(summaries.halves, variance)
    s2 = variance / counts
    if trust.own_noise:
        s2 = 1.0 / precision_of_mean(counts, squares, variance)
    described, steps = _steps(means, s2)
    share, crowd, full = trust[:3]
    weights = (
        (1 - share) * (1 - crowd) * (1 - full),
        share * (1 - crowd) * (1 - full),
        crowd * (1 - full),
        full,
    )
    opinion = agree(weights, steps)
    labels = _labels(described, means, s2) if trust.descriptions > 0.5 else None
    return SharpMeans(opinion.means, opinion.errors, s2, labels, trust)


def _steps(means: Numbers, noise: Numbers) -> tuple[list[tuple[float, Description]], list[Opinion]]:
    """Return descriptions with their weights; the own means and the three steps from there.

    The last two are held back by (A - 3) / (A - 1): few agents say little of a crowd.
    """
    crowd, (center, share) = fit_crowd(means, noise), common_share(means, noise)
    left = share**2 * noise + (1 - share) ** 2 * crowd.variance
    own, common = Opinion(means, noise), Opinion(center + share * (means - center), left)
    pull = noise / (crowd.variance + noise)
    center_error = 1.0 / float(np.sum(1.0 / (crowd.variance + noise)))
    drawn = Opinion(
        means + pull * (crowd.center - means), crowd.variance * pull + pull**2 * center_error
    )
    described = describe(means, noise)
    expected = [expect(one.components, means, noise) for _, one in described]
    full = agree([weight for weight, _ in described], expected)
    held = (len(means) - 3) / (len(means) - 1)
    later = [agree([held, 1 - held], [step, own]) for step in (drawn, full)]
    return described, [own, common, *later]


def _labels(
    described: list[tuple[float, Description]], means: Numbers, noise: Numbers
) -> Counts | None:
    """Return the most probable classes if classes are more probable than not."""
    classes = [(weight, one.components) for weight, one in described if one.are_classes]
    if sum(weight for weight, _ in classes) <= 0.5:
        return None
    _, best = max(classes, key=lambda pair: pair[0])
    chances = component_chances(best, means, 1.0 / noise)[np.argsort(best.centers)]
    return np.where(chances.sum(axis=0) > 0.5, np.argmax(chances, axis=0), -1)


def _judge(halves: Halves, variance: float) -> Trust:
    """Return how far each step learnt from one half predicts the other; arrays are [half, agent].

    Errors are in units of the noise of the other half's means.  Own variances are used if they
    predict the other half better by two standard errors.
    """
    chosen = np.flatnonzero((halves.counts > 0).all(axis=0))
    if len(chosen) < _MIN_AGENTS:
        return Trust()
    if len(chosen) > _MAX_JUDGED:
        chosen = np.sort(np.random.default_rng(0).choice(chosen, _MAX_JUDGED, replace=False))
    counts, means, squares = (part[:, chosen] for part in halves)
    common = variance / counts
    own = 1.0 / precision_of_mean(counts, squares, variance)
    other, units = halves.means[::-1, chosen], common.mean(axis=1)[::-1].tolist()
    gains = []  # by how much own variances predict the other half better
    for here, there, unit, *noises in zip(means, other, units, common, own, strict=True):
        errors = [(fit_crowd(here, s2).pulled(here, s2) - there) ** 2 for s2 in noises]
        gains.append((errors[0] - errors[1]) / unit)
    gain = np.concatenate(gains)
    own_noise = bool(gain.mean() > 2 * gain.std() / np.sqrt(len(gain)))
    with ThreadPoolExecutor() as pool:
        steps = [taken for _, taken in pool.map(_steps, means, own if own_noise else common)]
    reached = [np.stack([step.means for step in both]) for both in zip(*steps, strict=True)]
    trusted = [
        _slope(trust, before, after, other, units)
        for trust, (before, after) in zip(_TRUST, pairwise(reached), strict=True)
    ]
    return Trust(trusted[0], trusted[1], trusted[2], own_noise)


def _slope(
    trust: float, here: Numbers, there: Numbers, other: Numbers, units: list[float]
) -> float:
    """Return how much of the way of a step, from here to there, the other half goes: 0 to 1.

    All of it if that is plainly some way, by four standard errors, and may be all, within two.
    """
    scale = np.array([[unit**0.5] for unit in units])
    way, gone = ((there - here) / scale).ravel(), ((other - here) / scale).ravel()
    along, squares = float(way @ gone), float(way @ way)
    if squares > 0:
        slope = along / squares
        error = float(np.sqrt(np.sum((way * (gone - slope * way)) ** 2))) / squares
        if slope > _PLAIN * error and slope > 1 - 2 * error:
            return 1.0
    return min(max((along + _FAITH * trust) / (squares + _FAITH), 0.0), 1.0)
