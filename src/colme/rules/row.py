"""One row of memory: a view of each agent known, and who is thought to be alike.

Lives here: the row, and an algorithm as the rules read it.  Must not know any decision.
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled
from colme.algorithm import Algorithm
from colme.summary import View

__all__ = ["Choice", "Flags", "Numbers", "Row", "remember", "view"]

Numbers: TypeAlias = MutableSequence[float] | NDArray[np.float64]
Flags: TypeAlias = MutableSequence[bool] | NDArray[np.bool_]


class Row(NamedTuple):
    """What an agent remembers: a view of each peer it knows, and one of itself.

    Every field but the last two is a field of `View`, with one entry per agent; `member` is who is
    in the class, as far as was last decided, and `shown` who is shown to be close enough to be
    pooled: everybody, unless the algorithm wants that shown first.

    Examples
    --------
    >>> Row.blank(2).radii
    [inf, inf]
    """

    means: Numbers
    counts: Numbers
    radii: Numbers
    precisions: Numbers
    spreads: Numbers
    slopes: Numbers
    offsets: Numbers
    squares: Numbers
    epochs: Numbers
    member: Flags
    shown: Flags

    @staticmethod
    def blank(n: int) -> Row:
        """Return a row of lists, for n agents never heard of."""
        mean, n_samples, radius, precision, spread, slope, offset, squares, epoch = View()
        return Row(
            means=[mean] * n,
            counts=[n_samples] * n,
            radii=[radius] * n,
            precisions=[precision] * n,
            spreads=[spread] * n,
            slopes=[slope] * n,
            offsets=[offset] * n,
            squares=[squares] * n,
            epochs=[epoch] * n,
            member=[True] * n,
            shown=[True] * n,
        )


class Choice(NamedTuple):
    """An algorithm as the rules read it: what was chosen, and the risk of one test.

    Attributes
    ----------
    query, class_test, weighting, eta
        As in `colme.Algorithm`.
    log_risk
        ln(1/γ).
    within
        A peer is pooled only once its mean is shown to be less than this away; +∞: at once.

    Examples
    --------
    >>> Choice(query=2, class_test=2, weighting=4, eta=0.0, log_risk=14.3).within
    inf
    """

    query: int
    class_test: int
    weighting: int
    eta: float
    log_risk: float
    within: float = math.inf

    @staticmethod
    def of(algorithm: Algorithm, gamma: float) -> Choice:
        """Return the algorithm, with risk γ for each test, in plain numbers."""
        return Choice(
            int(algorithm.query),
            int(algorithm.class_test),
            int(algorithm.weighting),
            algorithm.eta,
            -math.log(gamma),
            math.inf if algorithm.within is None else algorithm.within,
        )


@compiled
def view(row: Row, l: int) -> View:
    """Return what the row holds about agent l.

    Examples
    --------
    >>> view(Row.blank(1), 0) == View()
    True
    """
    return View(
        row.means[l],
        row.counts[l],
        row.radii[l],
        row.precisions[l],
        row.spreads[l],
        row.slopes[l],
        row.offsets[l],
        row.squares[l],
        row.epochs[l],
    )


@compiled
def remember(row: Row, l: int, seen: View) -> None:
    """Write into the row what is now known of agent l.

    Examples
    --------
    >>> row = Row.blank(2)
    >>> remember(row, 1, View(mean=0.5, n_samples=3))
    >>> row.means, row.counts
    ([0.0, 0.5], [0.0, 3])
    """
    row.means[l] = seen.mean
    row.counts[l] = seen.n_samples
    row.radii[l] = seen.radius
    row.precisions[l] = seen.precision
    row.spreads[l] = seen.spread
    row.slopes[l] = seen.slope
    row.offsets[l] = seen.offset
    row.squares[l] = seen.squares
    row.epochs[l] = seen.epoch
