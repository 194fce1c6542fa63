"""How members are weighed: against definitions, and at limits where weightings coincide."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from one_row import POOLING, OneRow, rows

from colme.algorithm import Weighting

SUMS = [weighting for weighting in POOLING if weighting != Weighting.ROBUST]
"""Weights that no other weight changes; the robust ones have tests of their own."""


@given(rows(equal_intervals=True))
def test_soft_and_aggressive_with_equal_intervals_are_simple(row: OneRow) -> None:
    simple = row.pooled(Weighting.SIMPLE)
    assert row.pooled(Weighting.SOFT) == pytest.approx(simple, abs=1e-12)
    assert row.pooled(Weighting.AGGRESSIVE) == pytest.approx(simple, abs=1e-12)


@given(rows(), st.sampled_from(SUMS))
def test_the_pooled_mean_follows_its_definition(row: OneRow, weighting: Weighting) -> None:
    member, a = row.members(), row.a
    low, high = row.means[a] - row.radii[a], row.means[a] + row.radii[a]
    weights = np.zeros(row.n)
    for l in range(row.n):
        common = min(high, row.means[l] + row.radii[l]) - max(low, row.means[l] - row.radii[l])
        hull = max(high, row.means[l] + row.radii[l]) - min(low, row.means[l] - row.radii[l])
        weights[l] = {
            Weighting.SIMPLE: row.counts[l],
            Weighting.CLASS_UNIFORM: float(row.counts[l] > 0),
            Weighting.SOFT: row.counts[l] * common / hull,
            Weighting.AGGRESSIVE: row.counts[l]
            * (common / hull if common > min(row.radii[a], row.radii[l]) else 0.0),
        }[weighting] * member[l]
    expected = float(weights @ np.array(row.means) / weights.sum())
    assert row.pooled(weighting) == pytest.approx(expected, abs=1e-12)


@given(rows(), st.sampled_from(POOLING))
def test_an_agent_alone_in_its_known_class_pools_only_itself(
    row: OneRow, weighting: Weighting
) -> None:
    alone = [l == row.a for l in range(row.n)]
    assert row.pooled(weighting, alone) == pytest.approx(row.means[row.a], abs=1e-12)


@pytest.mark.parametrize("weighting", POOLING)
def test_nothing_known_pools_to_nan(weighting: Weighting) -> None:
    row = OneRow(0, [0.0, 0.0], [0.0, 0.0], [math.inf, math.inf])
    assert math.isnan(row.pooled(weighting))


@pytest.mark.parametrize("weighting", POOLING)
def test_an_agent_whose_interval_has_no_end_yet_has_its_own_mean_at_least(
    weighting: Weighting,
) -> None:
    row = OneRow(0, [0.5, 0.25], [3.0, 1.0], [math.inf, math.inf])
    whole = {Weighting.SIMPLE: 0.4375, Weighting.CLASS_UNIFORM: 0.375}
    assert row.pooled(weighting) == whole.get(weighting, 0.5)


@pytest.mark.parametrize("weighting", POOLING)
def test_intervals_too_narrow_for_floating_point_still_pool(weighting: Weighting) -> None:
    assert OneRow(0, [1e10, 1e10], [4.0, 4.0], [1e-7, 1e-7]).pooled(weighting) == 1e10
