"""One row of memory: a view of each agent known, and who is thought to be alike.

Lives here: the row, and an algorithm as the rules read it.  Must not know any decision.
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme.algorithm import Algorithm
from colme.summary import UNHEARD, View

Numbers: TypeAlias = MutableSequence[float] | NDArray[np.float64]
Flags: TypeAlias = MutableSequence[bool] | NDArray[np.bool_]


class Row(NamedTuple):
    """One agent's memory: a column for each field of `View`, and two flags.

    Attributes
    ----------
    views
        What is known of each agent.
    member
        Who is in the optimistic class.  Agents never heard of belong to it: their intervals have
        no ends.
    confirmed
        Who is shown to have a mean close enough; everybody, unless the algorithm asks for that.

    Examples
    --------
    >>> Row.blank(2, mean=[0.0, 0.5]).views.mean
    [0.0, 0.5]
    """

    views: View[Numbers]
    member: Flags
    confirmed: Flags

    @staticmethod
    def blank(
        n: int, member: Flags | None = None, confirmed: Flags | None = None, **columns: Numbers
    ) -> Row:
        """Return a row of lists for n agents, never heard of but for the columns given."""
        views: View[Numbers] = View(*([value] * n for value in UNHEARD))
        return Row(views._replace(**columns), member or [True] * n, confirmed or [True] * n)


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
