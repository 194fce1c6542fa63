"""The radius, its exact inverse, and how often it is crossed."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from colme.algorithm import ClassTest
from colme.bounds import (
    Laplace,
    NormalMixture,
    default_bound,
    range_sigma,
    split_risk,
    usual_bound,
)

PAPER = Laplace(0.5, split_risk(0.001, 200))

bounds = st.builds(Laplace, st.floats(1e-3, 10), st.floats(1e-9, 0.5))


def test_risk_is_split_over_eight_times_the_agents() -> None:
    assert split_risk(0.001, 200) == 0.001 / (8 * 200)
    assert split_risk(0.5, 1) == 0.5 / 8


@given(bounds, st.integers(1, 10_000))
def test_radius_is_the_published_formula(bound: Laplace, n: int) -> None:
    published = math.sqrt(2 / n * (1 + 1 / n) * math.log(math.sqrt(n + 1) / bound.gamma))
    assert bound.radius(n) == pytest.approx(bound.sigma * published, rel=1e-12)


@given(bounds)
def test_radius_is_infinite_at_zero_and_falls_strictly(bound: Laplace) -> None:
    radii = bound.radius(np.arange(2000))
    assert radii[0] == bound.radius(0) == math.inf
    assert (np.diff(radii[1:]) < 0).all()
    assert np.isfinite(radii[1:]).all()


@given(bounds, st.lists(st.integers(0, 10**9), min_size=1))
def test_radius_of_a_number_and_of_an_array_agree(bound: Laplace, counts: list[int]) -> None:
    one_by_one = [bound.radius(n) for n in counts]
    np.testing.assert_allclose(bound.radius(np.array(counts)), one_by_one, rtol=1e-12)


@given(bounds, st.floats(1e-4, 100))
def test_inverse_is_the_smallest_count_with_a_smaller_radius(bound: Laplace, x: float) -> None:
    n = bound.inverse(x)
    assert type(n) is int
    assert bound.radius(n) < x <= bound.radius(n - 1)


@given(bounds, st.integers(1, 10_000))
def test_inverse_at_a_radius_is_the_next_count(bound: Laplace, n: int) -> None:
    assert bound.inverse(bound.radius(n)) == n + 1


@pytest.mark.parametrize(
    ("x", "n"), [(0.05, 3680), (0.1, 885), (0.15, 385), (0.01, 100217), (math.inf, 1)]
)
def test_inverse_gives_the_papers_values(x: float, n: int) -> None:
    assert PAPER.inverse(x) == n


@pytest.mark.parametrize(("low", "high", "sigma"), [(0, 1, 0.5), (-3, 1, 2), (0.25, 0.5, 0.125)])
def test_a_bounded_stream_has_half_its_range_as_sigma(
    low: float, high: float, sigma: float
) -> None:
    assert range_sigma(low, high) == sigma


def crossing_test(factor: float) -> float:
    """Return the p-value of 'at most γ of the streams ever leave `factor` times the radius'."""
    streams, steps, sigma, gamma = 2000, 500, 0.7, 0.05
    samples = np.random.default_rng(7).normal(0.0, sigma, (streams, steps))
    counts = np.arange(1, steps + 1)
    means = samples.cumsum(axis=1) / counts
    outside = (abs(means) > factor * Laplace(sigma, gamma).radius(counts)).any(axis=1)
    return float(binomtest(int(outside.sum()), streams, gamma, "greater").pvalue)


def test_streams_leave_the_radius_at_most_as_often_as_promised() -> None:
    assert crossing_test(1.0) > 1e-4


def test_streams_leave_half_the_radius_more_often_than_promised() -> None:
    assert crossing_test(0.5) < 1e-4


@pytest.mark.parametrize("sigma", [0, -1, math.nan, math.inf, None])
def test_sigma_must_be_positive(sigma: Any) -> None:
    with pytest.raises(ValueError, match=f"sigma must be .*received {sigma}"):
        Laplace(sigma, 0.1)


@pytest.mark.parametrize("risk", [0, 1, -0.5, 2, math.nan])
def test_risks_must_lie_between_0_and_1(risk: float) -> None:
    with pytest.raises(ValueError, match=f"gamma .*received {risk}"):
        Laplace(1.0, risk)
    with pytest.raises(ValueError, match=f"delta .*received {risk}"):
        split_risk(risk, 10)


@pytest.mark.parametrize("n_agents", [0, -1, 2.5])
def test_risk_is_not_split_over_no_agents(n_agents: Any) -> None:
    with pytest.raises(ValueError, match=f"n_agents must be .*received {n_agents}"):
        split_risk(0.1, n_agents)


@pytest.mark.parametrize("x", [0, -0.1, math.nan])
def test_inverse_needs_a_positive_radius(x: float) -> None:
    with pytest.raises(ValueError, match=f"x > 0; received {x}"):
        PAPER.inverse(x)


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (math.nan, 1), (0, math.inf)])
def test_a_range_needs_two_finite_ends_in_order(low: float, high: float) -> None:
    with pytest.raises(ValueError, match=r"low|high"):
        range_sigma(low, high)


@pytest.mark.parametrize("sigma", ["0.5", np.float32(0.5)])
def test_a_sigma_that_reads_as_a_number_is_used_as_one(sigma: Any) -> None:
    assert Laplace(sigma, 0.1).radius(10) == Laplace(0.5, 0.1).radius(10)


def test_the_old_name_of_the_default_bound_still_works() -> None:
    with pytest.warns(DeprecationWarning, match="usual_bound is now default_bound"):
        old = usual_bound(ClassTest.JOINT, 0.5, 0.01)
    assert old == default_bound(ClassTest.JOINT, 0.5, 0.01) == NormalMixture(0.5, 1000, 0.01)
