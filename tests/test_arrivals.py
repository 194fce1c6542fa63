"""Arrivals: as many samples as their rates say, from agents that are there."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare

from colme import Arrivals, Problem
from colme.arrivals import check_arrivals
from colme.noise import Custom


@given(st.floats(0, 50), st.integers(1, 60))
def test_steady_arrivals_keep_to_the_rate_at_every_step(rate: float, horizon: int) -> None:
    received = Arrivals(rate).draw(horizon, n_agents=2)[0].cumsum(axis=0)
    steps = np.arange(1, horizon + 1)
    assert (received[:, 0] == np.floor(steps * rate)).all()
    assert (received[:, 0] == received[:, 1]).all()


def test_a_rate_of_one_is_one_sample_per_step() -> None:
    counts = Arrivals().draw(7, n_agents=3, runs=2)
    assert counts.dtype == np.int32
    assert counts.shape == (2, 7, 3)
    assert (counts == 1).all()


def test_batches_bring_so_many_at_every_step() -> None:
    assert (Arrivals.batches(12).draw(5, 2) == 12).all()


@pytest.mark.parametrize("pattern", ["poisson", "bursts"])
def test_random_arrivals_have_the_mean_rate_of_each_agent(pattern: Any) -> None:
    rates = np.array([0.0, 0.05, 1.0, 7.0])
    counts = Arrivals(rates, pattern, burst=5).draw(20_000, 4, seed=2)[0]
    burst = 5 if pattern == "bursts" else 1
    error = np.sqrt(rates * burst / len(counts))
    assert (abs(counts.mean(axis=0) - rates) <= 5 * error).all()
    assert counts.var(axis=0) == pytest.approx(rates * burst, rel=0.2)
    assert (counts % burst == 0).all()


def test_poisson_arrivals_are_empty_as_often_as_they_should_be() -> None:
    counts = Arrivals(0.7, "poisson").draw(1000, 10, seed=5)
    empty = int((counts == 0).sum())
    assert binomtest(empty, counts.size, math.exp(-0.7)).pvalue > 1e-3


def test_rates_between_two_are_uniform_in_their_logarithm() -> None:
    rates = np.array(Arrivals.between(0.1, 10, n_agents=3000, seed=1).rates)
    assert ((rates >= 0.1) & (rates <= 10)).all()
    parts = np.histogram(np.log10(rates), bins=8, range=(-1, 1))[0]
    assert chisquare(parts).pvalue > 1e-3
    assert (rates == Arrivals.between(0.1, 10, n_agents=3000, seed=1).rates).all()
    assert (rates != Arrivals.between(0.1, 10, n_agents=3000, seed=2).rates).any()
    assert Arrivals.between(2, 2, 3, pattern="poisson") == Arrivals([2, 2, 2], "poisson")


def first_and_last(counts: Any) -> tuple[Any, Any]:
    """Return the first and the last step with a sample, counted from 1, of each run and agent."""
    first = (counts > 0).argmax(axis=1) + 1
    last = counts.shape[1] - (counts[:, ::-1] > 0).argmax(axis=1)
    return first, last


def test_late_agents_join_in_the_first_part_and_are_as_many_as_asked() -> None:
    counts = Arrivals(late=0.3, late_by=0.25).draw(200, n_agents=40, runs=60, seed=3)
    first, last = first_and_last(counts)
    assert ((first > 1).sum(axis=1) == 12).all()
    assert (last == 200).all()
    joined = first[first > 1]
    assert (joined.min(), joined.max()) == (2, 50)
    assert chisquare(np.bincount(joined, minlength=51)[2:]).pvalue > 1e-3
    assert np.unique((first > 1).argmax(axis=1)).size > 3  # other agents in other runs


def test_silent_agents_stop_for_good_after_they_joined() -> None:
    counts = Arrivals(late=1, late_by=1, silent=0.5).draw(50, n_agents=20, runs=100, seed=4)
    first, last = first_and_last(counts)
    there = counts.sum(axis=1)
    assert (there == last - first + 1).all()  # no gaps, and everybody received something
    assert ((last < 50).sum(axis=1) <= 10).all()
    assert (last < 50).sum() > 800  # who joins at the end does not fall silent
    usual = Arrivals(silent=0.25).draw(50, n_agents=20, runs=100, seed=4)
    first, last = first_and_last(usual)
    assert (first == 1).all()
    assert ((last < 50).sum(axis=1) == 5).all()
    assert chisquare(np.bincount(last[last < 50], minlength=50)[1:]).pvalue > 1e-3


@given(
    st.sampled_from(["steady", "poisson", "bursts"]),
    st.integers(1, 12),
    st.integers(1, 6),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(0, 99),
)
def test_a_run_is_the_same_whatever_the_number_of_runs(
    pattern: Any, horizon: int, n_agents: int, late: float, silent: float, seed: int
) -> None:
    arrivals = Arrivals(1.5, pattern, 3, late, 0.7, silent)
    many = arrivals.draw(horizon, n_agents, runs=4, seed=seed)
    assert (arrivals.draw(horizon, n_agents, runs=2, seed=seed) == many[:2]).all()
    assert (arrivals.draw_run(horizon, n_agents, 3, seed) == many[3]).all()
    assert (many >= 0).all()


def test_arrivals_are_independent_of_the_samples_of_the_same_seed() -> None:
    def sampler(rng: np.random.Generator, means: Any, horizon: int) -> Any:
        return np.tile(rng.permutation(means.size), (horizon, 1))

    n_agents, runs = 4, 200
    problem = Problem([0] * n_agents, [0.0] * n_agents, Custom(sampler, 1.0))
    drawn = problem.draw(50, runs, seed=8)[:, 0, 0]
    counts = Arrivals(late=0.25).draw(50, n_agents, runs, seed=8)
    late = (counts[:, 0] == 0).argmax(axis=1)
    assert binomtest(int((drawn == late).sum()), runs, 0.25).pvalue > 1e-3


def test_arrivals_are_values() -> None:
    assert Arrivals([1, 2]) == Arrivals((1.0, 2.0))
    assert hash(Arrivals(np.array([1.0, 2.0]))) == hash(Arrivals([1, 2]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rates": -1}, "rates must be 0 or greater; received -1"),
        ({"rates": [1, -0.5]}, "rates must be 0 or greater; received -0.5"),
        ({"rates": math.inf}, "rates must be a finite number; received inf"),
        ({"rates": [1, math.nan]}, "rates must be a finite number; received nan"),
        ({"rates": 1e7}, "rates must be at most 1e.06 samples per step; received 1e.07"),
        ({"pattern": "daily"}, "one of steady, poisson, bursts; received 'daily'"),
        ({"burst": 0}, "burst must be at least 1; received 0"),
        ({"burst": 10**7}, "burst must be at most 1e.06; received 10000000"),
        ({"late": 1.5}, r"late is a share in \[0, 1\]; received 1.5"),
        ({"late_by": -0.1}, r"late_by is a share in \[0, 1\]; received -0.1"),
        ({"silent": math.nan}, "silent must be a finite number; received nan"),
    ],
)
def test_wrong_arrivals_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Arrivals(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"horizon": 0, "n_agents": 2}, "horizon must be at least 1; received 0"),
        ({"horizon": 3, "n_agents": 0}, "n_agents must be at least 1; received 0"),
        ({"horizon": 3, "n_agents": 2, "runs": 0}, "runs must be at least 1; received 0"),
        ({"horizon": 3, "n_agents": 3}, "one for each of the 3 agents; received 2"),
    ],
)
def test_nothing_arrives_for_a_wrong_horizon_or_fleet(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Arrivals([1.0, 2.0]).draw(**arguments)


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [(0, 1, "low must be greater than 0; received 0"), (2, 1, "low <= high; received 2, 1")],
)
def test_rates_need_a_range(low: float, high: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Arrivals.between(low, high, 3)


def test_given_arrivals_are_one_run_for_all_or_one_for_each() -> None:
    counts = np.ones((3, 4, 2), np.uint8)
    assert check_arrivals(counts, runs=3, n_agents=2).dtype == np.int32
    assert check_arrivals(counts, runs=3, n_agents=2).shape == (3, 4, 2)
    assert check_arrivals(counts[0], runs=3, n_agents=2).shape == (1, 4, 2)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1, -1]], "whole numbers 0, 1, 2, ...: .* received -1"),
        ([[1, 2**40]], "received 1099511627776"),
        ([[1.0, 2.0]], "received float64 numbers: .*astype"),
        ([[True, False]], "received bool"),
        ([1, 2], r"2 runs and 2 agents; received shape \(2,\)"),
        ([[1, 2, 3]], r"received shape \(1, 3\)"),
        (np.ones((3, 1, 2), int), r"received shape \(3, 1, 2\)"),
    ],
)
def test_wrong_given_arrivals_are_refused(values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_arrivals(values, runs=2, n_agents=2)
