"""Whole streams summarised at once: the same as following each of them alone."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from streams import FAMILY, name

from colme.bounds import Bound, Laplace, Stitched
from colme.summary import recentred
from colme.views import Views, seen, summarise, views_of

SAMPLES: NDArray[np.float64] = np.column_stack(
    [
        np.random.default_rng(1).random((40, 17)),
        np.random.default_rng(2).integers(0, 2, (40, 3)),
        np.full(40, 0.25),
    ]
)


def followed(bound: Bound, samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return [field, time] of one stream, followed sample by sample."""
    stream, told = bound.stream(), []
    for sample in samples:
        stream.update(sample)
        evidence = recentred(stream.evidence, stream.mean)
        told.append(
            [
                stream.mean,
                stream.count,
                evidence.radius(-math.log(bound.gamma)),
                evidence.spread,
                evidence.slope,
                evidence.offset,
                stream.squares,
            ]
        )
    return np.transpose(told)


def compare(views: Views, bounds: list[Bound]) -> None:
    for a, bound in enumerate(bounds):
        here = np.array([field[a] for field in views])
        np.testing.assert_allclose(here, followed(bound, SAMPLES[:, a]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("bound", FAMILY, ids=name)
def test_views_are_what_following_each_stream_gives(bound: Bound) -> None:
    bounds = [bound] * SAMPLES.shape[1]
    compare(views_of(SAMPLES, bounds, with_squares=True), bounds)


def test_every_agent_may_have_a_bound_of_its_own() -> None:
    bounds = [FAMILY[a % len(FAMILY)] for a in range(SAMPLES.shape[1])]
    compare(views_of(SAMPLES, bounds, with_squares=True), bounds)


def test_the_radius_of_a_counted_bound_is_its_radius() -> None:
    bound = Laplace(0.5, 0.01)
    views = views_of(SAMPLES, [bound] * SAMPLES.shape[1], with_squares=False)
    for t in (0, 1, 39):
        assert views.radii[3, t] == pytest.approx(bound.radius(t + 1), rel=1e-12)


def test_squares_are_left_out_unless_asked_for() -> None:
    bounds = [Stitched(0.5)] * SAMPLES.shape[1]
    without = views_of(SAMPLES, bounds, with_squares=False)
    assert not without.squares.any()
    for one, other in zip(without, views_of(SAMPLES, bounds, with_squares=True), strict=True):
        if one is not without.squares:
            np.testing.assert_array_equal(one, other)


def test_what_is_seen_is_one_place_of_every_field() -> None:
    views = Views(*(np.arange(6.0).reshape(2, 3) + 10 * i for i in range(8)))
    assert seen(views, 1, 2) == (5.0, 15.0, 25.0, 0.0, 35.0, 45.0, 55.0, 65.0, 75.0)


def test_the_compiled_summary_is_the_plain_fold() -> None:
    samples = np.random.default_rng(1).normal(size=(60, 37))
    fast, plain = np.empty((2, 37, 60)), np.empty((2, 37, 60))
    summarise(samples, *fast)
    summarise.function(samples, *plain)
    np.testing.assert_allclose(fast, plain, rtol=0, atol=1e-12)
    stream = Laplace(1.0, 0.05).stream(37)
    for t, row in enumerate(samples):
        stream.update(row)
        np.testing.assert_allclose(plain[:, :, t], [stream.mean, stream.squares], atol=1e-12)
    only_means = np.empty((37, 60))
    summarise(samples, only_means, np.empty((0, 60)))
    np.testing.assert_array_equal(only_means, fast[0])
