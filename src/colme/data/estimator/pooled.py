"""The algorithms that weigh peers one by one, when everybody's summary is known to all.

Lives here: one row over all agents, and the rules run on it for each.  Must not know files.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from colme._compile import kernel
from colme.algorithm import Algorithm, ClassTest, QueryStrategy
from colme.bounds import split_risk
from colme.data.estimator.groups import over_agents
from colme.data.estimator.noise import Noise
from colme.data.summaries import Numbers, Summaries
from colme.rules import Choice, Row, pool
from colme.summary import View


@kernel
def _pool_all(
    choice: Choice, first: int, last: int, row: Row, means: Numbers, samples: Numbers
) -> None:
    """Run the rules for each agent from first to last; everybody is a member to begin with."""
    n = means.shape[0]
    for a in range(first, last):
        for l in range(n):
            row.member[l] = True
            row.confirmed[l] = choice.within == math.inf
        _, means[a] = pool(choice, a, n, row)
        samples[a] = 0.0
        for l in range(n):
            if row.member[l]:
                samples[a] += row.views.n_samples[l]


def pool_table(
    summaries: Summaries, noise: Noise, algorithm: Algorithm, delta: float
) -> tuple[Numbers, Numbers]:
    """Return the estimate of each agent that has heard of all others, and its members' samples.

    Examples
    --------
    >>> from colme.algorithm import resolve
    >>> table = Summaries.of(["a", "b", "c"], [0.0, 0.2, 9.0])
    >>> pool_table(table, Noise("sigma", 0.1), resolve("restricted-round-robin"), 0.05)
    (array([0.1, 0.1, 9. ]), array([2., 2., 1.]))

    Notes
    -----
    Agents × agents steps, in memory agents × threads.
    """
    n = len(summaries)
    if algorithm.class_test == ClassTest.KNOWN:
        raise ValueError("oracle knows the true classes, and a table does not: choose another")
    if algorithm.query == QueryStrategy.NONE:
        return summaries.means.copy(), summaries.counts.astype(np.float64)
    if algorithm.class_test == ClassTest.PAIRED:  # of whole samples there is nothing to pair
        algorithm = replace(algorithm, class_test=ClassTest.JOINT)
    gamma = split_risk(delta, n)
    choice = Choice.of(algorithm, gamma)
    means, samples = np.empty(n), np.empty(n)

    def work(first: int, last: int) -> None:  # each part of the agents has a row of its own
        _pool_all(choice, first, last, _row(summaries, noise, gamma), means, samples)

    over_agents(n, work)
    return means, samples


def _row(summaries: Summaries, noise: Noise, gamma: float) -> Row:
    """Return the row of an agent that has heard of everybody."""
    n, counts, squares = len(summaries), summaries.counts, summaries.squares
    spreads, offsets = noise.evidence(counts, squares, gamma)
    views: View[Any] = View(
        mean=summaries.means,
        n_samples=counts.astype(np.float64),
        radius=noise.radii(counts, squares, gamma),
        precision=np.zeros(n),
        spread=spreads,
        slope=np.full(n, np.inf),
        offset=offsets,
        squares=squares,
        epoch=np.zeros(n),
        variance=np.full(n, np.inf),
    )
    everybody, nothing = np.ones((2, n), np.bool_), np.zeros((2, n))
    return Row(views, *everybody, *nothing)
