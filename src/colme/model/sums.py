"""Sums over the members of a row, class by class, kept up to date with every reply.

Lives here: who counts in them, one peer, several, or all at once.  Must not know what follows from
them, nor how a model is fitted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled, exponential
from colme.model.expectation import chances, mean_precision
from colme.model.mixture import NORMAL_PEAK, shrunk_precision
from colme.model.state import CROWD_OUTLIERS, MAX_CLASSES, OUTLIERS, Model, Scratch
from colme.rules import Row
from colme.summary import View, set_view, view_at

Entries: TypeAlias = Sequence[int] | NDArray[np.int64]


@compiled
def is_pooled(l: int, row: Row, model: Model) -> bool:
    """Return whether entry l counts in the sums: a member, confirmed and heard of.

    Examples
    --------
    >>> model = Model.blank()
    >>> model.fit.width = 2.0
    >>> is_pooled(0, Row.blank(1, precision=[4.0]), model), is_pooled(0, Row.blank(1), model)
    (True, False)
    """
    heard = model.fit.width > 0.0 and row.views.precision[l] > 0.0
    return bool(heard and row.member[l] and row.confirmed[l])


@compiled
def add_member(sign: float, mean: float, precision: float, model: Model, scratch: Scratch) -> None:
    """Add a member to the sums (sign 1), or take it out as it was added (sign -1).

    Examples
    --------
    >>> model, scratch = Model.blank(), Scratch.blank(1)
    >>> model.fit.n_classes, model.fit.width, model.shares[0] = 1.0, 2.0, 1.0
    >>> add_member(1.0, 0.1, 100.0, model, scratch)
    >>> model.weights[0], model.totals[0]
    (100.0, 10.0)
    """
    weights, totals, chance = model.weights, model.totals, scratch.chances
    shrunk = chances(mean, precision, model, chance)
    for k in range(int(model.fit.n_classes)):
        weight = sign * chance[k] * precision / (1.0 + model.variances[k] * precision)
        weights[k] += weight
        totals[k] += weight * mean
    weight = sign * chance[OUTLIERS] * shrunk
    weights[OUTLIERS] += weight
    totals[OUTLIERS] += weight * mean


@compiled
def drop_member(l: int, row: Row, model: Model, scratch: Scratch) -> None:
    """Take peer l out of the sums, if it is in them: before its view or its membership changes.

    Examples
    --------
    >>> row, model = Row.blank(1, mean=[0.1], precision=[4.0]), Model.blank()
    >>> scratch = Scratch.blank(1)
    >>> model.fit.width = 2.0
    >>> sum_members(1, 1, row, model, scratch)
    >>> drop_member(0, row, model, scratch)
    >>> model.weights[OUTLIERS]
    0.0
    """
    if is_pooled(l, row, model):
        add_member(-1.0, row.views.mean[l], row.views.precision[l], model, scratch)


@compiled
def update_peer(l: int, seen: View[float], row: Row, model: Model, scratch: Scratch) -> None:
    """Remember the reply of peer l, and keep the sums up to date if it is a member.

    Examples
    --------
    >>> row, model = Row.blank(1), Model.blank()
    >>> model.fit.n_classes, model.fit.width, model.shares[0] = 1.0, 2.0, 1.0
    >>> model.fit.noise = 0.01
    >>> update_peer(0, View(mean=0.1, n_samples=1), row, model, Scratch.blank(1))
    >>> row.views.mean[0], model.weights[0]
    (0.1, 100.0)
    """
    drop_member(l, row, model, scratch)
    set_view(row.views, l, seen)
    row.views.precision[l] = mean_precision(seen.n_samples, seen.squares, model)
    if is_pooled(l, row, model):
        add_member(1.0, seen.mean, row.views.precision[l], model, scratch)


@compiled
def _add_packed(sign: float, n: int, model: Model, scratch: Scratch) -> None:
    """Add the n members on the scratch to the sums (sign 1), or take them out (sign -1).

    What `add_member` does for one, class by class in loops over all.
    """
    means, precisions, explained = scratch.means, scratch.precisions, scratch.explained
    size, unit = int(model.fit.n_classes), NORMAL_PEAK * model.fit.width
    for l in range(n):
        explained[l] = model.shares[OUTLIERS]
    for k in range(size):
        atom, scale, variance = model.atoms[k], model.shares[k] * unit, model.variances[k]
        density = scratch.densities[k]
        for l in range(n):
            off, shrunk = means[l] - atom, shrunk_precision(precisions[l], variance)
            density[l] = scale * math.sqrt(shrunk) * exponential(-0.5 * off * off * shrunk)
            explained[l] += density[l]
    for l in range(n):
        explained[l] = sign / explained[l] if explained[l] > 0.0 else 0.0
    for k in range(size):
        density, variance = scratch.densities[k], model.variances[k]
        weights = total = 0.0
        for l in range(n):
            weight = density[l] * explained[l] * shrunk_precision(precisions[l], variance)
            weights += weight
            total += weight * means[l]
        model.weights[k] += weights
        model.totals[k] += total
    variance, scale = model.fit.crowd_variance, (1.0 - CROWD_OUTLIERS) * unit
    weights = total = 0.0
    for l in range(n):
        off, shrunk = means[l] - model.fit.crowd_mean, shrunk_precision(precisions[l], variance)
        value = scale * math.sqrt(shrunk) * exponential(-0.5 * off * off * shrunk)
        weight = sign * value / (value + CROWD_OUTLIERS) * shrunk
        weights += weight
        total += weight * means[l]
    model.weights[OUTLIERS] += weights
    model.totals[OUTLIERS] += total


@compiled
def _pack_pooled(n: int, entries: Entries, row: Row, model: Model, scratch: Scratch) -> int:
    """Copy those of n entries that count in the sums to the scratch; return how many do."""
    known = 0
    for i in range(n):
        l = entries[i]
        if is_pooled(l, row, model):
            scratch.means[known] = row.views.mean[l]
            scratch.precisions[known] = row.views.precision[l]
            known += 1
    return known


@compiled
def update_peers(
    n: int, entries: Entries, seen: View[Any], row: Row, model: Model, scratch: Scratch
) -> None:
    """Remember the summaries of n different peers, and keep the sums up to date.

    The i-th summary in `seen` is that of entries[i].  `update_peer` for several at once.

    Examples
    --------
    >>> row, model, scratch = Row.blank(3), Model.blank(), Scratch.blank(3)
    >>> model.fit.n_classes, model.fit.width, model.shares[0] = 1.0, 2.0, 1.0
    >>> model.fit.noise = 0.01
    >>> zeros = [0.0, 0.0]
    >>> seen = View(*[zeros] * len(View._fields))._replace(mean=[0.1, 0.2], n_samples=[1.0, 3.0])
    >>> update_peers(2, [0, 2], seen, row, model, scratch)
    >>> row.views.mean, model.weights[0]
    ([0.1, 0.0, 0.2], 460.0)
    """
    _add_packed(-1.0, _pack_pooled(n, entries, row, model, scratch), model, scratch)
    for i in range(n):
        l, one = entries[i], view_at(seen, i)
        set_view(row.views, l, one)
        row.views.precision[l] = mean_precision(one.n_samples, one.squares, model)
    _add_packed(1.0, _pack_pooled(n, entries, row, model, scratch), model, scratch)


@compiled
def sum_members(a: int, n: int, row: Row, model: Model, scratch: Scratch) -> None:
    """Compute the sums over all members but agent a itself.

    Examples
    --------
    >>> row, model = Row.blank(2, mean=[9.0, 0.1], precision=[1.0, 100.0]), Model.blank()
    >>> model.fit.n_classes, model.fit.width, model.shares[0] = 1.0, 2.0, 1.0
    >>> sum_members(0, 2, row, model, Scratch.blank(2))
    >>> model.weights[0]
    100.0
    """
    for k in range(MAX_CLASSES + 1):
        model.weights[k] = model.totals[k] = 0.0
    if model.fit.width <= 0.0:
        return
    known = 0
    for l in range(n):
        if l != a and is_pooled(l, row, model):
            scratch.means[known] = row.views.mean[l]
            scratch.precisions[known] = row.views.precision[l]
            known += 1
    _add_packed(1.0, known, model, scratch)
