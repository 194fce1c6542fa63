"""What follows from a fitted model: for one mean, for the agent's own, and for who is alike.

Lives here: chances, estimates, likely classes.  Must not know how a model is fitted.
"""

from __future__ import annotations

import math

from colme._compile import compiled, exponential
from colme.model.mixture import (
    NORMAL_PEAK,
    OWN_COUNT,
    pull_share,
    shrunk_precision,
)
from colme.model.state import CROWD_OUTLIERS, OUTLIERS, Model, Scratch
from colme.rules import Flags, Numbers, Row, simple_sums
from colme.summary import View, view_at

_FARTHEST = 0.7
"""A crowd draws a mean by this many of its standard errors at most: then nobody loses much, however
wrong the crowd may be about it."""


@compiled
def mean_precision(count: float, squares: float, model: Model) -> float:
    """Return `precision_of_mean` with the noise that `fit_noise` has found; 0 without any noise.

    Examples
    --------
    >>> model = Model.blank()
    >>> model.fit.noise = 0.25
    >>> mean_precision(4, 0.75, model), mean_precision(0, 0.0, model)
    (16.0, 0.0)
    """
    # Compiled, a call of `precision_of_mean` would change the last bit of what agents estimate.
    known = OWN_COUNT * model.fit.noise + squares
    return count * (OWN_COUNT + count - 1.0) / known if known > 0.0 else 0.0


@compiled
def chances(mean: float, precision: float, model: Model, result: Numbers) -> float:
    """Write how likely a mean comes from each class, and last from the crowd if that is the truth.

    Returns the precision with which the mean determines the crowd's.

    Examples
    --------
    >>> from colme.model import MAX_CLASSES
    >>> model, result = Model.blank(), [0.0] * (MAX_CLASSES + 1)
    >>> model.fit.n_classes, model.fit.width, model.shares[0] = 1.0, 2.0, 1.0
    >>> _ = chances(0.1, 100.0, model, result)
    >>> result[0]
    1.0
    """
    fit, atoms, shares, variances = model.fit, model.atoms, model.shares, model.variances
    size, unit = int(fit.n_classes), NORMAL_PEAK * fit.width
    explained = shares[OUTLIERS]
    for k in range(size):
        off, shrunk = mean - atoms[k], shrunk_precision(precision, variances[k])
        # As `component_density` has it; compiled, a call would change the last bit of estimates.
        result[k] = shares[k] * unit * math.sqrt(shrunk) * exponential(-0.5 * off * off * shrunk)
        explained += result[k]
    for k in range(size):
        result[k] = result[k] / explained if explained > 0.0 else 0.0
    in_crowd: float = shrunk_precision(precision, fit.crowd_variance)
    off = mean - fit.crowd_mean
    density = (1.0 - CROWD_OUTLIERS) * unit * math.sqrt(in_crowd)
    density *= exponential(-0.5 * off * off * in_crowd)
    result[OUTLIERS] = density / (density + CROWD_OUTLIERS)
    return in_crowd


@compiled
def expected_mean(own: View[float], model: Model, scratch: Scratch) -> float:
    """Return the mean that the model expects of an agent with that view of itself.

    Examples
    --------
    >>> own = View(mean=0.1, n_samples=1, radius=9.0, precision=100.0)
    >>> expected_mean(own, Model.blank(), Scratch.blank(1))
    0.1
    >>> model = Model.blank()
    >>> model.fit.n_classes, model.fit.width, model.fit.trust = 1.0, 2.0, 1.0
    >>> model.shares[0] = 1.0
    >>> model.weights[0], model.totals[0] = 900.0, 0.0
    >>> round(expected_mean(own, model, Scratch.blank(1)), 12)
    0.01

    Notes
    -----
    Of each class the pooled mean of its members counts, as likely as the agent is one of them; a
    stray keeps its own mean.  In a crowd the agent's mean is drawn to the crowd's, but by 0.7
    standard errors at most.  The result never leaves the agent's own interval.
    """
    if model.fit.width <= 0.0 or own.precision <= 0.0:
        return own.mean
    weights, totals, chance = model.weights, model.totals, scratch.chances
    shrunk = chances(own.mean, own.precision, model, chance)
    classes = 0.0
    for k in range(int(model.fit.n_classes)):
        share = pull_share(own.precision, model.variances[k])
        weight = chance[k] * own.precision * share
        pooled = weights[k] + weight
        pull = (totals[k] + weight * own.mean) / pooled - own.mean if pooled > 0.0 else 0.0
        classes += chance[k] * pull * share
    weight = chance[OUTLIERS] * shrunk
    pooled = weights[OUTLIERS] + weight
    pull = (totals[OUTLIERS] + weight * own.mean) / pooled - own.mean if pooled > 0.0 else 0.0
    crowd = chance[OUTLIERS] * pull * shrunk / own.precision
    most = _FARTHEST / math.sqrt(own.precision)
    crowd = min(max(crowd, -most), most)
    shift = model.fit.trust * classes + (1.0 - model.fit.trust) * crowd
    return own.mean + min(max(shift, -own.radius), own.radius)


@compiled
def estimate(a: int, n: int, row: Row, model: Model, scratch: Scratch) -> float:
    """Return the mean expected of agent a; without samples of its own, that of all members.

    NaN while nothing is known.  `sum_members` comes before it.

    Examples
    --------
    >>> row = Row.blank(2, mean=[0.0, 0.4], n_samples=[0.0, 5.0])
    >>> estimate(0, 2, row, Model.blank(), Scratch.blank(2))
    0.4
    """
    if row.views.n_samples[a] > 0.0:
        return expected_mean(view_at(row.views, a), model, scratch)
    weights, total = simple_sums(n, row)
    return total / weights if weights > 0.0 else math.nan


@compiled
def peer_chances(n: int, row: Row, model: Model, scratch: Scratch) -> None:
    """Write how likely each of n peers is in each class, for `likely`.

    A peer never heard of is as likely in a class as the class is large.

    Examples
    --------
    >>> row, model, scratch = Row.blank(1), Model.blank(), Scratch.blank(1)
    >>> model.fit.n_classes, model.fit.width = 1.0, 2.0
    >>> model.shares[0], model.shares[OUTLIERS] = 0.75, 0.25
    >>> peer_chances(1, row, model, scratch)
    >>> scratch.peers[0]
    [0.75]
    """
    size, unit = int(model.fit.n_classes), NORMAL_PEAK * model.fit.width
    means, precisions, explained = row.views.mean, row.views.precision, scratch.explained
    for l in range(n):
        explained[l] = model.shares[OUTLIERS]
    for k in range(size):
        atom, share, variance = model.atoms[k], model.shares[k], model.variances[k]
        peers = scratch.peers[k]
        for l in range(n):
            off, shrunk = means[l] - atom, shrunk_precision(precisions[l], variance)
            density = unit * math.sqrt(shrunk) * exponential(-0.5 * off * off * shrunk)
            peers[l] = share * (density if shrunk > 0.0 else 1.0)
            explained[l] += peers[l]
    for k in range(size):
        peers = scratch.peers[k]
        for l in range(n):
            peers[l] = peers[l] / explained[l] if explained[l] > 0.0 else 0.0


@compiled
def update_chances(l: int, row: Row, model: Model, scratch: Scratch) -> None:
    """Bring what `peer_chances` wrote about peer l up to date with a reply.

    Examples
    --------
    >>> row, model, scratch = Row.blank(1), Model.blank(), Scratch.blank(1)
    >>> model.fit.n_classes, model.fit.width, model.shares[0] = 1.0, 2.0, 1.0
    >>> row.views.precision[0] = 100.0
    >>> update_chances(0, row, model, scratch)
    >>> scratch.peers[0]
    [1.0]
    """
    chances(row.views.mean[l], row.views.precision[l], model, scratch.chances)
    for k in range(int(model.fit.n_classes)):
        scratch.peers[k][l] = (
            scratch.chances[k] if row.views.precision[l] > 0.0 else model.shares[k]
        )


@compiled
def likely(a: int, n: int, row: Row, model: Model, scratch: Scratch, same: Flags) -> None:
    """Write who more probably than not shares the mean of agent a, and was never excluded.

    Nothing is promised of this class: it is what the model finds probable.  `peer_chances` comes
    before it.

    Examples
    --------
    >>> row, model, scratch, same = Row.blank(3), Model.blank(), Scratch.blank(3), [False] * 3
    >>> row.views.mean[:], row.views.precision[:] = [0.0, 0.1, 0.9], [100.0] * 3
    >>> model.fit.n_classes, model.fit.width, model.fit.trust = 2.0, 2.0, 1.0
    >>> model.atoms[:2], model.shares[:2] = [0.0, 1.0], [0.5] * 2
    >>> peer_chances(3, row, model, scratch)
    >>> likely(0, 3, row, model, scratch, same)
    >>> same
    [True, True, False]
    """
    chances(row.views.mean[a], row.views.precision[a], model, scratch.own)
    member, together = row.member, scratch.left
    for l in range(n):
        together[l] = 0.0
    for k in range(int(model.fit.n_classes)):
        own, peers = model.fit.trust * scratch.own[k], scratch.peers[k]
        for l in range(n):
            together[l] += own * peers[l]
    for l in range(n):
        same[l] = l == a or (member[l] and together[l] > 0.5)
