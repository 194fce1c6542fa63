"""What a model is made of: the last fit, sums over members, and room to work in.

Lives here: its numbers and their names.  Must not know how they are found or used.
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled
from colme.rules import Numbers

__all__ = [
    "BELL",
    "CROWD_MEAN",
    "CROWD_STRAYS",
    "CROWD_VARIANCE",
    "FEWEST",
    "FORGOTTEN",
    "FRESH",
    "HIGHEST",
    "LOWEST",
    "MOST_CLASSES",
    "NEXT",
    "NEXT_ASKED",
    "NOISE",
    "N_FACTS",
    "SIZE",
    "STRAYS",
    "TRUST",
    "WIDTH",
    "Bench",
    "Model",
    "forget",
    "hurry",
    "refit_due",
    "reset",
]

Table: TypeAlias = MutableSequence[Numbers] | NDArray[np.float64]

MOST_CLASSES = 8
"""A fit starts from so many classes; more than that are described as a crowd."""
STRAYS = MOST_CLASSES
"""Where `shares` keeps the strays', and the sums the crowd's."""
NEXT, SIZE, WIDTH, TRUST, CROWD_MEAN, CROWD_VARIANCE, NOISE, FRESH = range(8)
FORGOTTEN, LOWEST, HIGHEST, NEXT_ASKED = range(8, 12)
N_FACTS = 12
"""How many `facts` there are; the names above say where each is kept."""
FEWEST = 3
"""Means needed for a fit."""
CROWD_STRAYS = 0.2
"""Share of strays beside a crowd."""
BELL = 1 / math.sqrt(2 * math.pi)


class Model(NamedTuple):
    """The last fit, and sums over the members that are kept up to date between fits.

    Attributes
    ----------
    facts
        At how many samples to fit again, how many classes, the width over which strays lie (0: not
        fitted), how far to trust the classes rather than the crowd, the crowd's mean and variance,
        the variance of a sample averaged over all streams, at how many queries to fit from
        quantiles again, how many peers were forgotten to make room, the lowest and the highest of
        their means, and at how many queries to fit again.
    atoms, shares, variances
        Mean, share and spread of each class, 0 unless it must be several that are not told apart
        yet; the last share is the strays'.
    weights, totals
        Σ weights and Σ weights · means of the members, for each class; the last are the crowd's.

    Examples
    --------
    >>> refit_due(Model.blank(), 2, 2), refit_due(Model.blank(), 3, 2)
    (False, True)
    """

    facts: Numbers
    atoms: Numbers
    shares: Numbers
    variances: Numbers
    weights: Numbers
    totals: Numbers

    @staticmethod
    def blank() -> Model:
        """Return a model of lists, not fitted yet."""
        model = Model([0.0] * N_FACTS, *([0.0] * (MOST_CLASSES + 1) for _ in range(5)))
        reset(model)
        return model

    @staticmethod
    def of(parts: Sequence[Sequence[float]]) -> Model:
        """Return a model of lists with these numbers; refuse what no fit can have left.

        A model without `NEXT_ASKED`, from before there was a schedule of queries, is fitted again
        soon.
        """
        model = Model.blank()
        is_old = len(parts) == len(model) and len(parts[0]) == NEXT_ASKED
        parts = [[*parts[0], 0.0], *parts[1:]] if is_old else parts
        if (
            [len(part) for part in parts] != [len(part) for part in model]
            or not all(math.isfinite(value) for part in parts for value in part)
            or parts[0][SIZE] not in range(MOST_CLASSES + 1)
        ):
            raise ValueError(f"a model is {N_FACTS} facts and 5 lists of classes; received {parts}")
        model = Model(*(list(part) for part in parts))
        if is_old:
            hurry(model)
        return model


class Bench(NamedTuple):
    """Room to work in: nothing here outlives a call.

    Examples
    --------
    >>> len(Bench.blank(5).means)
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
    def blank(n: int) -> Bench:
        """Return a bench of lists for a row of n."""
        a, b, c, d, e = ([0.0] * n for _ in range(5))
        table: list[Numbers] = [[0.0] * n for _ in range(MOST_CLASSES)]
        peers: list[Numbers] = [[0.0] * n for _ in range(MOST_CLASSES)]
        f, g, h, i, j, k, l = ([0.0] * (MOST_CLASSES + 1) for _ in range(7))
        return Bench(a, b, c, d, e, table, peers, f, g, h, i, j, k, l)


@compiled
def reset(model: Model) -> None:
    """Forget every fit.

    Examples
    --------
    >>> model = Model.blank()
    >>> model.facts[NEXT] = 50.0
    >>> reset(model)
    >>> refit_due(model, 3, 0)
    True
    """
    for i in range(N_FACTS):
        model.facts[i] = 0.0
    for k in range(MOST_CLASSES + 1):
        model.atoms[k] = model.shares[k] = model.variances[k] = 0.0
        model.weights[k] = model.totals[k] = 0.0
    model.facts[NEXT] = model.facts[NEXT_ASKED] = float(FEWEST)


@compiled
def forget(mean: float, model: Model) -> None:
    """Keep of a peer that makes room for another only that somebody has such a mean.

    Without that, an agent that has come to know only its like would take them for everybody.

    Examples
    --------
    >>> model = Model.blank()
    >>> forget(0.3, model)
    >>> forget(0.1, model)
    >>> model.facts[LOWEST], model.facts[HIGHEST]
    (0.1, 0.3)
    """
    facts = model.facts
    first = facts[FORGOTTEN] == 0.0
    facts[FORGOTTEN] += 1.0
    facts[LOWEST] = mean if first or mean < facts[LOWEST] else facts[LOWEST]
    facts[HIGHEST] = mean if first or mean > facts[HIGHEST] else facts[HIGHEST]


@compiled
def hurry(model: Model) -> None:
    """Fit again soon, also from quantiles: the agent's own stream has begun anew.

    Examples
    --------
    >>> model = Model.blank()
    >>> model.facts[NEXT] = 50.0
    >>> hurry(model)
    >>> refit_due(model, 3, 0)
    True
    """
    model.facts[NEXT] = model.facts[NEXT_ASKED] = float(FEWEST)
    model.facts[FRESH] = 0.0


@compiled
def refit_due(model: Model, count: float, n_asked: float) -> bool:
    """Return whether an agent with so many samples and queries should fit again.

    Either alone is enough: who has taken many samples alone learns most from its first queries.

    Examples
    --------
    >>> refit_due(Model.blank(), 10, 0), refit_due(Model.blank(), 0, 10)
    (True, True)
    """
    return count >= model.facts[NEXT] or n_asked >= model.facts[NEXT_ASKED]
