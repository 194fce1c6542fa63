"""Whole streams summarised at once: the same as following each of them alone."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from streams import DRIFTING, FAMILY

from colme import folding
from colme.bounds import Bound, Discounted, Laplace, NormalMixture, Restarted, Stitched, Windowed
from colme.folding import summarise
from colme.summary import View, recentred
from colme.views import Views, seen, views_of

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
                stream.epoch,
            ]
        )
    return np.transpose(told)


def compare(views: Views, bounds: list[Bound]) -> None:
    for a, bound in enumerate(bounds):
        here = np.array([field[a] for field in views])
        np.testing.assert_allclose(here, followed(bound, SAMPLES[:, a]), rtol=1e-9, atol=1e-12)


EVERY = pytest.mark.parametrize("bound", [*FAMILY, *DRIFTING], ids=str)


@EVERY
def test_views_are_what_following_each_stream_gives(bound: Bound) -> None:
    bounds = [bound] * SAMPLES.shape[1]
    compare(views_of(SAMPLES, bounds, with_squares=True), bounds)


def test_every_agent_may_have_a_bound_of_its_own() -> None:
    every = [*FAMILY, *DRIFTING]
    for first in (0, 10):
        bounds = [every[(first + a) % len(every)] for a in range(SAMPLES.shape[1])]
        compare(views_of(SAMPLES, bounds, with_squares=True), bounds)


def with_arrivals(bound: Bound, column: NDArray[np.float64], arriving: NDArray[Any]) -> Any:
    """Return [field, time] of one stream whose samples come as they arrive."""
    told = followed(bound, column[: arriving.sum()]).T if arriving.sum() else np.empty((0, 8))
    blank = View()._asdict()
    del blank["precision"]
    order = ("mean", "n_samples", "radius", "spread", "slope", "offset", "squares", "epoch")
    before = [blank[field] for field in order]
    return np.transpose([told[n - 1] if n else before for n in arriving.cumsum()])


@EVERY
def test_views_with_arrivals_are_what_following_each_stream_gives(bound: Bound) -> None:
    rng = np.random.default_rng(3)
    arrivals = rng.poisson(0.8, (35, SAMPLES.shape[1]))
    arrivals[:, 4] = 0
    samples = SAMPLES.copy()
    for a, count in enumerate(arrivals.sum(axis=0)):
        assert count <= 40
        samples[count:, a] = np.nan
    bounds = [bound] * SAMPLES.shape[1]
    views = views_of(samples, bounds, with_squares=True, arrivals=arrivals)
    for a in range(SAMPLES.shape[1]):
        here = np.array([field[a] for field in views])
        there = with_arrivals(bound, samples[:, a], arrivals[:, a])
        np.testing.assert_allclose(here, there, rtol=1e-9, atol=1e-12)


def test_one_arrival_per_step_is_none_given() -> None:
    for bound in (FAMILY[0], *DRIFTING):
        bounds = [bound] * SAMPLES.shape[1]
        arrivals = np.ones(SAMPLES.shape, dtype=np.int64)
        given = views_of(SAMPLES, bounds, with_squares=True, arrivals=arrivals)
        for one, other in zip(given, views_of(SAMPLES, bounds, with_squares=True), strict=True):
            np.testing.assert_array_equal(one, other)


def test_nobody_has_received_anything_yet() -> None:
    nothing = np.zeros((5, 2), dtype=np.int64)
    views = views_of(np.full((3, 2), np.nan), [FAMILY[3]] * 2, with_squares=True, arrivals=nothing)
    assert seen(views, 1, 4) == View()


@pytest.mark.parametrize(
    "arrivals", [[[1, 1, 1]], [[1.0, 1.0]], [1, 1], [[3, 1], [1, 1]], [[-1, 1], [1, 1]]]
)
def test_arrivals_that_cannot_be_are_refused(arrivals: Any) -> None:
    with pytest.raises(ValueError, match=r"arrivals must be .*received"):
        views_of(np.ones((3, 2)), [FAMILY[0]] * 2, with_squares=True, arrivals=np.array(arrivals))


def layout(field: NDArray[np.float64]) -> tuple[str, tuple[int, ...], bool, bool]:
    return field.dtype.str, field.strides, field.flags.writeable, field.flags.c_contiguous


def test_views_have_one_of_two_layouts() -> None:
    n = SAMPLES.shape[1]
    arrivals = np.ones(SAMPLES.shape, dtype=np.int64)
    shared = views_of(SAMPLES, [FAMILY[0]] * n, with_squares=True)
    for bound in FAMILY[:3]:
        for with_squares in (True, False):
            views = views_of(SAMPLES, [bound] * n, with_squares=with_squares)
            assert [layout(field) for field in views] == [layout(field) for field in shared]
    own = [("<f8", (40 * 8, 8), True, True)] * 8
    assert [layout(field) for field in shared] != own
    mixed = [FAMILY[a % 2] for a in range(n)]
    for bounds in ([bound] * n for bound in (*FAMILY[3:], *DRIFTING)):
        assert [layout(f) for f in views_of(SAMPLES, bounds, with_squares=False)] == own
    assert [layout(f) for f in views_of(SAMPLES, mixed, with_squares=True)] == own
    views = views_of(SAMPLES, [FAMILY[0]] * n, with_squares=False, arrivals=arrivals)
    assert [layout(field) for field in views] == own
    assert not views.squares.any()


LONG = np.random.default_rng(5).normal(np.repeat([0.0, 0.6, 0.2], 300)[:, None], 0.5, (900, 4))


@pytest.mark.parametrize("inner", [Laplace(0.5, 0.01), NormalMixture(0.5, 99), Stitched(0.5)])
@pytest.mark.parametrize("kind", ["windowed", "discounted", "restarted"])
def test_long_streams_agree_to_twelve_digits(inner: Bound, kind: str) -> None:
    bound = {
        "windowed": Windowed(inner, 70),
        "discounted": Discounted(inner, 0.98),
        "restarted": Restarted(inner, 0.01),
    }[kind]
    views = views_of(LONG, [bound] * 4, with_squares=True)
    for a in range(4):
        here = np.array([field[a] for field in views])
        np.testing.assert_allclose(here, followed(bound, LONG[:, a]), rtol=1e-12, atol=1e-12)
    assert views.epochs[:, -1].min() >= 1


def test_the_compiled_folds_are_the_plain_ones() -> None:
    n = 90
    samples, before = LONG[:n, :3], np.arange(float(n))
    for fold, how in (
        (folding.fold_windows, (7, np.empty((2, 7)))),
        (folding.fold_discounted, (0.9, before)),
    ):
        fast, plain = np.empty((2, 3, n)), np.empty((2, 3, n))
        fold(samples, *how, *fast)
        fold.function(samples, *how, *plain)
        np.testing.assert_allclose(fast, plain, rtol=1e-12, atol=1e-12)
    quick, slow = np.empty((3, n)), np.empty((3, n))
    folding.find_epochs(samples, 0.1, 2.0, folding.Watch.blank(), quick)
    folding.find_epochs.function(samples, 0.1, 2.0, folding.Watch.blank(), slow)
    np.testing.assert_array_equal(quick, slow)
    assert quick.max() > 1
    fast, plain = np.empty((3, 3, n)), np.empty((3, 3, n))
    folding.fold_epochs(samples, quick, *fast)
    folding.fold_epochs.function(samples, quick, *plain)
    np.testing.assert_allclose(fast, plain, rtol=1e-12, atol=1e-12)


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
    summarise(samples, 0, np.zeros(37), np.zeros(37), fast[0], fast[1])
    summarise.function(samples, 0, np.zeros(37), np.zeros(37), plain[0], plain[1])
    np.testing.assert_allclose(fast, plain, rtol=0, atol=1e-12)
    stream = Laplace(1.0, 0.05).stream(37)
    for t, row in enumerate(samples):
        stream.update(row)
        np.testing.assert_allclose(plain[:, :, t], [stream.mean, stream.squares], atol=1e-12)
    only_means = np.empty((37, 60))
    summarise(samples, 0, np.zeros(37), np.zeros(37), only_means, np.empty((0, 60)))
    np.testing.assert_array_equal(only_means, fast[0])


def test_a_summary_goes_on_where_the_last_block_ended() -> None:
    samples = np.random.default_rng(1).normal(size=(60, 37))
    whole = np.empty((2, 37, 60))
    summarise(samples, 0, np.zeros(37), np.zeros(37), whole[0], whole[1])
    mean, square = np.zeros((2, 37))
    for first, last in ((0, 1), (1, 20), (20, 60)):
        means, squares = np.empty((2, 37, last - first))
        summarise(samples[first:last], first, mean, square, means, squares)
        np.testing.assert_array_equal([means, squares], whole[:, :, first:last])
