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
from colme.bounds import STREAM_N_OPT, tuned_prior
from colme.summary import UNHEARD, View

Numbers: TypeAlias = MutableSequence[float] | NDArray[np.float64]
Flags: TypeAlias = MutableSequence[bool] | NDArray[np.bool_]


class Row(NamedTuple):
    """One agent's memory: a column for each field of `View`, and what was decided about each peer.

    Attributes
    ----------
    views
        What is known of each agent.
    member
        Who is in the optimistic class.  Agents never heard of belong to it: their intervals have
        no ends.
    confirmed
        Who is shown to have a mean close enough; everybody, unless the algorithm asks for that.
    evidence
        The most that the paired test has ever found against equal means: ln(1/γ) is enough.
    heard
        The number of queries, this one included, when there was news last; 0: never.

    Examples
    --------
    >>> Row.blank(2, mean=[0.0, 0.5]).views.mean
    [0.0, 0.5]
    """

    views: View[Numbers]
    member: Flags
    confirmed: Flags
    evidence: Numbers
    heard: Numbers

    @staticmethod
    def blank(
        n: int, member: Flags | None = None, confirmed: Flags | None = None, **columns: Numbers
    ) -> Row:
        """Return a row of lists for n agents, never heard of but for the columns given."""
        views: View[Numbers] = View(*([value] * n for value in UNHEARD))
        flags = member or [True] * n, confirmed or [True] * n
        return Row(views._replace(**columns), *flags, [0.0] * n, [0.0] * n)


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
    relays
        How many summaries of others a reply carries.
    prior
        The prior count ν of the paired test.
    n_peers
        The number of peers that share the risk, for `colme.rules.exclude`; +∞: each has its own.

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
    relays: int = 0
    prior: float = 1.0
    n_peers: float = math.inf

    @staticmethod
    def of(algorithm: Algorithm, gamma: float, n_peers: float = math.inf) -> Choice:
        """Return the algorithm, with risk γ for each of n peers, in plain numbers."""
        return Choice(
            int(algorithm.query),
            int(algorithm.class_test),
            int(algorithm.weighting),
            algorithm.eta,
            -math.log(gamma),
            math.inf if algorithm.within is None else algorithm.within,
            algorithm.relays,
            tuned_prior(STREAM_N_OPT, gamma),
            n_peers,
        )
