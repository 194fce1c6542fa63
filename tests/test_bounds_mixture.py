"""Normal mixtures: the tuned prior, the published widths, and how often they are crossed."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import lambertw
from streams import crossing

from colme.bounds import Laplace, NormalMixture, split_risk
from colme.bounds.mixture import tuned_prior

GAMMA = split_risk(0.001, 200)


@given(st.floats(1e-300, 0.999), st.floats(1, 1e6))
def test_the_prior_is_that_of_lamberts_function(gamma: float, n_opt: float) -> None:
    if gamma > 1e-150:  # its square is a number
        u = float(-lambertw(-(gamma**2) / math.e, -1).real - 1)
        assert tuned_prior(n_opt, gamma) == pytest.approx(n_opt / u, rel=1e-6 if u < 0.1 else 1e-9)
    u = n_opt / tuned_prior(n_opt, gamma)
    assert u - math.log1p(u) == pytest.approx(-2 * math.log(gamma), rel=1e-9)


@given(st.floats(1e-9, 0.9), st.floats(1, 1e6), st.floats(0.01, 100))
def test_no_other_prior_is_narrower_at_the_chosen_count(
    gamma: float, n_opt: float, factor: float
) -> None:
    tuned, other = NormalMixture(1.0, n_opt, gamma), NormalMixture(1.0, factor * n_opt, gamma)
    assert tuned.radius(n_opt) <= other.radius(n_opt) * (1 + 1e-12)


@given(st.floats(1e-3, 10), st.floats(1e-9, 0.9), st.integers(1, 10**6))
def test_laplace_is_the_mixture_with_a_prior_of_one_sample(
    sigma: float, gamma: float, n: int
) -> None:
    twin = NormalMixture(sigma, 1 / tuned_prior(1, gamma), gamma)
    assert twin.prior == pytest.approx(1)
    assert twin.radius(n) == pytest.approx(Laplace(sigma, gamma).radius(n), rel=1e-12)


def test_laplace_is_tuned_for_some_thirty_samples_at_the_papers_risk() -> None:
    level = 2 * math.log(1 / GAMMA)
    assert 1 / tuned_prior(1, GAMMA) == pytest.approx(level + math.log(1 + level), rel=0.01)
    assert 32 < 1 / tuned_prior(1, GAMMA) < 34


@pytest.mark.parametrize(
    ("n", "laplace", "tuned"),
    [
        (100, 0.5789, 0.5945),
        (500, 0.2640, 0.2572),
        (1000, 0.1885, 0.1824),
        (5000, 0.0861, 0.0830),
    ],
)
def test_the_known_widths(n: int, laplace: float, tuned: float) -> None:
    assert Laplace(1.0, GAMMA).radius(n) == pytest.approx(laplace, abs=5e-5)
    assert NormalMixture(1.0, 500, GAMMA).radius(n) == pytest.approx(tuned, abs=5e-5)


@given(st.floats(0.1, 10), st.floats(1, 1e4), st.floats(1e-9, 0.5), st.integers(1, 10**6))
def test_the_radius_is_the_published_boundary(
    sigma: float, n_opt: float, gamma: float, n: int
) -> None:
    bound = NormalMixture(sigma, n_opt, gamma)
    v, rho = n * sigma**2, bound.prior * sigma**2
    boundary = math.sqrt((v + rho) * (math.log(1 + v / rho) + 2 * math.log(1 / gamma)))
    assert bound.radius(n) == pytest.approx(boundary / n, rel=1e-9)


def test_the_evidence_is_the_logarithm_of_the_mixture() -> None:
    bound, x = NormalMixture(0.7, 50, 0.05), np.random.default_rng(3).normal(0.2, 0.7, 40)
    stream = bound.stream()
    for sample in x:
        stream.update(sample)
    found = stream.evidence
    assert found.slope == math.inf
    for m in (-1.0, 0.0, 0.2, 3.0):
        s, v, rho = (x - m).sum(), 0.49 * len(x), 0.49 * bound.prior
        log_mixture = 0.5 * math.log(rho / (v + rho)) + s**2 / (2 * (v + rho))
        quadratic = (found.center - m) ** 2 / (2 * found.spread) - found.offset
        assert quadratic == pytest.approx(log_mixture, rel=1e-10)


@pytest.mark.parametrize("bound", [Laplace(0.5, 0.05), NormalMixture(0.5, 100)])
@pytest.mark.parametrize("kind", ["gauss", "fair", "uniform", "rare"])
def test_streams_leave_at_most_as_often_as_promised(bound: Any, kind: str) -> None:
    assert crossing(bound, kind) > 1e-4


@pytest.mark.parametrize("bound", [Laplace(0.5, 0.05), NormalMixture(0.5, 100)])
@pytest.mark.parametrize("kind", ["gauss", "fair"])
def test_streams_leave_half_the_interval_more_often(bound: Any, kind: str) -> None:
    assert crossing(bound, kind, factor=0.5) < 1e-4


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, None])
def test_sigma_and_count_must_be_positive(bad: Any) -> None:
    with pytest.raises(ValueError, match=f"sigma must be .*received {bad}"):
        NormalMixture(bad, 10)
    with pytest.raises(ValueError, match=f"n_opt must be .*received {bad}"):
        NormalMixture(1.0, bad)
