"""Algorithms that weigh peers one by one, on a table: the rules on a row that holds everybody."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from colme import ALGORITHMS, Agent, Algorithm, Query
from colme.algorithm import resolve
from colme.bounds import NormalMixture, split_risk
from colme.data import Noise, Summaries, estimate
from colme.data.estimator import pooled as pooling
from colme.data.estimator.pooled import pool_table
from colme.rules import Choice, Row, pool
from colme.summary import View

Array = NDArray[np.float64]

POOLED = [
    *(
        ALGORITHMS[name]
        for name in ALGORITHMS
        if name not in ("sharp", "robust", "oracle", "local")
    ),
    Algorithm("restricted-round-robin", "robust", "joint"),
    Algorithm("round-robin", "simple", "joint"),
    Algorithm("round-robin", "aggressive", "joint", eta=0.3),
    Algorithm("round-robin", "simple", within=0.9),
    Algorithm("round-robin", "simple", "joint", within=0.9),
]


def small_table() -> tuple[NDArray[np.int64], Array]:
    rng = np.random.default_rng(47)
    whose = np.repeat(np.arange(9), rng.integers(1, 60, 9))
    return whose, rng.normal((np.arange(9) % 3)[whose], 0.4)


@pytest.mark.parametrize("algorithm", POOLED, ids=str)
@pytest.mark.parametrize("noise", [Noise("sigma", 0.4), Noise("estimated", 0.4)], ids=str)
def test_pooling_is_the_rules_on_each_agents_row(algorithm: Algorithm, noise: Noise) -> None:
    found = Summaries.of(*small_table())
    means, samples = pool_table(found, noise, algorithm, 0.1)
    choice = Choice.of(algorithm, split_risk(0.1, 9))
    for a in range(9):
        row = pooling._row(found, noise, split_risk(0.1, 9))
        views: View[Any] = View(*(np.array(part).tolist() for part in row.views))
        lists = Row.blank(9, confirmed=[algorithm.within is None] * 9)._replace(views=views)
        _, mean = pool(choice, a, 9, lists)
        assert means[a] == pytest.approx(mean, rel=1e-12)
        members = [l for l in range(9) if lists.member[l]]
        assert samples[a] == found.counts[members].sum()


@pytest.mark.parametrize("algorithm", POOLED, ids=str)
def test_pooling_is_what_agents_find_once_all_have_heard_of_all(algorithm: Algorithm) -> None:
    whose, values = small_table()
    names = [str(a) for a in range(9)]
    bound = NormalMixture(0.4, 5)
    agents = [
        Agent(name, bound=bound, delta=0.1, max_agents=9, algorithm=algorithm, peers=names)
        for name in names
    ]
    for a, value in zip(whose, values, strict=True):
        agents[a].perceive(float(value))
    for here, there in itertools.permutations(agents, 2):
        here.receive(there.answer(Query(here.name, there.name)))
    means, _ = pool_table(Summaries.of(whose, values), Noise("sigma", 0.4), algorithm, 0.1)
    np.testing.assert_allclose(means, [one.estimate for one in agents], rtol=1e-9)


def test_compiled_and_plain_pooling_agree() -> None:
    found, noise = Summaries.of(*small_table()), Noise("sigma", 0.4)
    for algorithm in POOLED:
        gamma = split_risk(0.1, 9)
        means, samples = np.empty(9), np.empty(9)
        row = pooling._row(found, noise, gamma)
        pooling._pool_all.function(Choice.of(algorithm, gamma), 0, 9, row, means, samples)
        pooled = pool_table(found, noise, algorithm, 0.1)
        np.testing.assert_allclose(pooled[0], means, rtol=1e-12)
        np.testing.assert_array_equal(pooled[1], samples)


def test_local_keeps_own_means_and_oracle_has_nothing_to_know() -> None:
    found = Summaries.of(*small_table())
    local = estimate(found, algorithm="local")
    assert local.estimates.tolist() == found.means.tolist()
    assert local.effective_counts.tolist() == found.counts.tolist()
    with pytest.raises(ValueError, match="oracle knows the true classes"):
        estimate(found, algorithm="oracle")
    with pytest.raises(ValueError, match="unknown algorithm 'best'"):
        estimate(found, algorithm="best")
    with pytest.raises(ValueError, match="there are no agents"):
        estimate(Summaries.of([], []))


def test_every_preset_estimates_every_table() -> None:
    found = Summaries.of(*small_table())
    for name in ALGORITHMS:
        if name != "oracle":
            result = estimate(found, algorithm=name, eta=0.1)
            assert (result.algorithm, result.eta) == (name, 0.1)
            assert np.isfinite(result.estimates).all()
    composed = estimate(found, algorithm=Algorithm("round-robin", "soft"))
    assert composed.algorithm == resolve(Algorithm("round-robin", "soft")).meaning
