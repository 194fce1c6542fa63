"""Empirical Bernstein: the whole-array formula, its e-process, and how often it is crossed."""

import math
from typing import Any

import judges
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streams import crossing

from colme.bounds import EmpiricalBernstein, Laplace

units = st.lists(st.floats(0, 1), min_size=1, max_size=60)


@given(units, st.floats(1e-9, 0.5))
def test_the_stream_gives_the_interval_of_the_whole_array(x: list[float], gamma: float) -> None:
    stream = EmpiricalBernstein(0, 1, gamma).stream()
    for sample in x:
        stream.update(sample)
    center, radius = judges.bernstein(np.array(x), gamma)
    assert stream.evidence.center == pytest.approx(center, rel=1e-9, abs=1e-12)
    assert stream.evidence.radius(-math.log(gamma)) == pytest.approx(radius, rel=1e-9)
    assert stream.interval == pytest.approx(
        (max(0, center - radius), min(1, center + radius)), rel=1e-9, abs=1e-12
    )


@given(units, st.floats(-100, 100), st.floats(0.1, 100))
def test_another_range_only_changes_the_units(x: list[float], low: float, width: float) -> None:
    here = EmpiricalBernstein(0, 1).stream()
    there = EmpiricalBernstein(low, low + width).stream()
    for sample in x:
        here.update(sample)
        there.update(min(low + width * sample, low + width))
    expected = [low + width * end for end in here.interval]
    assert there.interval == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert there.evidence.slope == pytest.approx(here.evidence.slope / width, rel=1e-6)
    assert there.evidence.offset == pytest.approx(here.evidence.offset, rel=1e-6)


@pytest.mark.parametrize("kind", ["fair", "rare", "beta", "uniform"])
def test_streams_leave_at_most_as_often_as_promised(kind: str) -> None:
    assert crossing(EmpiricalBernstein(0, 1), kind) > 1e-4


@pytest.mark.parametrize("kind", ["fair", "rare", "uniform"])
def test_streams_leave_half_the_interval_more_often(kind: str) -> None:
    assert crossing(EmpiricalBernstein(0, 1), kind, factor=0.5) < 1e-4


def test_it_is_narrower_than_the_range_alone_allows_when_the_variance_is_small() -> None:
    stream = EmpiricalBernstein(0, 1).stream()
    for sample in np.random.default_rng(5).beta(10, 30, 1000):
        stream.update(sample)
    low, high = stream.interval
    assert high - low < 0.2 * 2 * Laplace(0.5, 0.05).radius(1000)


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (math.nan, 1), (0, math.inf), (0, None)])
def test_a_range_needs_two_finite_ends_in_order(low: Any, high: Any) -> None:
    with pytest.raises(ValueError, match=r"low|high"):
        EmpiricalBernstein(low, high)
