"""Discounts: weighted means, and how many samples they are worth."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streams import BOUNDED, SUBGAUSSIAN, average_evidence, followed_state, name, p_value

from colme.bounds import (
    Asymptotic,
    Bound,
    Discounted,
    Laplace,
    NormalMixture,
    Stitched,
    Stream,
    Windowed,
)

FADEABLE: list[Bound] = [*SUBGAUSSIAN, Asymptotic(100, burn_in=2)]
numbers = st.lists(st.floats(-1e3, 1e3), max_size=40)
factors = st.floats(0.5, 0.999)


@given(numbers.filter(len), factors)
def test_mean_and_count_are_those_of_the_weights(x: list[float], factor: float) -> None:
    stream = Discounted(Laplace(0.5, 0.05), factor).stream()
    for sample in x:
        stream.update(sample)
    weights = factor ** np.arange(len(x) - 1, -1, -1.0)
    mean = np.average(x, weights=weights)
    worth = weights.sum() ** 2 / (weights**2).sum()
    assert stream.mean == pytest.approx(mean, rel=1e-9, abs=1e-9)
    assert stream.count == max(1, math.floor(worth + 1e-9))
    assert stream.evidence.offset == pytest.approx(0.5 * math.log1p(worth))
    if stream.count > 1:
        free = weights.sum() - (weights**2).sum() / weights.sum()
        variance = weights @ (np.array(x) - mean) ** 2 / free
        assert stream.squares / (stream.count - 1) == pytest.approx(variance, rel=1e-6, abs=1e-9)


@given(numbers, st.sampled_from(FADEABLE))
def test_without_a_discount_it_is_the_bound_itself_bit_for_bit(
    x: list[float], bound: Bound
) -> None:
    here, there = Discounted(bound, 1).stream(), bound.stream()
    for sample in x:
        here.update(sample)
        there.update(sample)
        assert followed_state(here) == followed_state(there)


@given(numbers, numbers, factors, st.sampled_from(FADEABLE))
def test_a_stream_goes_on_from_its_state_to_the_last_bit(
    x: list[float], more: list[float], factor: float, bound: Bound
) -> None:
    discounted = Discounted(bound, factor)
    stream = discounted.stream()
    for sample in x:
        stream.update(sample)
    copy = discounted.resume(json.loads(json.dumps(stream.state())))
    for sample in more:
        assert followed_state(copy) == followed_state(stream)
        for either in (stream, copy):
            either.update(sample)
    assert copy.state() == stream.state()


@pytest.mark.parametrize("bound", FADEABLE, ids=name)
def test_many_streams_at_once_are_as_many_single_ones(bound: Bound) -> None:
    discounted = Discounted(bound, 0.9)
    together, alone = discounted.stream(3), [discounted.stream() for _ in range(3)]
    for row in np.random.default_rng(1).random((30, 3)):
        together.update(row)
        for stream, sample in zip(alone, row, strict=True):
            stream.update(sample)
        np.testing.assert_allclose(together.mean, [s.mean for s in alone], rtol=1e-12)
        np.testing.assert_allclose(together.squares, [s.squares for s in alone], rtol=1e-9)
        np.testing.assert_allclose(together.interval[1], [s.interval[1] for s in alone], rtol=1e-9)


@pytest.mark.parametrize(
    "bound", [Laplace(0.5, 0.05), NormalMixture(0.5, 10), Stitched(0.5)], ids=name
)
@pytest.mark.parametrize("chances", [[0.5, 0.5], [0.9, 0.1]])
def test_at_each_time_the_evidence_is_at_most_one_on_average(
    bound: Bound, chances: list[float]
) -> None:
    averages = average_evidence(Discounted(bound, 0.7), [0.0, 1.0], chances, 10)
    assert (averages <= 1).all()


def outside_at_the_end(factor: float) -> float:
    stream: Stream[Any] = Discounted(Laplace(0.5, 0.3), 0.9).stream(3000)
    for row in np.random.default_rng(2).normal(1.0, 0.5, (60, 3000)):
        stream.update(row)
    radius = factor * (stream.interval[1] - stream.mean)
    return p_value(abs(stream.mean - 1.0) > radius, 0.3)


def test_at_a_fixed_time_the_interval_holds_as_promised() -> None:
    assert outside_at_the_end(1.0) > 1e-4
    assert outside_at_the_end(0.4) < 1e-4


@pytest.mark.parametrize(("factor", "memory"), [(0.9, 10), (0.99, 100), (0.5, 2), (0.95, 20)])
def test_an_epoch_lasts_as_long_as_the_memory(factor: float, memory: int) -> None:
    stream = Discounted(Laplace(0.5, 0.05), factor).stream()
    epochs = []
    for _ in range(3 * memory):
        stream.update(0.0)
        epochs.append(stream.epoch)
    assert epochs == [k // memory for k in range(3 * memory)]


def test_a_mean_that_changes_is_followed() -> None:
    stream = Discounted(Laplace(0.5, 0.05), 0.9).stream()
    for sample in [0.0] * 1000 + [1.0] * 100:
        stream.update(sample)
    assert stream.mean == pytest.approx(1.0, abs=1e-4)
    assert stream.count == 19


@pytest.mark.parametrize("factor", [0, -0.5, 1.01, math.nan, math.inf, None])
def test_a_factor_is_above_0_and_at_most_1(factor: Any) -> None:
    with pytest.raises(ValueError, match=f"factor must be .*received {factor}"):
        Discounted(Laplace(0.5, 0.05), factor)


@pytest.mark.parametrize("bound", BOUNDED, ids=name)
def test_a_bound_that_follows_its_samples_one_by_one_is_refused(bound: Bound) -> None:
    with pytest.raises(ValueError, match=f"{name(bound)}.*Restarted"):
        Discounted(bound, 0.9)


def test_a_memory_shorter_than_the_burn_in_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 19 samples would count"):
        Discounted(Asymptotic(100), 0.9)


def test_a_state_that_no_stream_has_is_refused() -> None:
    discounted = Discounted(Laplace(0.5, 0.05), 0.9)
    stream = discounted.stream()
    stream.update(1.0)
    for change in ({"_total": 0.0}, {"_seen": 0.5}, {"_mean": math.nan}, {"extra": 1.0}):
        with pytest.raises(ValueError, match="received"):
            discounted.resume({**stream.state(), **change})


@pytest.mark.parametrize(
    "bound", [Discounted(Laplace(0.5, 0.05), 0.9, revisit=7), Windowed(Laplace(0.5, 0.05), 9, 7)]
)
def test_excluded_peers_are_revisited_from_the_second_epoch_on(bound: Bound) -> None:
    assert [bound.revisit_in(epoch) for epoch in (0, 1, 2)] == [0, 7, 7]
