"""The running mean: stable, and taken of finite numbers only."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colme.bounds import EmpiricalBernstein, Laplace
from colme.bounds.base import StreamBase


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50))
def test_the_mean_is_the_stable_recurrence_to_the_last_bit(x: list[float]) -> None:
    stream: StreamBase[float] = StreamBase(Laplace(1.0, 0.05), None)
    mean = 0.0
    for count, sample in enumerate(x):
        stream.update(sample)
        mean += (sample - mean) / (count + 1)
    assert (stream.mean, stream.count) == (mean, len(x))
    assert stream.mean == pytest.approx(np.mean(x), rel=1e-9, abs=1e-6)


def test_the_mean_does_not_drift() -> None:
    stream: StreamBase[float] = StreamBase(Laplace(1.0, 0.05), None)
    for sample in [1e9 + 1, 1e9 - 1] * 5000:
        stream.update(sample)
    assert stream.mean == pytest.approx(1e9, abs=1e-3)


def test_without_a_bound_nothing_is_known() -> None:
    stream: StreamBase[float] = StreamBase(EmpiricalBernstein(2, 3), None)
    stream.update(2.5)
    assert stream.interval == (2.0, 3.0)
    assert stream.evidence.radius(1.0) == np.inf


def test_samples_of_any_number_kind_are_numbers() -> None:
    stream: StreamBase[float] = StreamBase(Laplace(1.0, 0.05), None)
    for sample in (1, np.float32(0.5), np.array(1.5), "1.0"):
        stream.update(sample)
    assert stream.mean == 1.0
