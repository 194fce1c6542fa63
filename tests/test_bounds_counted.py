"""Radii that follow from the count: falling, inverted exactly, the same for arrays."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colme.bounds import Evidence, Laplace, NormalMixture, Stitched
from colme.bounds.counted import first_below

sigmas, risks = st.floats(1e-3, 10), st.floats(1e-9, 0.5)
bounds = st.one_of(
    st.builds(Laplace, sigmas, risks),
    st.builds(NormalMixture, sigmas, st.floats(1, 1e5), risks),
    st.builds(Stitched, sigmas, risks, n_min=st.floats(0.1, 1e4)),
)
Counted = Laplace | NormalMixture | Stitched


@given(bounds)
def test_radii_fall_from_infinity(bound: Counted) -> None:
    radii = bound.radius(np.arange(2000))
    assert radii[0] == bound.radius(0) == math.inf
    assert np.isfinite(radii[1:]).all()
    assert (np.diff(radii[1:]) < 0).all()


@given(bounds, st.lists(st.integers(0, 10**9), min_size=1))
def test_the_radius_of_a_number_and_of_an_array_agree(bound: Counted, counts: list[int]) -> None:
    one_by_one = [bound.radius(n) for n in counts]
    assert all(type(radius) is float for radius in one_by_one)
    np.testing.assert_allclose(bound.radius(np.array(counts)), one_by_one, rtol=1e-12)


@given(bounds, st.floats(1e-3, 100))
def test_the_inverse_is_the_smallest_count_with_a_smaller_radius(bound: Counted, x: float) -> None:
    n = bound.inverse(x)
    assert type(n) is int
    assert bound.radius(n) < x <= bound.radius(n - 1)


@given(bounds, st.integers(1, 10_000))
def test_the_inverse_at_a_radius_is_the_next_count(bound: Counted, n: int) -> None:
    assert bound.inverse(bound.radius(n)) == n + 1


@given(bounds, st.integers(1, 10**9))
def test_the_evidence_is_never_wider_than_the_radius(bound: Counted, n: int) -> None:
    radius = Evidence(0.0, *bound.shape(n)).radius(-math.log(bound.gamma))
    assert radius <= bound.radius(n) * (1 + 1e-12)


@given(bounds)
def test_the_radius_is_proportional_to_sigma(bound: Counted) -> None:
    double = type(bound)(**{**vars(bound), "sigma": 2 * bound.sigma})
    assert double.radius(17) == pytest.approx(2 * bound.radius(17), rel=1e-12)


@pytest.mark.parametrize(("radius", "n"), [(lambda n: 1 / n, 11), (lambda n: 1 / n**2, 4)])
def test_the_first_count_below(radius: Callable[[float], float], n: int) -> None:
    assert first_below(0.1, radius) == n


@pytest.mark.parametrize("x", [0, -0.1, math.nan])
def test_a_radius_is_inverted_at_positive_numbers(x: float) -> None:
    with pytest.raises(ValueError, match=f"x > 0; received {x}"):
        Stitched(1.0).inverse(x)
