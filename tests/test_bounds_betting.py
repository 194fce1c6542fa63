"""Betting: the exact set of means, what the grid adds to it, and how often it is crossed."""

import math
from typing import Any

import judges
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streams import crossing

from colme.bounds import Betting, EmpiricalBernstein

units = st.lists(st.floats(0, 1), min_size=1, max_size=40)
grids = st.sampled_from([1, 2, 7, 100])


def followed(bound: Any, x: Any) -> Any:
    stream = bound.stream()
    for sample in x:
        stream.update(sample)
    return stream


@given(units, st.floats(1e-6, 0.5), grids)
def test_the_interval_holds_every_mean_that_is_not_ruled_out(
    x: list[float], gamma: float, n_grid: int
) -> None:
    low, high = followed(Betting(0, 1, gamma, n_grid=n_grid), x).interval
    exact_low, exact_high = judges.betting(np.array(x), gamma)
    assert 0 <= low <= exact_low + 1e-12
    assert 1 >= high >= exact_high - 1e-12


@pytest.mark.parametrize("n", [20, 200, 5000])
@pytest.mark.parametrize(("n_grid", "excess"), [(10, 0.2), (100, 3e-3), (1000, 3e-5)])
def test_the_grid_costs_little_at_any_length(n: int, n_grid: int, excess: float) -> None:
    x = np.random.default_rng(2).random(n)
    low, high = followed(Betting(0, 1, n_grid=n_grid), x).interval
    exact_low, exact_high = judges.betting(x, 0.05)
    assert high - low < (exact_high - exact_low) * (1 + excess)


@given(units, grids)
def test_the_evidence_is_below_the_logarithm_of_the_wealth_everywhere(
    x: list[float], n_grid: int
) -> None:
    found = followed(Betting(0, 1, 0.05, n_grid=n_grid), x).evidence
    assert found.spread == 0
    assert found.offset >= math.log(2) - 1e-12
    for m in [*np.linspace(0, 1, 41), found.center]:
        more, less = (judges.log_wealth(np.array(x), 0.05, sign, m) for sign in (1, -1))
        average = np.logaddexp(more, less) - math.log(2)
        assert found.slope * abs(found.center - m) - found.offset <= average + 1e-9


def test_the_evidence_touches_the_wealth_at_an_end_of_the_range() -> None:
    x = np.random.default_rng(4).beta(2, 6, 300)
    found = followed(Betting(0, 1, n_grid=1000), x).evidence
    best = max(judges.log_wealth(x, 0.05, 1, 0.0), judges.log_wealth(x, 0.05, -1, 1.0))
    at_ends = found.slope * np.array([found.center, 1 - found.center]) - found.offset
    assert at_ends.max() == pytest.approx(best - math.log(2), rel=1e-6)


@pytest.mark.parametrize(("sample", "center"), [(0.0, 0.0), (1.0, 1.0), (0.25, 0.25)])
def test_equal_samples_are_a_centre_of_their_own(sample: float, center: float) -> None:
    stream = followed(Betting(0, 1, n_grid=8), [sample] * 200)
    assert stream.evidence.center == pytest.approx(center, abs=1e-12)
    assert stream.evidence.radius(3.0) < 0.06
    low, high = stream.interval
    assert low <= sample <= high


@given(units, st.floats(-100, 100), st.floats(0.1, 100))
def test_another_range_only_changes_the_units(x: list[float], low: float, width: float) -> None:
    here = followed(Betting(0, 1), x)
    there = followed(Betting(low, low + width), [min(low + width * s, low + width) for s in x])
    expected = [low + width * end for end in here.interval]
    assert there.interval == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert there.evidence.slope == pytest.approx(here.evidence.slope / width, rel=1e-6)
    assert there.evidence.offset == pytest.approx(here.evidence.offset, rel=1e-6)


@pytest.mark.parametrize("kind", ["fair", "rare", "beta", "uniform"])
def test_streams_leave_at_most_as_often_as_promised(kind: str) -> None:
    assert crossing(Betting(0, 1, n_grid=50), kind, streams=1000) > 1e-4


@pytest.mark.parametrize("kind", ["fair", "rare", "uniform"])
def test_streams_leave_half_the_interval_more_often(kind: str) -> None:
    assert crossing(Betting(0, 1, n_grid=50), kind, factor=0.5, streams=1000) < 1e-4


@pytest.mark.parametrize("gamma", [0.05, 1e-6])
@pytest.mark.parametrize("n", [100, 1000])
def test_it_is_narrower_than_empirical_bernstein(n: int, gamma: float) -> None:
    x = np.random.default_rng(6).random(n)
    widths = [
        -np.subtract(*followed(bound, x).interval)
        for bound in (Betting(0, 1, gamma), EmpiricalBernstein(0, 1, gamma))
    ]
    assert widths[0] < widths[1]


@pytest.mark.parametrize("n_grid", [0, -1, 2.5])
def test_a_grid_has_cells(n_grid: Any) -> None:
    with pytest.raises(ValueError, match=f"n_grid must be .*received {n_grid}"):
        Betting(0, 1, n_grid=n_grid)


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (math.nan, 1), (0, math.inf), (0, None)])
def test_a_range_needs_two_finite_ends_in_order(low: Any, high: Any) -> None:
    with pytest.raises(ValueError, match=r"low|high"):
        Betting(low, high)
