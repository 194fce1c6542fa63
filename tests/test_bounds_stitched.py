"""The stitched bound: its constants, its epochs, and how often it is crossed."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import zeta
from streams import crossing

from colme.bounds import Evidence, Laplace, Stitched, split_risk, stitched


def test_the_constants() -> None:
    assert math.isclose(stitched._ZETA, zeta(1.4), rel_tol=1e-14)
    assert stitched._K * math.sqrt(1.4) == pytest.approx(1.6985, abs=5e-5)
    assert zeta(1.4) / math.log(2) ** 1.4 == pytest.approx(5.188, abs=5e-4)


@given(st.integers(1, 10**12), st.floats(1e-9, 0.5))
def test_the_radius_is_the_published_one(n: int, gamma: float) -> None:
    rounded = 1.7 * math.sqrt(n * (math.log(math.log(2 * n)) + 0.72 * math.log(5.2 / (gamma / 2))))
    radius = Stitched(1.0, gamma).radius(n)
    assert radius == pytest.approx(rounded / n, rel=6e-3)
    level = 1.4 * math.log(math.log(2 * n)) + math.log(zeta(1.4) / (gamma / 2 * math.log(2) ** 1.4))
    k = (2**0.25 + 2**-0.25) / math.sqrt(2)
    assert radius == pytest.approx(k * math.sqrt(n * level) / n, rel=1e-10)


@given(st.floats(1, 1e4), st.integers(1, 10**4))
def test_before_the_first_epoch_the_boundary_is_flat(n_min: float, n: int) -> None:
    bound = Stitched(0.5, n_min=n_min)
    if n < n_min:
        assert n * bound.radius(n) == pytest.approx(n_min * bound.radius(n_min), rel=1e-12)


@given(st.floats(1e-9, 0.8), st.integers(0, 40), st.floats(1, 2, exclude_max=True))
def test_the_evidence_is_the_line_of_the_epoch(gamma: float, epoch: int, part: float) -> None:
    sigma, n = 0.5, round(2**epoch * part)
    bound = Stitched(sigma, gamma)
    spread, slope, offset = bound.shape(n)
    epoch = math.floor(math.log2(n))
    share = 1 / (zeta(1.4) * (epoch + 1) ** 1.4)
    risk = gamma / 2 * share  # of one side in this epoch
    rate = math.sqrt(2 * math.log(1 / risk) / (sigma**2 * 2 ** (epoch + 0.5)))
    line = math.log(1 / risk) / rate + rate * n * sigma**2 / 2
    radius = Evidence(0.0, spread, slope, offset).radius(-math.log(gamma))
    assert spread == 0
    assert radius == pytest.approx(line / n, rel=1e-9)
    assert 0.9 * bound.radius(n) < radius <= bound.radius(n) * (1 + 1e-12)


def test_all_epochs_together_use_the_risk_once() -> None:
    n_epochs = 10**5
    shares = np.arange(1, n_epochs + 1) ** -stitched._S / stitched._ZETA
    rest = zeta(stitched._S, n_epochs + 1) / stitched._ZETA
    assert shares.sum() + rest == pytest.approx(1, rel=1e-12)


def test_it_pays_on_very_long_streams_only() -> None:
    for gamma, shorter, longer in [(0.05, 10**3, 10**6), (split_risk(0.001, 200), 10**4, 10**9)]:
        laplace, bound = Laplace(1.0, gamma), Stitched(1.0, gamma)
        assert bound.radius(shorter) > laplace.radius(shorter)
        assert bound.radius(longer) < laplace.radius(longer)


@pytest.mark.parametrize("kind", ["gauss", "fair", "uniform", "rare"])
def test_streams_leave_at_most_as_often_as_promised(kind: str) -> None:
    assert crossing(Stitched(0.5), kind) > 1e-4


@pytest.mark.parametrize("kind", ["gauss", "fair"])
def test_streams_leave_half_the_interval_more_often(kind: str) -> None:
    assert crossing(Stitched(0.5), kind, factor=0.5) < 1e-4


@pytest.mark.parametrize("gamma", [0.81, 0.99])
def test_risks_at_which_the_radius_would_not_fall_are_refused(gamma: float) -> None:
    with pytest.raises(ValueError, match=rf"at most 0.8 .*received {gamma}"):
        Stitched(1.0, gamma)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, None])
def test_sigma_and_count_must_be_positive(bad: Any) -> None:
    with pytest.raises(ValueError, match=f"sigma must be .*received {bad}"):
        Stitched(bad)
    with pytest.raises(ValueError, match=f"n_min must be .*received {bad}"):
        Stitched(1.0, n_min=bad)
