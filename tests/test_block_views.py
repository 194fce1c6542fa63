"""Views block by block: the same as following each stream alone, whatever the blocks."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from streams import DRIFTING, FAMILY

from colme import Problem
from colme.bounds import (
    Asymptotic,
    Betting,
    Bound,
    Discounted,
    EmpiricalBernstein,
    Laplace,
    NormalMixture,
    Restarted,
    Stitched,
    Student,
    Windowed,
)
from colme.bounds.folder import view_of_stream
from colme.problem import Change
from colme.summary import (
    BYTES_PER_VIEW,
    UNHEARD,
    BlockViews,
    View,
    block_views,
    bytes_per_view,
    view_at,
    views_of,
)

Array = NDArray[np.float64]

SAMPLES: Array = np.column_stack(
    [
        np.random.default_rng(1).random((40, 17)),
        np.random.default_rng(2).integers(0, 2, (40, 3)),
        np.full(40, 0.25),
    ]
)
N = SAMPLES.shape[1]


def followed(bound: Bound, samples: Array) -> list[View[float]]:
    """Return the view after each sample of one stream."""
    stream, views = bound.stream(), []
    for sample in samples:
        stream.update(sample)
        views.append(view_of_stream(stream, -math.log(bound.gamma)))
    return views


def compare(views: View[Array], a: int, expected: Sequence[View[float]], rtol: float) -> None:
    here = np.array([column[a] for column in views])
    np.testing.assert_allclose(here, np.transpose(expected), rtol=rtol, atol=1e-12)


EVERY = pytest.mark.parametrize("bound", [*FAMILY, *DRIFTING], ids=str)


@EVERY
def test_views_are_what_following_each_stream_gives(bound: Bound) -> None:
    views = views_of(SAMPLES, bound, with_squares=True)
    for a in range(N):
        compare(views, a, followed(bound, SAMPLES[:, a]), 1e-9)


def test_every_agent_may_have_a_bound_of_its_own() -> None:
    every = [*FAMILY, *DRIFTING]
    for first in (0, 10):
        bounds = [every[(first + a) % len(every)] for a in range(N)]
        views = views_of(SAMPLES, bounds, with_squares=True)
        for a, bound in enumerate(bounds):
            compare(views, a, followed(bound, SAMPLES[:, a]), 1e-9)


@EVERY
def test_views_with_arrivals_are_what_following_each_stream_gives(bound: Bound) -> None:
    arrivals = np.random.default_rng(3).poisson(0.8, (35, N))
    arrivals[:, 4] = 0
    samples = SAMPLES.copy()
    for a, count in enumerate(arrivals.sum(axis=0)):
        assert count <= 40
        samples[count:, a] = np.nan
    views = views_of(samples, bound, with_squares=True, arrivals=arrivals)
    for a, arriving in enumerate(arrivals.T):
        known = followed(bound, samples[: arriving.sum(), a])
        compare(views, a, [known[n - 1] if n else UNHEARD for n in arriving.cumsum()], 1e-9)


def test_one_arrival_per_step_is_none_given() -> None:
    arrivals = np.ones(SAMPLES.shape, dtype=np.int64)
    for bound in (FAMILY[0], *DRIFTING):
        given = views_of(SAMPLES, bound, with_squares=True, arrivals=arrivals)
        for one, other in zip(given, views_of(SAMPLES, bound, with_squares=True), strict=True):
            np.testing.assert_array_equal(one, other)


def test_nobody_has_received_anything_yet() -> None:
    nothing = np.zeros((5, 2), dtype=np.int64)
    views = views_of(np.full((3, 2), np.nan), FAMILY[3], with_squares=True, arrivals=nothing)
    assert view_at(views, (1, 4)) == UNHEARD


@pytest.mark.parametrize(
    "arrivals", [[[1, 1, 1]], [[1.0, 1.0]], [1, 1], [[3, 1], [1, 1]], [[-1, 1], [1, 1]]]
)
def test_arrivals_that_cannot_be_are_refused(arrivals: Any) -> None:
    with pytest.raises(ValueError, match=r"arrivals must be .*received"):
        views_of(np.ones((3, 2)), FAMILY[0], with_squares=True, arrivals=np.array(arrivals))


def in_blocks(blocks: BlockViews, sizes: Sequence[int]) -> View[Array]:
    """Return the views of all blocks, one after the other."""
    found = []
    for n_steps in sizes:
        blocks.open(n_steps)
        for part in reversed(range(blocks.n_parts)):
            blocks.fill(part)
        assert blocks.public is blocks.private
        found.append([column.copy() for column in blocks.private])
    return View(*(np.concatenate(columns, axis=1) for columns in zip(*found, strict=True)))


PROBLEM = Problem.gaussian([0.0, 1.0], n_agents=60, sigma=0.5).changing(
    [Change(11, [0, 5, 9], 2.0), Change(15, [0], 0.0)]
)
GO_ON: list[Bound] = [
    Laplace(0.5, 0.05),
    Student(50),
    Asymptotic(50, burn_in=5),
    EmpiricalBernstein(-6, 6),
    Betting(-6, 6, n_grid=20),
    Windowed(Laplace(0.5, 0.05), 5),
    Discounted(Laplace(0.5, 0.05), 0.9),
]


@pytest.mark.parametrize("bytes_drawn", [4 << 20, 3000])
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("bound", GO_ON, ids=str)
def test_drawn_views_do_not_depend_on_blocks_and_are_those_of_the_samples(
    bound: Bound, batch: int, bytes_drawn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_views, "_BYTES_DRAWN", bytes_drawn)

    def drawn(sizes: Sequence[int]) -> View[Array]:
        source = PROBLEM.sample_stream(1, 3, batch)
        how: dict[str, Any] = {"longest": max(sizes), "batch": batch, "with_squares": True}
        return in_blocks(BlockViews(source, bound, 20, **how), sizes)

    arrivals = np.full((20, 60), batch)
    samples = PROBLEM.draw(20, seed=3, runs=2, arrivals=arrivals)[1]
    whole, expected = drawn([20]), views_of(samples, bound, with_squares=True, arrivals=arrivals)
    for one, other, there in zip(whole, drawn([1, 12, 7]), expected, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(one, there, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("bound", GO_ON, ids=str)
def test_given_views_do_not_depend_on_blocks(bound: Bound, batch: int) -> None:
    samples = np.random.default_rng(4).normal(size=(40, 150))
    how: dict[str, Any] = {"batch": batch, "with_squares": True}
    horizon = 40 // batch
    whole = BlockViews(samples, bound, horizon, longest=horizon, **how)
    sizes = [3, 1, horizon - 4]
    cut = BlockViews(samples, bound, horizon, longest=max(sizes), **how)
    pairs = zip(in_blocks(whole, [horizon]), in_blocks(cut, sizes), strict=True)
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_drawn_agents_have_bounds_of_their_own() -> None:
    bounds = [Laplace(0.5 + a % 3, 0.05) if a % 7 else Student(50) for a in range(60)]
    samples = PROBLEM.draw_run(20, run=1, seed=3)
    expected = views_of(samples, bounds, with_squares=False)
    blocks = BlockViews(PROBLEM.sample_stream(1, 3), bounds, 20, longest=15, with_squares=False)
    assert blocks.bytes_per_view == bytes_per_view(bounds, with_squares=False) == BYTES_PER_VIEW
    for one, other in zip(in_blocks(blocks, [15, 5]), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    assert expected.radius[1, 9] == pytest.approx(Laplace(1.5, 0.05).radius(10))


def test_parts_may_be_filled_by_threads() -> None:
    samples = np.random.default_rng(4).normal(size=(30, 500))
    bound = Laplace(0.5, 0.05)
    blocks = BlockViews(samples, bound, 30, longest=30, with_squares=True)
    blocks.open(30)
    assert blocks.n_parts == 8
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(blocks.fill, range(blocks.n_parts)))
    for one, other in zip(blocks.private, views_of(samples, bound, with_squares=True), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_restarts_or_arrives_needs_the_whole_horizon() -> None:
    restarted = Restarted(Laplace(0.5, 0.05))
    how: dict[str, Any] = {"with_squares": True}
    with pytest.raises(ValueError, match="streams that restart are followed one by one"):
        BlockViews(SAMPLES, restarted, 40, longest=39, **how)
    with pytest.raises(ValueError, match="streams that restart are followed one by one"):
        BlockViews(PROBLEM.sample_stream(), restarted, 40, longest=40, **how)
    arrivals = np.ones((40, N), np.int64)
    with pytest.raises(ValueError, match="received blocks of 39 steps for a horizon of 40"):
        BlockViews(SAMPLES, Laplace(0.5, 0.05), 40, longest=39, arrivals=arrivals, **how)


def layout(column: Array) -> tuple[str, tuple[int, ...], bool, bool]:
    return column.dtype.str, column.strides, column.flags.writeable, column.flags.c_contiguous


def layouts(views: View[Array]) -> View[Any]:
    return View(*map(layout, views))


def test_views_have_one_of_two_layouts() -> None:
    shared = layouts(views_of(SAMPLES, FAMILY[0], with_squares=True))
    for bound in FAMILY[:3]:
        for with_squares in (True, False):
            assert layouts(views_of(SAMPLES, bound, with_squares=with_squares)) == shared
    zero = ("<f8", (0, 0), False, False)
    own = View(*[("<f8", (40 * 8, 8), True, True)] * len(View._fields))
    assert shared == own._replace(
        **dict.fromkeys(
            ("n_samples", "radius", "spread", "slope", "offset", "variance"), shared.radius
        ),
        precision=zero,
        epoch=zero,
    )
    assert shared.radius[1:3] == ((0, 8), False)
    for bound in (*FAMILY[3:], *DRIFTING):
        assert layouts(views_of(SAMPLES, bound, with_squares=False)) == own
    mixed = [FAMILY[a % 2] for a in range(N)]
    assert layouts(views_of(SAMPLES, mixed, with_squares=True)) == own
    assert layouts(views_of(SAMPLES[:, :1].copy(), FAMILY[0], with_squares=True)) == own
    arrivals = np.ones(SAMPLES.shape, dtype=np.int64)
    views = views_of(SAMPLES, FAMILY[0], with_squares=False, arrivals=arrivals)
    assert layouts(views) == own
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
    views = views_of(LONG, bound, with_squares=True)
    for a in range(4):
        compare(views, a, followed(bound, LONG[:, a]), 1e-12)
    assert views.epoch[:, -1].min() >= 1


def test_the_radius_of_a_counted_bound_is_its_radius() -> None:
    bound = Laplace(0.5, 0.01)
    views = views_of(SAMPLES, bound, with_squares=False)
    for t in (0, 1, 39):
        assert views.radius[3, t] == pytest.approx(bound.radius(t + 1), rel=1e-12)


@EVERY
def test_squares_are_left_out_unless_asked_for(bound: Bound) -> None:
    without = views_of(SAMPLES, bound, with_squares=False)
    assert not without.squares.any()
    for one, other in zip(without, views_of(SAMPLES, bound, with_squares=True), strict=True):
        if one is not without.squares:
            np.testing.assert_array_equal(one, other)
