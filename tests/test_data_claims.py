"""What an interval or an estimate of a table must contain: no part of it can be left out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from colme.bounds import student_radius, tuned_prior
from colme.bounds.known_noise import TABLE_N_OPT
from colme.data import Noise, Summaries, estimate
from colme.data.estimator.sharp import sharp_means

DELTA = 0.05


def test_the_interval_of_a_class_counts_what_its_members_differ_by() -> None:
    """It is the interval of all samples of the class as one stream, whoever they are from."""
    rng = np.random.default_rng(0)
    whose = np.repeat(np.arange(4), 6)
    values = rng.normal(np.array([0.0, 3.0, 1.0, 2.0])[whose], 1.0)
    found = estimate(Summaries.of(whose, values), delta=DELTA)
    (only,) = found.class_table
    together = Summaries.of(np.zeros(24), values)
    within = float(found.summaries.squares.sum())
    assert together.squares[0] > 1.5 * within  # members do differ, yet not beyond the test
    radius = found.noise.radii(together.counts, together.squares, DELTA)[0]
    np.testing.assert_allclose(
        (only.low, only.high), values.mean() + np.array([-radius, radius]), rtol=1e-12
    )


def test_an_estimate_is_moved_to_the_nearer_end_of_its_own_interval() -> None:
    rng = np.random.default_rng(1)
    whose = np.repeat(np.arange(60), 12)
    table = Summaries.of(whose, rng.normal(0.0, 1.0, len(whose)))
    found, free = estimate(table, delta=0.99), sharp_means(table, Noise.of(table)).means
    beyond = (free < found.low) | (free > found.high)
    assert beyond.sum() > 5  # otherwise nothing is tested here
    ends = np.where(free < found.low, found.low, found.high)
    np.testing.assert_array_equal(found.estimates[beyond], ends[beyond])
    np.testing.assert_array_equal(found.estimates[~beyond], free[~beyond])


def test_the_pooled_variance_is_added_once_to_the_squares_of_an_agent() -> None:
    counts, squares = np.array([2, 5, 40]), np.array([0.0, 3.0, 60.0])
    radii = Noise("estimated", 3.0).radii(counts, squares, DELTA)
    prior, level = tuned_prior(TABLE_N_OPT, DELTA), -math.log(DELTA)
    np.testing.assert_array_equal(radii, student_radius(counts, squares + 9.0, prior, level))


@pytest.mark.parametrize("n_equal", [10, 30])
def test_an_agent_whose_values_happen_to_be_equal_still_has_an_interval(n_equal: int) -> None:
    rng = np.random.default_rng(2)
    agents = np.append(np.repeat(np.arange(5), 20), np.full(n_equal, 9))
    values = np.append(rng.normal(0.0, 1.0, 100), np.full(n_equal, 4.0))
    found = estimate(Summaries.of(agents, values))[9]
    assert 3.0 < found["low"] < 4.0 < found["high"] < 5.0
