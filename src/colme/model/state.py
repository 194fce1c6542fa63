"""What a model is made of: the last fit, sums over members, and scratch memory.

Lives here: its numbers and their names.  Must not know how they are found or used.
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence, Sequence
from dataclasses import astuple, dataclass, fields
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled
from colme.rules import Numbers

Table: TypeAlias = MutableSequence[Numbers] | NDArray[np.float64]

MAX_CLASSES = 8
"""A fit starts from this many classes; where there are more, they are described as a crowd."""
OUTLIERS = MAX_CLASSES
"""The place after the last class: `shares` keeps the outliers' there, and the sums the crowd's."""
MIN_MEANS = 3
"""Means needed for a fit."""
CROWD_OUTLIERS = 0.2
"""Share of outliers beside a crowd."""


@dataclass(slots=True)
class Fit:
    """The numbers of the last fit; in compiled loops a record with the same fields.

    Attributes
    ----------
    next_fit
        The number of samples at which to fit again.
    n_classes
        How many classes were found.
    width
        The width over which outliers lie; 0: not fitted yet.
    trust
        How far to trust the classes rather than the crowd, from 0 to 1.
    crowd_mean, crowd_variance
        The crowd's.
    noise
        The variance of a sample, averaged over all streams.
    next_fresh
        The number of queries at which to fit from quantiles again.
    n_forgotten, lowest, highest
        How many peers were replaced by others, and the lowest and highest of their means.
    next_fit_asked
        The number of queries at which to fit again.

    Examples
    --------
    >>> Fit(trust=0.5).trust
    0.5
    """

    next_fit: float = float(MIN_MEANS)
    n_classes: float = 0.0
    width: float = 0.0
    trust: float = 0.0
    crowd_mean: float = 0.0
    crowd_variance: float = 0.0
    noise: float = 0.0
    next_fresh: float = 0.0
    n_forgotten: float = 0.0
    lowest: float = 0.0
    highest: float = 0.0
    next_fit_asked: float = float(MIN_MEANS)


class Model(NamedTuple):
    """The last fit, and sums over the members that are kept up to date between fits.

    Attributes
    ----------
    fit
        The numbers of the last fit.
    atoms, shares, variances
        Mean, share and spread of each class, 0 unless it must be several that cannot be
        separated yet; the last share is the outliers'.
    weights, totals
        Σ weights and Σ weights · means of the members, for each class; the last are the crowd's.

    Examples
    --------
    >>> refit_due(Model.blank(), 2, 2), refit_due(Model.blank(), 3, 2)
    (False, True)
    """

    fit: Fit
    atoms: Numbers
    shares: Numbers
    variances: Numbers
    weights: Numbers
    totals: Numbers

    @staticmethod
    def blank() -> Model:
        """Return a model of lists, not fitted yet."""
        return Model(Fit(), *([0.0] * (MAX_CLASSES + 1) for _ in range(5)))

    def parts(self) -> tuple[tuple[float, ...], ...]:
        """Return all numbers, as a `Snapshot` keeps them."""
        return (astuple(self.fit), *(tuple(part) for part in self[1:]))

    @staticmethod
    def of(parts: Sequence[Sequence[float]]) -> Model:
        """Return the model with these parts; refuse numbers that no fit can have left.

        A model from before there was a schedule of queries has one number less, and is fitted
        again soon.
        """
        n_fields = len(fields(Fit))
        is_old = len(parts) == len(Model._fields) and len(parts[0]) == n_fields - 1
        parts = [[*parts[0], 0.0], *parts[1:]] if is_old else parts
        sizes = [n_fields, *[MAX_CLASSES + 1] * (len(Model._fields) - 1)]
        if [len(part) for part in parts] != sizes or not all(
            math.isfinite(value) for part in parts for value in part
        ):
            raise ValueError(
                f"a model is {n_fields} numbers of a fit and 5 lists of classes; received {parts}"
            )
        model = Model(Fit(*parts[0]), *(list(part) for part in parts[1:]))
        if model.fit.n_classes not in range(MAX_CLASSES + 1):
            raise ValueError(
                f"a model has at most {MAX_CLASSES} classes; received {model.fit.n_classes}"
            )
        if is_old:
            refit_soon(model)
        return model


class Scratch(NamedTuple):
    """Room to work in: nothing here outlives a call.

    Examples
    --------
    >>> len(Scratch.blank(5).means)
    5
    """

    means: Numbers
    precisions: Numbers
    roots: Numbers
    explained: Numbers
    left: Numbers
    densities: Table
    peers: Table
    atoms: Numbers
    shares: Numbers
    masses: Numbers
    weights: Numbers
    totals: Numbers
    chances: Numbers
    own: Numbers

    @staticmethod
    def blank(n: int) -> Scratch:
        """Return a scratch of lists for a row of n."""
        a, b, c, d, e = ([0.0] * n for _ in range(5))
        table: list[Numbers] = [[0.0] * n for _ in range(MAX_CLASSES)]
        peers: list[Numbers] = [[0.0] * n for _ in range(MAX_CLASSES)]
        f, g, h, i, j, k, l = ([0.0] * (MAX_CLASSES + 1) for _ in range(7))
        return Scratch(a, b, c, d, e, table, peers, f, g, h, i, j, k, l)


@compiled
def reset(model: Model) -> None:
    """Forget every fit.

    Examples
    --------
    >>> model = Model.blank()
    >>> model.fit.next_fit = 50.0
    >>> reset(model)
    >>> refit_due(model, 3, 0)
    True
    """
    fit = model.fit
    fit.n_classes = fit.width = fit.trust = fit.crowd_mean = fit.crowd_variance = 0.0
    fit.noise = fit.n_forgotten = fit.lowest = fit.highest = 0.0
    for k in range(MAX_CLASSES + 1):
        model.atoms[k] = model.shares[k] = model.variances[k] = 0.0
        model.weights[k] = model.totals[k] = 0.0
    refit_soon(model)


@compiled
def note_forgotten(mean: float, model: Model) -> None:
    """Keep of a peer that makes room for another only that somebody has such a mean.

    Without that, an agent that has come to know only its like would take them for everybody.

    Examples
    --------
    >>> model = Model.blank()
    >>> note_forgotten(0.3, model)
    >>> note_forgotten(0.1, model)
    >>> model.fit.lowest, model.fit.highest
    (0.1, 0.3)
    """
    fit = model.fit
    first = fit.n_forgotten == 0.0
    fit.n_forgotten += 1.0
    fit.lowest = mean if first or mean < fit.lowest else fit.lowest
    fit.highest = mean if first or mean > fit.highest else fit.highest


@compiled
def refit_soon(model: Model) -> None:
    """Fit again soon, also from quantiles: the agent's own stream has restarted.

    Examples
    --------
    >>> model = Model.blank()
    >>> model.fit.next_fit = 50.0
    >>> refit_soon(model)
    >>> refit_due(model, 3, 0)
    True
    """
    model.fit.next_fit = model.fit.next_fit_asked = float(MIN_MEANS)
    model.fit.next_fresh = 0.0


@compiled
def refit_due(model: Model, count: float, n_asked: float) -> bool:
    """Return whether an agent with that many samples and queries should fit again.

    Either alone is enough: who has taken many samples alone learns most from its first queries.

    Examples
    --------
    >>> refit_due(Model.blank(), 10, 0), refit_due(Model.blank(), 0, 10)
    (True, True)
    """
    return count >= model.fit.next_fit or n_asked >= model.fit.next_fit_asked
