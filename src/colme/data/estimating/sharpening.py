"""Sharpening: from a table's summaries to the means expected of its agents.

Lives here: how far descriptions are trusted, judged by what one half of the samples says of the
other, and the estimates that follow.  Must not know intervals, tests or files.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme.data.estimating.bells import Bells
from colme.data.estimating.crowd import common_share, fit_crowd
from colme.data.estimating.descriptions import Description, Opinion, agree, expect, hear, odds
from colme.data.estimating.noise import Noise
from colme.data.summaries import Halves, Summaries

__all__ = ["Sharpened", "Trust", "sharpen"]

Numbers: TypeAlias = NDArray[np.float64]

_FEWEST = 4
"""With fewer agents nothing is gained for sure by looking at others (James and Stein need four)."""
_OWN_COUNT = 10.0
"""So many samples everybody's variance counts for in an agent's own."""
_TRUST = (1.0, 0.1, 0.1)
"""How far each step is trusted before anything is known of it, ..."""
_FAITH = 4.0
"""... which counts like so many agents whose estimate the step moves by one standard error."""
_PLAIN = 4.0
"""A slope is plain if it is so many times its standard error."""
_MOST_JUDGED = 2_000
"""So many agents at most take part in the judgement."""


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

    @property
    def weights(self) -> tuple[float, float, float, float]:
        """Weights of the own mean and of the three steps that follow from it."""
        share, crowd, full = self[:3]
        return (
            (1 - share) * (1 - crowd) * (1 - full),
            share * (1 - crowd) * (1 - full),
            crowd * (1 - full),
            full,
        )


class Sharpened(NamedTuple):
    """The mean expected of each agent, and how it came about.

    Attributes
    ----------
    means, errors
        Of each agent: the mean expected, and the square error expected of it.
    noise
        The square error of each agent's own mean.
    labels
        The class each agent most probably belongs to, counted from the lowest mean, -1 for strays;
        None if means are more probably spread than of a few classes.
    trust
        What the halves have shown.

    Examples
    --------
    >>> table = Summaries.of(["a", "a", "b"], [1.0, 3.0, 5.0])
    >>> sharpen(table, Noise.of(table)).means.tolist()  # two agents: nothing to be gained for sure
    [2.0, 5.0]
    """

    means: Numbers
    errors: Numbers
    noise: Numbers
    labels: NDArray[np.int64] | None
    trust: Trust


class _Noises(NamedTuple):
    """The variance of one sample: of everybody, and of each agent."""

    pooled: float
    squares: Numbers

    def of_means(self, counts: NDArray[np.int64], own: bool) -> Numbers:
        """Return the variances of the agents' means."""
        if not own:
            return self.pooled / counts
        degrees = _OWN_COUNT + counts - 1
        return (_OWN_COUNT * self.pooled + self.squares) / degrees / counts


def sharpen(summaries: Summaries, noise: Noise) -> Sharpened:
    """Return the means expected of the agents of a table.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> agents = np.repeat(np.arange(60), 60)
    >>> table = Summaries.of(agents, rng.normal(agents % 2, 1.0))
    >>> found = sharpen(table, Noise.of(table))
    >>> found.labels.tolist() == (np.arange(60) % 2).tolist(), found.means[:2].round(1).tolist()
    (True, [0.0, 1.0])

    Notes
    -----
    From the own mean x̄ there are three steps: j, drawn to the common mean by the share of James and
    Stein; c, drawn to the crowd's center as far as its own noise deserves; d, the descriptions'
    average.  c and d are held back by (A - 3) / (A - 1), as few agents tell little of a crowd.  The
    estimate is x̄ + μ (j - x̄), then κ of the way from there to c, then λ of the way to d.

    Trust μ, κ and λ are regressions: all is found from one half of each agent's samples, and what
    the means of the other half are further than x̄, j and c is regressed on j - x̄, c - j and d - c.
    """
    counts, means = summaries.counts, summaries.means
    if not noise.known or len(summaries) < _FEWEST:
        own = np.full(len(means), np.nan) if not noise.known else noise.scale**2 / counts
        return Sharpened(means.copy(), own, own, None, Trust())
    noises = _Noises(_pooled(summaries, noise), summaries.squares)
    trust = Trust() if summaries.halves is None else _judge(summaries.halves, noises.pooled)
    s2 = noises.of_means(counts, trust.own_noise)
    heard = hear(means, s2)
    opinion = agree(trust.weights, _steps(means, s2, heard))
    labels = _labels(heard, means, s2) if trust.descriptions > 0.5 else None
    return Sharpened(opinion.means, opinion.errors, s2, labels, trust)


def _steps(means: Numbers, noise: Numbers, heard: list[tuple[float, Description]]) -> list[Opinion]:
    """Return the own means and the three steps from there."""
    crowd = _crowd(means, noise)
    center, share = common_share(means, noise)
    left = share**2 * noise + (1 - share) ** 2 * crowd.variances[0]
    local, common = Opinion(means, noise), Opinion(center + share * (means - center), left)
    full = agree([w for w, _ in heard], [expect(one.bells, means, noise) for _, one in heard])
    held = (len(means) - 3) / (len(means) - 1)
    back = [agree([held, 1 - held], [one, local]) for one in (expect(crowd, means, noise), full)]
    return [local, common, *back]


def _pooled(summaries: Summaries, noise: Noise) -> float:
    """Return the variance of a sample from all agents; a scale given counts for one sample."""
    degrees, total = float(np.sum(summaries.counts - 1)), float(np.sum(summaries.squares))
    if noise.kind != "estimated":
        degrees, total = degrees + 1.0, total + noise.scale**2
    return total / degrees


def _crowd(means: Numbers, noise: Numbers) -> Bells:
    """Return the crowd as one bell without strays."""
    crowd = fit_crowd(means, noise)
    return Bells(np.array([crowd.center]), np.array([crowd.variance]), np.ones(1), 1.0, 0.0)


def _labels(
    heard: list[tuple[float, Description]], means: Numbers, noise: Numbers
) -> NDArray[np.int64] | None:
    """Return the most probable classes if classes are more probable than not."""
    if sum(weight for weight, one in heard if one.classes) <= 0.5:
        return None
    _, best = max((pair for pair in heard if pair[1].classes), key=lambda pair: pair[0])
    order = np.argsort(best.bells.centers)
    bells = best.bells._replace(
        centers=best.bells.centers[order],
        variances=best.bells.variances[order],
        shares=best.bells.shares[order],
    )
    chances = odds(bells, means, noise)
    return np.where(chances.sum(axis=1) > 0.5, np.argmax(chances, axis=1), -1)


class _Lesson(NamedTuple):
    """What is known of agents from one half of their samples, and their means in the other."""

    counts: NDArray[np.int64]
    means: Numbers
    squares: Numbers
    there: Numbers
    unit: float
    """The noise of the other half's means, on average."""


def _lessons(halves: Halves, pooled: float) -> list[_Lesson]:
    chosen = np.flatnonzero((halves.counts > 0).all(axis=0))
    if len(chosen) > _MOST_JUDGED:
        chosen = np.sort(np.random.default_rng(0).choice(chosen, _MOST_JUDGED, replace=False))
    counts, means, squares = (part[:, chosen] for part in halves)
    return [
        _Lesson(
            counts[i], means[i], squares[i], means[1 - i], float(np.mean(pooled / counts[1 - i]))
        )
        for i in (0, 1)
        if len(chosen) >= _FEWEST
    ]


def _judge(halves: Halves, pooled: float) -> Trust:
    """Return how far each step from one half foretells the other."""
    lessons = _lessons(halves, pooled)
    if not lessons:
        return Trust()
    own = _tells_more(lessons, pooled)
    noises = [_Noises(pooled, one.squares).of_means(one.counts, own) for one in lessons]

    def learnt(one: _Lesson, noise: Numbers) -> list[Numbers]:
        return [step.means for step in _steps(one.means, noise, hear(one.means, noise))]

    with ThreadPoolExecutor() as pool:
        steps = list(pool.map(learnt, lessons, noises))
    trusted = [
        _slope(k, lessons, [taken[k] for taken in steps], [taken[k + 1] for taken in steps])
        for k in range(len(_TRUST))
    ]
    return Trust(trusted[0], trusted[1], trusted[2], own)


def _tells_more(lessons: list[_Lesson], pooled: float) -> bool:
    """Return whether agents' own variances foretell better, by two standard errors."""
    gains = []
    for one in lessons:
        noises = _Noises(pooled, one.squares)
        errors = []
        for own in (False, True):
            s2 = noises.of_means(one.counts, own)
            errors.append((expect(_crowd(one.means, s2), one.means, s2).means - one.there) ** 2)
        gains.append((errors[0] - errors[1]) / one.unit)
    gain = np.concatenate(gains)
    return bool(gain.mean() > 2 * gain.std() / np.sqrt(len(gain)))


def _slope(k: int, lessons: list[_Lesson], before: list[Numbers], after: list[Numbers]) -> float:
    """Return how much of the way from `before` to `after` the other half goes, from 0 to 1.

    All of it if that is plainly some way, by four standard errors, and may be all, within two.
    """
    way = np.concatenate(
        [(b - a) / one.unit**0.5 for one, a, b in zip(lessons, before, after, strict=True)]
    )
    gone = np.concatenate(
        [(one.there - a) / one.unit**0.5 for one, a in zip(lessons, before, strict=True)]
    )
    along, squares = float(way @ gone), float(way @ way)
    if squares > 0:
        slope = along / squares
        error = float(np.sqrt(np.sum((way * (gone - slope * way)) ** 2))) / squares
        if slope > _PLAIN * error and slope > 1 - 2 * error:
            return 1.0
    return min(max((along + _FAITH * _TRUST[k]) / (squares + _FAITH), 0.0), 1.0)
