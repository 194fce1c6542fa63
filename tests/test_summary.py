"""Folding a stream into a mean and a count."""

import math
import statistics
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colme import kernels
from colme.summary import Summary, folded_mean

samples_lists = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50)


@given(samples_lists)
def test_folding_gives_the_mean_of_all_samples(samples: list[float]) -> None:
    summary = Summary()
    for sample in samples:
        summary = summary.fold(sample)
    assert summary.count == len(samples)
    assert summary.mean == pytest.approx(statistics.fmean(samples), rel=1e-9, abs=1e-9)


def test_folding_stays_exact_to_the_last_digits_over_a_long_stream() -> None:
    samples = 1e6 + np.random.default_rng(0).random(20_000)
    mean = 0.0
    for count, sample in enumerate(samples.tolist()):
        mean = folded_mean(mean, count, sample)
    exact = float(sum(map(Fraction, samples.tolist())) / samples.size)
    assert mean == pytest.approx(exact, rel=1e-13)


@given(st.integers(0, 10**9), st.floats(-10, 10))
def test_a_sample_equal_to_the_mean_leaves_it(count: int, mean: float) -> None:
    assert folded_mean(mean, count, mean) == mean


def test_the_compiled_summary_is_the_plain_fold() -> None:
    samples = np.random.default_rng(1).normal(size=(60, 5))
    compiled, plain = np.empty((5, 60)), np.empty((5, 60))
    kernels.summarise(samples, compiled)
    kernels.summarise.function(samples, plain)
    np.testing.assert_allclose(compiled, plain, rtol=0, atol=1e-14)
    folded = Summary()
    for sample in samples[:, 3]:
        folded = folded.fold(sample)
    assert folded.mean == pytest.approx(plain[3, -1], abs=1e-14)


@pytest.mark.parametrize("sample", [math.nan, math.inf, -math.inf, None, "x"])
def test_a_sample_that_is_no_number_is_refused(sample: Any) -> None:
    with pytest.raises(ValueError, match=f"sample must be a finite number; received .*{sample}"):
        Summary(0.5, 3).fold(sample)


def test_folding_makes_a_new_summary() -> None:
    summary: Any = Summary(1.0, 1)
    assert summary.fold(3.0) == Summary(2.0, 2)
    assert summary == Summary(1.0, 1)
    with pytest.raises(FrozenInstanceError):
        summary.mean = 0.0
