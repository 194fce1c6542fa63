"""Samples that a user hands in: their shape, their size, and when they arrive."""

import math
from typing import Any

import numpy as np
import pytest

from colme.bounds import Laplace
from colme.setup import GivenSamples


def test_one_run_may_leave_out_the_axis_of_runs() -> None:
    given = GivenSamples.of([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    assert (given.runs, given.horizon, given.n_agents) == (1, 2, 3)
    assert given.samples.tolist() == [[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]]
    assert given.arrivals is None
    assert given.arrivals_of(0) is None


def test_the_horizon_is_the_number_of_steps_at_which_samples_arrive() -> None:
    samples = np.zeros((2, 7, 3))
    assert GivenSamples.of(samples, arrivals=2).horizon == 3
    for arrivals in (np.ones((5, 3), int), np.ones((2, 5, 3), int)):
        assert GivenSamples.of(samples, arrivals).horizon == 5


def test_every_run_has_arrivals_of_its_own_or_all_have_the_same() -> None:
    samples, rng = np.zeros((2, 9, 3)), np.random.default_rng(1)
    each = rng.integers(0, 2, (2, 5, 3))
    given = GivenSamples.of(samples, each)
    same = GivenSamples.of(samples, each[0])
    for run in range(2):
        np.testing.assert_array_equal(given.arrivals_of(run), each[run])
        np.testing.assert_array_equal(same.arrivals_of(run), each[0])


def test_views_are_those_of_the_run_and_count_what_has_arrived() -> None:
    samples = np.random.default_rng(2).normal(size=(2, 6, 3))
    given = GivenSamples.of(samples, arrivals=2)
    for run in range(2):
        views = given.views(run, [Laplace(1.0, 0.05)], with_squares=True)
        views.open(3)
        for part in range(views.n_parts):
            views.fill(part)
        means = samples[run].cumsum(axis=0)[1::2].T / [2, 4, 6]
        np.testing.assert_allclose(views.public.mean, means)
        np.testing.assert_array_equal(views.public.n_samples, [[2, 4, 6]] * 3)


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([1.0, 2.0], r"must have axes \[run, time, agent\].*received shape \(2,\)"),
        (np.empty((1, 0, 3)), r"none of them empty; received shape \(1, 0, 3\)"),
        ([["a"]], "must be an array of numbers"),
        ([[0.0, math.nan]], "received nan at run 0, time 0, agent 1"),
        ([[[0.0], [0.0]], [[0.0], [-math.inf]]], "received -inf at run 1, time 1, agent 0"),
    ],
    ids=str,
)
def test_samples_that_are_none_are_refused(samples: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GivenSamples.of(samples)


@pytest.mark.parametrize(
    ("arrivals", "message"),
    [
        (0, "arrivals must be at least 1; received 0"),
        (5, "batches of 5 need as many samples; received 4"),
        (np.full((3, 2), 2), "ask for 6 samples of one agent; received 4"),
        (np.full((3, 2), -1), "-1"),
        (np.ones((3, 3), int), "3"),
    ],
    ids=str,
)
def test_more_samples_cannot_arrive_than_there_are(arrivals: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GivenSamples.of(np.zeros((4, 2)), arrivals)
