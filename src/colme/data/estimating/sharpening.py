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
from colme.data.estimating.crowd import fit_crowd
from colme.data.estimating.descriptions import Description, Opinion, agree, expect, hear, odds
from colme.data.estimating.noise import Noise
from colme.data.summaries import Halves, Summaries

__all__ = ["Sharpened", "Trust", "sharpen"]

Numbers: TypeAlias = NDArray[np.float64]

_FEWEST = 4
"""With fewer agents nothing is gained for sure by looking at others (James and Stein need four)."""
_OWN_COUNT = 10.0
"""So many samples everybody's variance counts for in an agent's own."""
_FAITH = 4.0
"""Trust starts at 1 and counts like so many agents whose estimate moves by one standard error."""
_MOST_JUDGED = 2_000
"""So many agents at most take part in the judgement."""


class Trust(NamedTuple):
    """How far to go from the own mean to the crowd's, and from there to the descriptions'.

    Attributes
    ----------
    crowd, descriptions
        Both from 0 (not at all) to 1 (all the way).
    own_noise
        Whether agents differ so much in noise that each is given its own variance.

    Examples
    --------
    >>> Trust().descriptions
    1.0
    """

    crowd: float = 1.0
    descriptions: float = 1.0
    own_noise: bool = False


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
    With x̄ the own mean, c the crowd's and d the descriptions' average, the estimate is
    b + λ (d - b), b = x̄ + μ (c - x̄).  Trust μ and λ are regressions: x̄, c and d are found from one
    half of each agent's samples, and the means of the other half, less x̄ and less c, are regressed
    on c - x̄ and on d - c.
    """
    counts, means = summaries.counts, summaries.means
    if not noise.known or len(summaries) < _FEWEST:
        own = np.full(len(means), np.nan) if not noise.known else noise.scale**2 / counts
        return Sharpened(means.copy(), own, own, None, Trust())
    noises = _Noises(_pooled(summaries, noise), summaries.squares)
    trust = Trust() if summaries.halves is None else _judge(summaries.halves, noises.pooled)
    s2 = noises.of_means(counts, trust.own_noise)
    crowd = _crowd(means, s2)
    heard = hear(means, s2)
    local, base = Opinion(means, s2), expect(crowd, means, s2)
    full = agree([w for w, _ in heard], [expect(one.bells, means, s2) for _, one in heard])
    shares = ((1 - trust.descriptions) * (1 - trust.crowd), trust.crowd * (1 - trust.descriptions))
    opinion = agree([*shares, trust.descriptions], [local, base, full])
    labels = _labels(heard, means, s2) if trust.descriptions > 0.5 else None
    return Sharpened(opinion.means, opinion.errors, s2, labels, trust)


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
    """What is learnt from one half, and the other half to judge it by; agents that have both."""

    counts: NDArray[np.int64]
    means: Numbers
    squares: Numbers
    there: Numbers
    weights: Numbers

    def crowd(self, noise: Numbers) -> Numbers:
        """Return what the crowd expects."""
        return expect(_crowd(self.means, noise), self.means, noise).means


def _lessons(halves: Halves, pooled: float) -> list[_Lesson]:
    chosen = np.flatnonzero((halves.counts > 0).all(axis=0))
    if len(chosen) > _MOST_JUDGED:
        chosen = np.sort(np.random.default_rng(0).choice(chosen, _MOST_JUDGED, replace=False))
    counts, means, squares = (part[:, chosen] for part in halves)
    return [
        _Lesson(counts[i], means[i], squares[i], means[1 - i], counts[1 - i] / pooled)
        for i in (0, 1)
        if len(chosen) >= _FEWEST
    ]


def _judge(halves: Halves, pooled: float) -> Trust:
    """Return how far crowd and descriptions of one half foretell the other."""
    lessons = _lessons(halves, pooled)
    if not lessons:
        return Trust()
    both = [
        [_Noises(pooled, one.squares).of_means(one.counts, own) for one in lessons]
        for own in (False, True)
    ]
    crowds = [[one.crowd(s2) for one, s2 in zip(lessons, noise, strict=True)] for noise in both]
    own_noise = _is_better(lessons, crowds[0], crowds[1])
    noise, crowd = both[own_noise], crowds[own_noise]

    def described(i: int) -> Numbers:
        means, s2 = lessons[i].means, noise[i]
        heard = hear(means, s2)
        return agree(
            [w for w, _ in heard], [expect(one.bells, means, s2) for _, one in heard]
        ).means

    with ThreadPoolExecutor() as pool:
        full = list(pool.map(described, range(2)))
    mu = _slope(lessons, [one.means for one in lessons], crowd)
    lam = _slope(lessons, crowd, full)
    return Trust(mu, lam, own_noise)


def _is_better(lessons: list[_Lesson], first: list[Numbers], second: list[Numbers]) -> bool:
    """Return whether the second foretells better than the first, by two standard errors."""
    gains = np.concatenate(
        [
            one.weights * ((a - one.there) ** 2 - (b - one.there) ** 2)
            for one, a, b in zip(lessons, first, second, strict=True)
        ]
    )
    return bool(gains.mean() > 2 * gains.std() / np.sqrt(len(gains)))


def _slope(lessons: list[_Lesson], before: list[Numbers], after: list[Numbers]) -> float:
    """Return how much of the way from `before` to `after` the other half goes, from 0 to 1."""
    along, squares = _FAITH, _FAITH
    for one, a, b in zip(lessons, before, after, strict=True):
        along += float(np.sum(one.weights * (b - a) * (one.there - a)))
        squares += float(np.sum(one.weights * (b - a) ** 2))
    return min(max(along / squares, 0.0), 1.0)
