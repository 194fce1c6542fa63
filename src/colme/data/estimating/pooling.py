"""Pooling: the algorithms that weigh peers one by one, with everybody's summary known to all.

Lives here: one row over all agents, and the rules run on it for each.  Must not know files.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme._compile import kernel
from colme.algorithm import Algorithm, ClassTest, QueryStrategy
from colme.bounds import split_risk
from colme.data.estimating.noise import Noise
from colme.data.estimating.threads import over_agents
from colme.data.summaries import Summaries
from colme.rules import Choice, Row, pool

__all__ = ["Pooled", "pool_table"]

Numbers: TypeAlias = NDArray[np.float64]


class Pooled(NamedTuple):
    """The estimate of each agent, and how many samples its members have together.

    Examples
    --------
    >>> Pooled(np.zeros(1), np.ones(1)).samples
    array([1.])
    """

    means: Numbers
    samples: Numbers


@kernel
def _pool_all(
    choice: Choice, first: int, last: int, row: Row, means: Numbers, samples: Numbers
) -> None:
    """Run the rules for each agent from first to last; everybody is a member to begin with."""
    n = means.shape[0]
    for a in range(first, last):
        for l in range(n):
            row.member[l] = True
            row.shown[l] = choice.within == math.inf
        _, means[a] = pool(choice, a, n, row)
        samples[a] = 0.0
        for l in range(n):
            if row.member[l]:
                samples[a] += row.counts[l]


def pool_table(summaries: Summaries, noise: Noise, algorithm: Algorithm, delta: float) -> Pooled:
    """Return what an algorithm makes of a table in which every agent has heard of all others.

    Examples
    --------
    >>> from colme.algorithm import resolve
    >>> table = Summaries.of(["a", "b", "c"], [0.0, 0.2, 9.0])
    >>> pool_table(table, Noise("sigma", 0.1), resolve("restricted-round-robin"), 0.05).means
    array([0.1, 0.1, 9. ])

    Notes
    -----
    Agents × agents steps, in memory agents × threads.
    """
    n = len(summaries)
    if algorithm.class_test == ClassTest.KNOWN:
        raise ValueError("oracle knows the true classes, and a table does not: choose another")
    if algorithm.query == QueryStrategy.NONE:
        return Pooled(summaries.means.copy(), summaries.counts.astype(np.float64))
    gamma = split_risk(delta, n)
    choice = Choice.of(algorithm, gamma)
    means, samples = np.empty(n), np.empty(n)

    def work(first: int, last: int) -> None:
        _pool_all(choice, first, last, _row(summaries, noise, gamma), means, samples)

    over_agents(n, work)
    return Pooled(means, samples)


def _row(summaries: Summaries, noise: Noise, gamma: float) -> Row:
    """Return the row of an agent that has heard of everybody."""
    n, counts, squares = len(summaries), summaries.counts, summaries.squares
    spreads, offsets = noise.evidence(counts, squares, gamma)
    return Row(
        means=summaries.means,
        counts=counts.astype(np.float64),
        radii=noise.radii(counts, squares, gamma),
        precisions=np.zeros(n),
        spreads=spreads,
        slopes=np.full(n, np.inf),
        offsets=offsets,
        squares=squares,
        epochs=np.zeros(n),
        member=np.ones(n, np.bool_),
        shown=np.ones(n, np.bool_),
    )
