"""The asymptotic bound: its closed form, when it holds in practice, and when it does not."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import lambertw
from streams import crossing

from colme.bounds import Asymptotic


@given(st.integers(2, 200), st.floats(1, 1e4), st.floats(1e-6, 0.5), st.integers(0, 99))
def test_the_interval_is_the_published_one(n: int, n_opt: float, gamma: float, seed: int) -> None:
    x = np.random.default_rng(seed).exponential(3.0, n)
    stream = Asymptotic(n_opt, gamma, burn_in=2).stream()
    for sample in x:
        stream.update(sample)
    rho2 = (-lambertw(-(gamma**2) / math.e, -1).real - 1) / n_opt
    width = 2 * (n * rho2 + 1) / (n**2 * rho2) * math.log(math.sqrt(n * rho2 + 1) / gamma)
    radius = x.std(ddof=1) * math.sqrt(width)
    assert stream.interval == pytest.approx((x.mean() - radius, x.mean() + radius), rel=1e-8)


@pytest.mark.parametrize("gamma", [0.05, 0.01, 1e-6])
def test_the_tuning_is_close_to_the_published_approximation(gamma: float) -> None:
    log = math.log(gamma)
    approximation = -(gamma**2) - 2 * log + math.log(-2 * log + 1 - gamma**2)
    exact = -lambertw(-(gamma**2) / math.e, -1).real - 1
    assert approximation == pytest.approx(exact, rel=0.04)


def test_nothing_is_claimed_before_the_burn_in() -> None:
    stream = Asymptotic(100, burn_in=5).stream(2)
    for i in range(5):
        assert np.isinf(stream.interval).all()
        assert np.isinf(stream.evidence.spread).all()
        stream.update([i, -i])
    assert np.isfinite(stream.interval).all()


def test_nothing_is_claimed_while_all_samples_are_equal() -> None:
    stream = Asymptotic(100, burn_in=2).stream(2)
    for i in range(50):
        stream.update([0.1, 0.1 + 0.1 * (i == 0)])
    low, high = stream.interval
    assert low[0] == -math.inf
    assert high[0] == math.inf
    assert np.isfinite([low[1], high[1]]).all()


@given(st.lists(st.floats(-10, 10), min_size=3, max_size=50), st.floats(0.1, 1e6))
def test_the_variance_survives_a_large_mean(x: list[float], scale: float) -> None:
    stream = Asymptotic(100, burn_in=2).stream()
    for sample in x:
        stream.update(1e6 + scale * sample)
    shifted = 1e6 + scale * np.array(x)
    variance = shifted.var(ddof=1)
    if variance > 1e-6:
        ratio = stream.evidence.spread / variance
        n, prior = len(x), stream._prior  # type: ignore[attr-defined]
        assert ratio == pytest.approx((n + prior) / n**2, rel=1e-3)


@pytest.mark.parametrize("kind", ["gauss", "fair", "beta", "uniform", "exponential"])
def test_streams_leave_at_most_as_often_as_hoped_after_a_hundred_samples(kind: str) -> None:
    assert crossing(Asymptotic(200, burn_in=100), kind, steps=500) > 1e-4


@pytest.mark.parametrize("kind", ["gauss", "fair", "beta", "uniform"])
def test_thirty_samples_are_enough_for_well_behaved_ones(kind: str) -> None:
    assert crossing(Asymptotic(200), kind, steps=500) > 1e-4


@pytest.mark.parametrize("kind", ["gauss", "fair", "uniform", "exponential"])
def test_streams_leave_half_the_interval_more_often(kind: str) -> None:
    assert crossing(Asymptotic(200, burn_in=100), kind, factor=0.5, steps=500) < 1e-4


@pytest.mark.parametrize(
    ("bound", "kind"),
    [
        (Asymptotic(200, burn_in=100), "lognormal"),  # heavy tail
        (Asymptotic(200, burn_in=100), "rare"),  # few events
        (Asymptotic(200, burn_in=5), "exponential"),  # few samples
        (Asymptotic(200, 0.001), "exponential"),  # small risk
    ],
)
def test_heavy_tails_rare_events_few_samples_and_small_risks_break_it(
    bound: Asymptotic, kind: str
) -> None:
    assert crossing(bound, kind, steps=500) < 1e-4


@pytest.mark.parametrize("burn_in", [0, 1, -3, 2.5])
def test_a_variance_needs_two_samples(burn_in: Any) -> None:
    with pytest.raises(ValueError, match=f"burn_in must be .*received {burn_in}"):
        Asymptotic(100, burn_in=burn_in)


@pytest.mark.parametrize("n_opt", [0, -1, math.nan, math.inf, None])
def test_the_count_to_tune_for_must_be_positive(n_opt: Any) -> None:
    with pytest.raises(ValueError, match=f"n_opt must be .*received {n_opt}"):
        Asymptotic(n_opt)
