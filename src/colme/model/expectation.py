"""What a fitted model says: about one mean, about the agent's own, and about who is alike.

Lives here: chances, sums over members, estimates.  Must not know how a model is fitted.
"""

from __future__ import annotations

import math

from colme._compile import compiled, exponential
from colme.model.state import (
    BELL,
    CROWD_MEAN,
    CROWD_STRAYS,
    CROWD_VARIANCE,
    MOST_CLASSES,
    NOISE,
    SIZE,
    STRAYS,
    TRUST,
    WIDTH,
    Bench,
    Model,
)
from colme.rules import Flags, Numbers, Row, remember, simple_sums, view
from colme.summary import View

__all__ = [
    "chances",
    "enter",
    "estimate",
    "expected_mean",
    "gather",
    "hear",
    "likely",
    "mean_precision",
    "meet",
    "meet_all",
]

_NOISE_COUNT = 10.0
"""So many samples everybody's noise counts for in one stream's."""


@compiled
def mean_precision(count: float, squares: float, model: Model) -> float:
    """Return one over the variance of a mean of `count` samples with Σ (x - x̄)² = `squares`.

    Examples
    --------
    >>> model = Model.blank()
    >>> model.facts[NOISE] = 0.25
    >>> mean_precision(4, 0.75, model), mean_precision(0, 0.0, model)
    (16.0, 0.0)

    Notes
    -----
    n / v with v = (10 v̄ + Σ (x - x̄)²) / (10 + n - 1), where v̄ is what `learn_noise` has found.
    """
    known = _NOISE_COUNT * model.facts[NOISE] + squares
    return count * (_NOISE_COUNT + count - 1.0) / known if known > 0.0 else 0.0


@compiled
def chances(mean: float, precision: float, model: Model, result: Numbers) -> float:
    """Write how likely a mean comes from each class, and last from the crowd if that is the truth.

    Returns the precision with which the mean tells the crowd's.

    Examples
    --------
    >>> model, result = Model.blank(), [0.0] * (MOST_CLASSES + 1)
    >>> model.facts[1:3], model.atoms[0], model.shares[0] = [1.0, 2.0], 0.0, 1.0
    >>> _ = chances(0.1, 100.0, model, result)
    >>> result[0]
    1.0
    """
    facts, atoms, shares, variances = model.facts, model.atoms, model.shares, model.variances
    size, unit = int(facts[SIZE]), BELL * facts[WIDTH]
    explained = shares[STRAYS]
    for k in range(size):
        off, shrunk = mean - atoms[k], precision / (1.0 + variances[k] * precision)
        result[k] = shares[k] * unit * math.sqrt(shrunk) * exponential(-0.5 * off * off * shrunk)
        explained += result[k]
    for k in range(size):
        result[k] = result[k] / explained if explained > 0.0 else 0.0
    shrunk = precision / (1.0 + facts[CROWD_VARIANCE] * precision)
    off = mean - facts[CROWD_MEAN]
    density = (1.0 - CROWD_STRAYS) * unit * math.sqrt(shrunk)
    density *= exponential(-0.5 * off * off * shrunk)
    result[STRAYS] = density / (density + CROWD_STRAYS)
    return shrunk


@compiled
def enter(sign: float, mean: float, precision: float, model: Model, bench: Bench) -> None:
    """Add a member to the sums (sign 1), or take it out as it was added (sign -1).

    Examples
    --------
    >>> model, bench = Model.blank(), Bench.blank(1)
    >>> model.facts[1:3], model.atoms[0], model.shares[0] = [1.0, 2.0], 0.0, 1.0
    >>> enter(1.0, 0.1, 100.0, model, bench)
    >>> model.weights[0], model.totals[0]
    (100.0, 10.0)
    """
    weights, totals, chance = model.weights, model.totals, bench.chances
    shrunk = chances(mean, precision, model, chance)
    for k in range(int(model.facts[SIZE])):
        weight = sign * chance[k] * precision / (1.0 + model.variances[k] * precision)
        weights[k] += weight
        totals[k] += weight * mean
    weight = sign * chance[STRAYS] * shrunk
    weights[STRAYS] += weight
    totals[STRAYS] += weight * mean


@compiled
def hear(l: int, seen: View, row: Row, model: Model, bench: Bench) -> None:
    """Remember what peer l says, and keep the sums up to date if it is a member.

    Examples
    --------
    >>> row, model = Row.blank(1), Model.blank()
    >>> model.facts[1:3], model.atoms[0], model.shares[0] = [1.0, 2.0], 0.0, 1.0
    >>> model.facts[6] = 0.01
    >>> hear(0, View(mean=0.1, n_samples=1), row, model, Bench.blank(1))
    >>> row.means[0], model.weights[0]
    (0.1, 100.0)
    """
    counts = row.member[l] and row.shown[l] and model.facts[WIDTH] > 0.0
    if counts and row.precisions[l] > 0.0:
        enter(-1.0, row.means[l], row.precisions[l], model, bench)
    remember(row, l, seen)
    row.precisions[l] = mean_precision(seen.n_samples, seen.squares, model)
    if counts:
        enter(1.0, seen.mean, row.precisions[l], model, bench)


@compiled
def gather(a: int, n: int, row: Row, model: Model, bench: Bench) -> None:
    """Make the sums over all members but agent a itself anew.

    Examples
    --------
    >>> row, model = Row.blank(2)._replace(means=[9.0, 0.1], precisions=[1.0, 100.0]), Model.blank()
    >>> model.facts[1:3], model.atoms[0], model.shares[0] = [1.0, 2.0], 0.0, 1.0
    >>> gather(0, 2, row, model, Bench.blank(2))
    >>> model.weights[0]
    100.0
    """
    for k in range(MOST_CLASSES + 1):
        model.weights[k] = model.totals[k] = 0.0
    if model.facts[WIDTH] > 0.0:
        for l in range(n):
            pooled = row.member[l] and row.shown[l] and l != a
            if pooled and row.precisions[l] > 0.0:
                enter(1.0, row.means[l], row.precisions[l], model, bench)


@compiled
def expected_mean(own: View, model: Model, bench: Bench) -> float:
    """Return the mean that the model expects of an agent with that view of itself.

    Examples
    --------
    >>> own = View(mean=0.1, n_samples=1, radius=9.0, precision=100.0)
    >>> expected_mean(own, Model.blank(), Bench.blank(1))
    0.1
    >>> model = Model.blank()
    >>> model.facts[1:4], model.atoms[0], model.shares[0] = [1.0, 2.0, 1.0], 0.0, 1.0
    >>> model.weights[0], model.totals[0] = 900.0, 0.0
    >>> round(expected_mean(own, model, Bench.blank(1)), 12)
    0.01

    Notes
    -----
    Of each class the pooled mean of its members counts, as likely as the agent is one of them; a
    stray keeps its own mean.  In a crowd the agent's mean is drawn to the crowd's.  The result
    never leaves the agent's own interval.
    """
    if model.facts[WIDTH] <= 0.0 or own.precision <= 0.0:
        return own.mean
    weights, totals, chance = model.weights, model.totals, bench.chances
    shrunk = chances(own.mean, own.precision, model, chance)
    classes = 0.0
    for k in range(int(model.facts[SIZE])):
        share = 1.0 / (1.0 + model.variances[k] * own.precision)
        weight = chance[k] * own.precision * share
        pooled = weights[k] + weight
        pull = (totals[k] + weight * own.mean) / pooled - own.mean if pooled > 0.0 else 0.0
        classes += chance[k] * pull * share
    weight = chance[STRAYS] * shrunk
    pooled = weights[STRAYS] + weight
    pull = (totals[STRAYS] + weight * own.mean) / pooled - own.mean if pooled > 0.0 else 0.0
    crowd = chance[STRAYS] * pull * shrunk / own.precision
    shift = model.facts[TRUST] * classes + (1.0 - model.facts[TRUST]) * crowd
    return own.mean + min(max(shift, -own.radius), own.radius)


@compiled
def estimate(a: int, n: int, row: Row, model: Model, bench: Bench) -> float:
    """Return the mean expected of agent a; without samples of its own, that of all members.

    NaN while nothing is known.  `gather` comes before it.

    Examples
    --------
    >>> row = Row.blank(2)._replace(means=[0.0, 0.4], counts=[0.0, 5.0])
    >>> estimate(0, 2, row, Model.blank(), Bench.blank(2))
    0.4
    """
    if row.counts[a] > 0.0:
        return expected_mean(view(row, a), model, bench)
    weights, total = simple_sums(n, row)
    return total / weights if weights > 0.0 else math.nan


@compiled
def meet_all(n: int, row: Row, model: Model, bench: Bench) -> None:
    """Write how likely each of n peers is in each class, for `likely`.

    A peer never heard of is as likely in a class as the class is large.

    Examples
    --------
    >>> row, model, bench = Row.blank(1), Model.blank(), Bench.blank(1)
    >>> model.facts[1:3], model.shares[0], model.shares[STRAYS] = [1.0, 2.0], 0.75, 0.25
    >>> meet_all(1, row, model, bench)
    >>> bench.peers[0]
    [0.75]
    """
    size, unit = int(model.facts[SIZE]), BELL * model.facts[WIDTH]
    means, precisions, explained = row.means, row.precisions, bench.explained
    for l in range(n):
        explained[l] = model.shares[STRAYS]
    for k in range(size):
        atom, share, variance = model.atoms[k], model.shares[k], model.variances[k]
        peers = bench.peers[k]
        for l in range(n):
            off, shrunk = means[l] - atom, precisions[l] / (1.0 + variance * precisions[l])
            density = unit * math.sqrt(shrunk) * exponential(-0.5 * off * off * shrunk)
            peers[l] = share * (density if shrunk > 0.0 else 1.0)
            explained[l] += peers[l]
    for k in range(size):
        peers = bench.peers[k]
        for l in range(n):
            peers[l] = peers[l] / explained[l] if explained[l] > 0.0 else 0.0


@compiled
def meet(l: int, row: Row, model: Model, bench: Bench) -> None:
    """Bring what `meet_all` wrote about peer l up to date with a reply.

    Examples
    --------
    >>> row, model, bench = Row.blank(1), Model.blank(), Bench.blank(1)
    >>> model.facts[1:3], model.shares[0] = [1.0, 2.0], 1.0
    >>> row.precisions[0] = 100.0
    >>> meet(0, row, model, bench)
    >>> bench.peers[0]
    [1.0]
    """
    chances(row.means[l], row.precisions[l], model, bench.chances)
    for k in range(int(model.facts[SIZE])):
        bench.peers[k][l] = bench.chances[k] if row.precisions[l] > 0.0 else model.shares[k]


@compiled
def likely(a: int, n: int, row: Row, model: Model, bench: Bench, same: Flags) -> None:
    """Write who more probably than not shares the mean of agent a, and was never excluded.

    Nothing is promised of this class: it is what the model finds probable.  `meet_all` comes
    before it.

    Examples
    --------
    >>> row, model, bench, same = Row.blank(3), Model.blank(), Bench.blank(3), [False] * 3
    >>> row.means[:], row.precisions[:] = [0.0, 0.1, 0.9], [100.0] * 3
    >>> model.facts[1:4], model.atoms[:2], model.shares[:2] = [2.0, 2.0, 1.0], [0.0, 1.0], [0.5] * 2
    >>> meet_all(3, row, model, bench)
    >>> likely(0, 3, row, model, bench, same)
    >>> same
    [True, True, False]
    """
    chances(row.means[a], row.precisions[a], model, bench.own)
    member, together = row.member, bench.left
    for l in range(n):
        together[l] = 0.0
    for k in range(int(model.facts[SIZE])):
        own, peers = model.facts[TRUST] * bench.own[k], bench.peers[k]
        for l in range(n):
            together[l] += own * peers[l]
    for l in range(n):
        same[l] = l == a or (member[l] and together[l] > 0.5)
