"""The promise of the joint test: who shares the mean is excluded at most as often as was said.

Every trial is independent of the others, so that an exact binomial test may count them: pairs with
streams of their own, or one agent of each run.  The same counts condemn a test that takes samples
for half as noisy as they are, which shows that they could condemn this one.
"""

import math
from functools import cache

import numpy as np
import pytest
from engine_runs import NO_COUNTS, everyone, run_block
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.stats import binomtest

from colme.algorithm import ClassTest, QueryStrategy, Weighting
from colme.bounds import (
    Bound,
    Budget,
    EmpiricalBernstein,
    Laplace,
    NormalMixture,
    spend_risk,
    split_risk,
)
from colme.engine import Agents, Output, Workspace
from colme.rules import Choice
from colme.summary import UNHEARD, View, views_of

Array = NDArray[np.float64]

HORIZON = 300
RISK = 0.25
PAIRS = 2000


JOINT = Choice(
    int(QueryStrategy.ROUND_ROBIN), int(ClassTest.JOINT), int(Weighting.SIMPLE), 0.0, 0.0
)


def views_over_time(
    rng: Generator, deviation: float, bound: Bound, counts: NDArray[np.int64]
) -> list[Array]:
    """Return what many streams say [stream, step] with so many samples at each step."""
    samples = rng.normal(0.3, deviation, (HORIZON, PAIRS))
    views = views_of(samples, [bound] * PAIRS, with_squares=False)
    nobody = [np.full((PAIRS, 1), value) for value in UNHEARD]
    return [np.hstack([n, v])[:, counts] for n, v in zip(nobody, views, strict=True)]


def excluded_pairs(
    deviations: tuple[float, float],
    bounds: tuple[Bound, Bound],
    every: tuple[int, int] = (1, 1),
    refresh: int = 1,
) -> int:
    """Return how many of many pairs with the same mean are ever told apart by the first agent.

    The two have a sample every so many steps; what the second says is news every `refresh`.
    """
    rng = np.random.default_rng(1)
    steps = np.arange(1, HORIZON + 1)
    times = steps, steps // refresh * refresh
    both = [
        views_over_time(rng, deviation, bound, time // rate)
        for deviation, bound, time, rate in zip(deviations, bounds, times, every, strict=True)
    ]
    # For each layout of its arrays the loop would be compiled again.
    fields = [np.ascontiguousarray(np.stack(pair, 1)) for pair in zip(*both, strict=True)]
    return sum(
        excludes(View(*(field[pair] for field in fields)), -math.log(RISK)) for pair in range(PAIRS)
    )


@cache
def room(n_agents: int) -> tuple[Agents, Workspace]:
    """Return agents that all know each other, and the workspace of all trials."""
    return everyone([0] * n_agents), Workspace.blank(n_agents, n_classes=1)


def excludes(views: View[Array], log_risk: float, choice: Choice = JOINT) -> bool:
    """Return whether the first agent has excluded anyone by the end."""
    n_agents, horizon = views.mean.shape
    slots = np.append(np.full(horizon - 1, -1), 0)
    estimates, counts = np.empty((n_agents, 1)), np.empty((n_agents, 1, 1), np.int16)
    agents, workspace = room(n_agents)
    output = Output(estimates, counts, NO_COUNTS)
    chosen = choice._replace(log_risk=log_risk)
    run_block(chosen, agents, views, slots, output, last=1, workspace=workspace)
    return bool(counts[0, 0, 0] < n_agents)


def p_value(n_excluded: int, n: int, risk: float) -> float:
    return float(binomtest(n_excluded, n, risk, "greater").pvalue)


def mixtures(*sigmas: float) -> tuple[Bound, Bound]:
    own, peer = (NormalMixture(sigma, 30, RISK) for sigma in sigmas)
    return own, peer


@pytest.mark.parametrize("refresh", [1, 10, 100])
@pytest.mark.parametrize("every", [(1, 1), (1, 5), (7, 1), (30, 1)], ids=str)
def test_a_pair_with_one_mean_is_told_apart_no_more_often_than_the_risk(
    every: tuple[int, int], refresh: int
) -> None:
    honest = excluded_pairs((0.5, 0.5), mixtures(0.5, 0.5), every, refresh)
    assert p_value(honest, PAIRS, RISK) > 1e-3


@pytest.mark.parametrize("refresh", [1, 10, 100])
@pytest.mark.parametrize("every", [(1, 1), (1, 5), (7, 1)], ids=str)
def test_a_pair_is_told_apart_too_often_by_a_test_that_is_twice_as_sharp(
    every: tuple[int, int], refresh: int
) -> None:
    half = excluded_pairs((0.5, 0.5), mixtures(0.25, 0.25), every, refresh)
    assert p_value(half, PAIRS, RISK) < 1e-6


@pytest.mark.parametrize("every", [(1, 1), (1, 5), (5, 1)], ids=str)
def test_streams_of_unequal_noise_keep_the_promise_each_with_its_own_scale(
    every: tuple[int, int],
) -> None:
    honest = excluded_pairs((0.2, 2.0), mixtures(0.2, 2.0), every)
    assert p_value(honest, PAIRS, RISK) > 1e-3
    careless = excluded_pairs((0.2, 2.0), mixtures(0.2, 0.2), every)
    assert p_value(careless, PAIRS, RISK) < 1e-6


@pytest.mark.parametrize(
    "bounds",
    [
        (Laplace(0.5, RISK), NormalMixture(0.5, 100, RISK)),
        (EmpiricalBernstein(-4, 4, RISK), NormalMixture(0.5, 100, RISK)),
    ],
    ids=["two mixtures", "a range and a mixture"],
)
def test_bounds_of_different_kinds_keep_the_promise_together(bounds: tuple[Bound, Bound]) -> None:
    assert p_value(excluded_pairs((0.5, 0.5), bounds), PAIRS, RISK) > 1e-3


def agents_that_exclude(n_agents: int, runs: int, sigma: float, gamma: float, seed: int) -> int:
    """Return in how many runs of one class the first agent ever excludes anyone."""
    rng = np.random.default_rng(seed)
    bounds: list[Bound] = [NormalMixture(sigma, 100, gamma)] * n_agents
    choice = JOINT._replace(query=int(QueryStrategy.RESTRICTED_ROUND_ROBIN))
    n_excluding = 0
    for _ in range(runs):
        views = views_of(rng.normal(0, 0.5, (HORIZON, n_agents)), bounds, with_squares=False)
        n_excluding += excludes(views, -math.log(gamma), choice)
    return n_excluding


@pytest.mark.parametrize(("n_agents", "runs"), [(2, 2000), (10, 1000), (50, 600)])
def test_an_agent_among_its_like_excludes_anyone_no_more_often_than_its_risk(
    n_agents: int, runs: int
) -> None:
    gamma = RISK / (n_agents - 1)
    honest = agents_that_exclude(n_agents, runs, 0.5, gamma, seed=2)
    assert p_value(honest, runs, RISK) > 1e-3
    half = agents_that_exclude(n_agents, runs, 0.25, gamma, seed=3)
    assert p_value(half, runs, RISK) < 1e-6


def series_that_exclude(n_peers: int, runs: int, sigma: float, priced: bool, seed: int) -> int:
    """Return in how many runs an agent that spends its risk peer by peer excludes its like."""
    rng = np.random.default_rng(seed)
    bounds: list[Bound] = [NormalMixture(sigma, 100, RISK)] * (n_peers + 1)
    prices = [Budget(RISK, None).price(j) if priced else 0.0 for j in range(n_peers + 1)]
    choice = JOINT._replace(query=int(QueryStrategy.RESTRICTED_ROUND_ROBIN))
    n_excluding = 0
    for _ in range(runs):
        views = views_of(rng.normal(0, 0.5, (HORIZON, n_peers + 1)), bounds, with_squares=False)
        views = views._replace(offset=views.offset + np.array(prices)[:, None])
        views = View(*map(np.ascontiguousarray, views))  # a layout for which the loop is compiled
        n_excluding += excludes(views, -math.log(RISK), choice)
    return n_excluding


@pytest.mark.parametrize(("n_peers", "runs"), [(1, 1000), (9, 1000), (49, 500)])
def test_peers_met_one_after_another_are_excluded_no_more_often_than_the_whole_series(
    n_peers: int, runs: int
) -> None:
    honest = series_that_exclude(n_peers, runs, 0.5, priced=True, seed=4)
    assert p_value(honest, runs, RISK) > 1e-3
    half = series_that_exclude(n_peers, runs, 0.25, priced=True, seed=5)
    assert p_value(half, runs, RISK) < 1e-6


def test_peers_met_one_after_another_at_the_same_risk_each_would_break_the_promise() -> None:
    alike = series_that_exclude(49, 500, 0.5, priced=False, seed=6)
    assert p_value(alike, 500, RISK) < 1e-6


@given(st.floats(0.001, 0.999), st.integers(1, 10**6), st.integers(1, 1000))
def test_however_many_are_met_no_more_than_an_eighth_of_the_risk_is_spent(
    delta: float, j: int, n: int
) -> None:
    budget, own = Budget(delta, None), spend_risk(delta, 0)
    assert budget.gamma == own == delta / 16
    assert math.exp(-budget.price(j)) * own == pytest.approx(spend_risk(delta, j))
    assert spend_risk(delta, j + 1) < spend_risk(delta, j) < own
    # what is left beyond j, Σ 1/i² over i > j, is below 1/j
    spent = sum(spend_risk(delta, i) for i in range(n + 1))
    assert spent < delta / 8 < spent + own * 6 / math.pi**2 / n * (1 + 1e-9)


def test_a_declared_number_of_agents_has_no_price() -> None:
    assert Budget(0.1, 5).gamma == split_risk(0.1, 5)
    assert [Budget(0.1, 5).price(j) for j in range(4)] == [0.0] * 4
    for j in (-1, 0.5, None):
        with pytest.raises(ValueError, match=f"j must be .*received {j}"):
            spend_risk(0.1, j)  # type: ignore[arg-type]
