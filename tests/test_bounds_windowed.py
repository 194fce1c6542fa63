"""Windows: the last samples and no others, exactly, for as long as one likes."""

import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streams import BOUNDED, SUBGAUSSIAN, followed_state, name, p_value

from colme.bounds import Asymptotic, Bound, Laplace, Stream, Windowed

FADEABLE: list[Bound] = [*SUBGAUSSIAN, Asymptotic(100, burn_in=2)]
numbers = st.lists(st.floats(-1e3, 1e3), max_size=40)


@given(numbers, st.integers(2, 12), st.sampled_from(FADEABLE))
def test_the_window_is_the_bound_of_its_samples_alone(
    x: list[float], length: int, bound: Bound
) -> None:
    stream = Windowed(bound, length).stream()
    for k, sample in enumerate(x):
        stream.update(sample)
        window = x[max(0, k + 1 - length) : k + 1]
        assert stream.count == len(window)
        assert stream.mean == pytest.approx(np.mean(window), rel=1e-12, abs=1e-12)
        squares = float(np.var(window) * len(window))
        assert stream.squares == pytest.approx(squares, rel=1e-9, abs=1e-9)
        assert stream.epoch == k // length
        alone = bound.stream()
        for each in window:
            alone.update(each)
        assert stream.evidence.offset == alone.evidence.offset
        np.testing.assert_allclose(stream.interval, alone.interval, rtol=1e-9, atol=1e-6)


@given(numbers, st.sampled_from(FADEABLE))
def test_a_window_that_nothing_leaves_is_the_bound_itself_bit_for_bit(
    x: list[float], bound: Bound
) -> None:
    here, there = Windowed(bound, 40).stream(), bound.stream()
    for sample in x:
        here.update(sample)
        there.update(sample)
        assert followed_state(here) == followed_state(there)


def test_what_has_left_the_window_leaves_no_rounding_error() -> None:
    stream = Windowed(Laplace(0.5, 0.05), 10).stream()
    for sample in [1e15] + [0.25, 0.75] * 10:
        stream.update(sample)
    assert stream.mean == 0.5
    assert stream.squares == pytest.approx(0.625, rel=1e-12)


@given(numbers, numbers, st.integers(2, 12), st.sampled_from(FADEABLE))
def test_a_stream_goes_on_from_its_state_to_the_last_bit(
    x: list[float], more: list[float], length: int, bound: Bound
) -> None:
    windowed = Windowed(bound, length)
    stream = windowed.stream()
    for sample in x:
        stream.update(sample)
    copy = windowed.resume(json.loads(json.dumps(stream.state())))
    for sample in more:
        assert followed_state(copy) == followed_state(stream)
        for either in (stream, copy):
            either.update(sample)
    assert followed_state(copy) == followed_state(stream)
    assert copy.state() == stream.state()


@pytest.mark.parametrize("bound", FADEABLE, ids=name)
def test_many_streams_at_once_are_as_many_single_ones(bound: Bound) -> None:
    windowed = Windowed(bound, 7)
    together, alone = windowed.stream(3), [windowed.stream() for _ in range(3)]
    for row in np.random.default_rng(1).random((30, 3)):
        together.update(row)
        for stream, sample in zip(alone, row, strict=True):
            stream.update(sample)
        np.testing.assert_allclose(together.mean, [s.mean for s in alone], rtol=1e-12)
        np.testing.assert_allclose(together.interval[1], [s.interval[1] for s in alone], rtol=1e-9)
        assert together.epoch.tolist() == [s.epoch for s in alone]


def outside_at_the_end(factor: float) -> float:
    """Return the p-value of 'at most γ of the windows miss the mean at a fixed time'."""
    stream: Stream[Any] = Windowed(Laplace(0.5, 0.3), 20).stream(3000)
    for row in np.random.default_rng(2).normal(1.0, 0.5, (57, 3000)):
        stream.update(row)
    radius = factor * (stream.interval[1] - stream.mean)
    return p_value(abs(stream.mean - 1.0) > radius, 0.3)


def test_at_a_fixed_time_the_interval_holds_as_promised() -> None:
    assert outside_at_the_end(1.0) > 1e-4
    assert outside_at_the_end(0.4) < 1e-4


def test_not_at_all_times_at_once() -> None:
    stream: Stream[Any] = Windowed(Laplace(0.5, 0.05), 20).stream(500)
    outside = np.zeros(500, dtype=bool)
    for row in np.random.default_rng(3).normal(0.0, 0.5, (3000, 500)):
        stream.update(row)
        outside |= abs(stream.mean) > stream.interval[1] - stream.mean
    assert p_value(outside, 0.05) < 1e-4


def test_the_risk_and_the_scale_are_those_of_the_bound_within() -> None:
    bound = Windowed(Laplace(0.5, 0.05), 10, revisit=3)
    assert (bound.gamma, bound.scale, bound.revisit) == (0.05, 0.5, 3)
    assert bound.at_risk(0.01) == Windowed(Laplace(0.5, 0.01), 10, revisit=3)


@pytest.mark.parametrize("bad", [math.nan, "abc", [0.5], 1e200])
def test_a_bad_sample_is_refused_and_changes_nothing(bad: Any) -> None:
    stream = Windowed(Laplace(0.5, 0.05), 3).stream()
    for sample in (1.0, 2.0, 3.0):
        stream.update(sample)
    before = pickle.dumps(stream)
    with pytest.raises(ValueError, match="received"):
        stream.update(bad)
    assert pickle.dumps(stream) == before


@pytest.mark.parametrize("length", [0, 1, -3, 2.5])
def test_a_window_has_at_least_two_samples(length: Any) -> None:
    with pytest.raises(ValueError, match=f"length must be .*received {length}"):
        Windowed(Laplace(0.5, 0.05), length)


@pytest.mark.parametrize("bound", BOUNDED, ids=name)
def test_a_bound_that_follows_its_samples_one_by_one_is_refused(bound: Bound) -> None:
    with pytest.raises(ValueError, match=f"{name(bound)}.*Restarted"):
        Windowed(bound, 10)


def test_a_window_is_not_put_into_a_window_nor_below_a_burn_in() -> None:
    with pytest.raises(ValueError, match="wrap a bound once"):
        Windowed(Windowed(Laplace(0.5, 0.05), 10), 10)
    with pytest.raises(ValueError, match="nothing before 30"):
        Windowed(Asymptotic(100), 29)
    with pytest.raises(ValueError, match="revisit must be 0 or greater; received -1"):
        Windowed(Laplace(0.5, 0.05), 10, revisit=-1)


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"seen": 3, "samples": [1.0]},
        {"seen": 2.5, "samples": []},
        {"seen": 1, "samples": [math.nan]},
        {"seen": 13, "samples": [1.0] * 13},
    ],
)
def test_a_state_that_no_window_has_is_refused(state: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="received"):
        Windowed(Laplace(0.5, 0.05), 5).resume(state)
