"""Folding a stream into a mean and its squares; what is known of it."""

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streams import FAMILY, evidence_against, name

from colme.bounds import Bound, Evidence, Laplace, folded_mean, folded_squares, separated
from colme.summary import View, recentred

samples_lists = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50)


@given(samples_lists)
def test_folding_gives_the_mean_and_the_squares_of_all_samples(samples: list[float]) -> None:
    stream = Laplace(1.0, 0.05).stream()
    mean = squares = 0.0
    for count, sample in enumerate(samples):
        stream.update(sample)
        before, mean = mean, folded_mean(mean, count, sample)
        squares = folded_squares(squares, before, mean, sample)
    assert stream.count == len(samples)
    assert (stream.mean, stream.squares) == (mean, squares)
    assert mean == pytest.approx(statistics.fmean(samples), rel=1e-9, abs=1e-9)
    exact = [Fraction(sample) for sample in samples]
    centre = sum(exact) / len(exact)
    assert squares == pytest.approx(float(sum((x - centre) ** 2 for x in exact)), rel=1e-9)


def test_folding_stays_exact_to_the_last_digits_over_a_long_stream() -> None:
    samples = 1e6 + np.random.default_rng(0).random(20_000)
    mean = squares = 0.0
    for count, sample in enumerate(samples.tolist()):
        before, mean = mean, folded_mean(mean, count, sample)
        squares = folded_squares(squares, before, mean, sample)
    exact = list(map(Fraction, samples.tolist()))
    centre = sum(exact) / len(exact)
    assert mean == pytest.approx(float(centre), rel=1e-13)
    assert squares == pytest.approx(float(sum((x - centre) ** 2 for x in exact)), rel=1e-9)


@given(st.integers(0, 10**9), st.floats(-10, 10))
def test_a_sample_equal_to_the_mean_leaves_it(count: int, mean: float) -> None:
    assert folded_mean(mean, count, mean) == mean
    assert folded_squares(2.5, mean, mean, mean) == 2.5


@pytest.mark.parametrize("bound", FAMILY, ids=name)
@given(st.integers(0, 10**6))
def test_evidence_around_the_mean_is_never_stronger_than_it_was(bound: Bound, seed: int) -> None:
    rng = np.random.default_rng(seed)
    stream = bound.stream()
    for sample in rng.beta(rng.uniform(0.1, 5), rng.uniform(0.1, 5), int(rng.integers(1, 200))):
        stream.update(sample)
    before = stream.evidence
    after = recentred(before, stream.mean)
    assert after.center == stream.mean
    assert (after.spread, after.slope) == (before.spread, before.slope)
    for mean in np.linspace(0, 1, 21):
        here, there = (
            evidence_against(Evidence(*map(np.asarray, vars(one).values())), mean)
            for one in (after, before)
        )
        assert here <= there + 1e-9 * (1 + abs(there))


@pytest.mark.parametrize("bound", FAMILY, ids=name)
def test_nothing_known_is_nothing_known_around_any_mean(bound: Bound) -> None:
    one, two = bound.stream(), bound.stream(2)
    assert recentred(one.evidence, 3.0) == Evidence(3.0, math.inf, math.inf, 0.0)
    np.testing.assert_array_equal(recentred(two.evidence, np.ones(2)).offset, np.zeros(2))
    one.update(0.5)
    assert math.isfinite(recentred(one.evidence, one.mean).offset)


def test_evidence_that_was_around_the_mean_stays_as_it_is() -> None:
    told = Evidence(center=0.25, spread=0.1, slope=math.inf, offset=2.0)
    assert recentred(told, 0.25) == told


def test_a_view_of_nobody_separates_from_nobody() -> None:
    nobody = View()
    assert nobody.n_samples == nobody.precision == 0
    shape = nobody.spread, nobody.slope, nobody.offset
    assert not separated(1e9, *shape, 1e-9, math.inf, 0.0, 1e-9)
