"""Student's bound: its closed form, that it is exact for Gaussian samples, and where it breaks."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import f as f_distribution
from scipy.stats import norm
from streams import Array, crossing, p_value

from colme.bounds import (
    Discounted,
    Laplace,
    NormalMixture,
    Restarted,
    Student,
    Windowed,
    separated,
    student_radius,
    student_spread,
    tuned_prior,
)

INF = math.inf


def log_evidence(d: Any, n: float, squares: Any, prior: float) -> Any:
    """Return ln M against a mean at distance d, as the page on bounds has it."""
    kappa = prior / (n + prior)
    ratio = (squares + n * np.square(d)) / (squares + kappa * n * np.square(d))
    return 0.5 * math.log(kappa) + n / 2 * np.log(ratio)


@pytest.mark.parametrize(
    ("samples", "mean", "prior"),
    [
        ([0.3, -0.2], 0.5, 1.0),
        ([1.0, 2.0, 4.0], 0.0, 0.4),
        ([19.0, 21.0, 20.0, 20.5, 18.0], 17.0, 3.0),
        ([-1.0, 0.0, 2.0], 0.3, 10.0),
    ],
)
def test_the_closed_form_is_the_ratio_of_integrated_likelihoods(
    samples: list[float], mean: float, prior: float
) -> None:
    x, n = np.array(samples), len(samples)
    size = math.sqrt(float(np.mean((x - mean) ** 2)))
    t, z = np.linspace(-8, 20, 1401)[:, np.newaxis], np.linspace(-12, 12, 601)
    sigma = size * np.exp(t)  # dt is dσ/σ

    def likelihood(center: Any) -> Any:
        return np.prod([norm.pdf(sample, center, sigma) for sample in x], axis=0)

    without = likelihood(mean).sum()
    with_effect = (likelihood(mean + sigma * z / math.sqrt(prior)) * norm.pdf(z)).sum()
    with_effect *= z[1] - z[0]
    squares = float(np.sum((x - x.mean()) ** 2))
    expected = log_evidence(x.mean() - mean, n, squares, prior)
    assert math.log(with_effect / without) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("n", [2, 3, 10, 60])
@pytest.mark.parametrize("prior", [0.3, 5.0])
def test_at_the_true_mean_the_evidence_is_one_on_average(n: int, prior: float) -> None:
    """n (n - 1) (x̄ - m)² / Q is distributed as F(1, n - 1), whatever the variance."""

    def weighed(root: float) -> float:
        density = f_distribution.pdf(root**2, 1, n - 1) * 2 * root
        return float(density * np.exp(log_evidence(root, n, n * (n - 1.0), prior)))

    average, _ = quad(weighed, 0, INF, limit=200)
    assert average == pytest.approx(1.0, abs=1e-6)


def test_one_sample_says_nothing() -> None:
    assert log_evidence(3.0, 1, 0.0, 2.0) == pytest.approx(0.0, abs=1e-15)
    stream = Student(10).stream(2)
    stream.update([1.0, -5.0])
    assert np.isinf(stream.interval).all()
    assert np.isinf(stream.evidence.spread).all()
    assert (stream.evidence.offset == 0).all()


def test_nothing_is_claimed_while_all_samples_are_equal() -> None:
    stream = Student(10).stream(2)
    for i in range(50):
        stream.update([0.1, 0.1 + 0.1 * (i == 0)])
    low, high = stream.interval
    assert (low[0], high[0], stream.evidence.spread[0]) == (-INF, INF, INF)
    assert np.isfinite([low[1], high[1], stream.evidence.spread[1]]).all()


counts = st.integers(2, 10_000)
levels = st.floats(0.1, 40)
priors = st.floats(0.01, 1000)


@given(counts, st.floats(1e-6, 1e6), priors, levels)
def test_the_radius_is_where_the_evidence_reaches_the_level(
    n: int, squares: float, prior: float, level: float
) -> None:
    radius = float(student_radius(n, squares, prior, level))
    most = -0.5 * math.log(prior / (n + prior)) * (n - 1)  # ln M as d → ∞
    if radius == INF:
        assert most <= level * (1 + 1e-9)
    else:
        assert log_evidence(radius, n, squares, prior) == pytest.approx(level, rel=1e-6)
        assert radius == pytest.approx(math.sqrt(squares) * student_radius(n, 1.0, prior, level))


@given(counts, priors, levels, st.floats(0, 1))
def test_the_parabola_lies_below_the_evidence_up_to_the_level_and_not_beyond(
    n: int, prior: float, level: float, part: float
) -> None:
    squares = float(n)
    radius = float(student_radius(n, squares, prior, level))
    spread = float(student_spread(n, squares, prior, level))
    if radius == INF:
        assert spread == INF
        return
    offset = 0.5 * math.log1p(n / prior)
    slack = 1e-9 * (level + offset) * n
    for factor, sign in ((part, 1), (1 + part, -1)):
        d = factor * radius
        parabola = d**2 / (2 * spread) - offset
        assert sign * (log_evidence(d, n, squares, prior) - parabola) >= -slack


@given(st.integers(2, 400), st.floats(0.5, 1e4), st.floats(1e-6, 0.5), st.integers(0, 99))
def test_the_interval_is_where_the_evidence_reaches_the_risk(
    n: int, n_opt: float, gamma: float, seed: int
) -> None:
    x = np.random.default_rng(seed).normal(3.0, 2.0, n)
    bound = Student(n_opt, gamma)
    stream = bound.stream()
    for sample in x:
        stream.update(sample)
    assert bound.prior == tuned_prior(n_opt, gamma)
    squares = float(np.sum((x - x.mean()) ** 2))
    radius = float(student_radius(n, squares, bound.prior, -math.log(gamma)))
    assert stream.interval == pytest.approx((x.mean() - radius, x.mean() + radius), rel=1e-9)
    shown = stream.evidence.radius(-math.log(gamma))
    assert shown >= radius * (1 - 1e-12)  # what peers see is no stronger


def test_with_many_samples_it_is_the_normal_mixture_of_the_true_scale() -> None:
    stream, known = Student(5000).stream(), NormalMixture(2.0, 5000)
    for sample in np.random.default_rng(3).normal(7.0, 2.0, 20_000):
        stream.update(sample)
    low, high = stream.interval
    assert (high - low) / 2 == pytest.approx(known.radius(20_000), rel=0.02)


def test_samples_far_from_zero_and_in_other_units_change_nothing_but_the_units() -> None:
    x = np.random.default_rng(4).normal(0.0, 1.0, 60)
    here, there = Student(30).stream(), Student(30).stream()
    for sample in x:
        here.update(sample)
        there.update(1e6 - 250.0 * sample)
    low, high = here.interval
    assert there.interval == pytest.approx((1e6 - 250 * high, 1e6 - 250 * low), rel=1e-9)


@pytest.mark.parametrize("gamma", [0.2, 0.05, 0.01])
@pytest.mark.parametrize("n_opt", [5, 100])
def test_gaussian_streams_leave_as_seldom_as_promised(n_opt: float, gamma: float) -> None:
    assert crossing(Student(n_opt, gamma), "gauss") > 1e-3


@pytest.mark.parametrize("factor", [0.7, 0.5])
def test_gaussian_streams_leave_a_smaller_interval_more_often(factor: float) -> None:
    assert crossing(Student(5), "gauss", factor=factor) < 1e-4


@pytest.mark.parametrize("kind", ["uniform", "fair", "beta"])
def test_well_behaved_samples_do_not_break_it_either(kind: str) -> None:
    assert crossing(Student(100), kind) > 1e-3


@pytest.mark.parametrize(
    ("bound", "kind"),
    [
        (Student(5), "exponential"),  # skewed, few samples
        (Student(100, 0.001), "exponential"),  # small risk
        (Student(100), "lognormal"),  # heavy tail
        (Student(100), "rare"),  # few events
    ],
)
def test_skewed_samples_heavy_tails_and_rare_events_break_it(bound: Student, kind: str) -> None:
    assert crossing(bound, kind) < 1e-4


def evidence_of(bound: Student | Laplace, samples: Array) -> list[Array]:
    """Return center, spread and offset [time, stream] of the evidence at every time."""
    stream, rows = bound.stream(samples.shape[1]), []
    for row in samples:
        stream.update(row)
        rows.append([stream.evidence.center, stream.evidence.spread, stream.evidence.offset])
    return list(np.moveaxis(np.array(rows), 1, 0))


def ever_apart(
    a: list[Array], b: list[Array], log_risk: float, delay: int, factor: float
) -> NDArray[np.bool_]:
    """Return which pairs are separated at some time, b's news coming once in `delay` steps."""
    late = np.arange(len(a[0])) // delay * delay
    (c, q, o), (c_b, q_b, o_b) = a, [field[late] for field in b]
    apart = (factor * (c - c_b)) ** 2 >= 2 * (q + q_b) * (log_risk + o + o_b)
    ever: NDArray[np.bool_] = np.any(apart, axis=0)
    return ever


def pair(delay: int, factor: float, scales: tuple[float, float], bounds: Any = None) -> float:
    """Return the p-value of 'at most γ of the pairs of equal mean are ever separated'."""
    gamma, rng = 0.1, np.random.default_rng(8)
    here, there = bounds or (Student(10, gamma), Student(10, gamma))
    streams = [rng.normal(3.0, scale, (200, 2000)) for scale in scales]
    found = [evidence_of(bound, x) for bound, x in zip((here, there), streams, strict=True)]
    return p_value(ever_apart(found[0], found[1], -math.log(gamma), delay, factor), gamma)


SCALES = [(1.0, 1.0), (0.1, 5.0), (5.0, 0.1)]


@pytest.mark.parametrize("scales", SCALES)
@pytest.mark.parametrize("delay", [1, 20])
def test_pairs_of_equal_mean_stay_together_whatever_their_variances(
    scales: tuple[float, float], delay: int
) -> None:
    assert pair(delay, 1.0, scales) > 1e-3


def test_pairs_of_equal_mean_would_not_at_twice_the_distance() -> None:
    assert pair(1, 2.0, (1.0, 1.0)) < 1e-4


def test_a_stream_of_known_scale_may_be_the_other_one() -> None:
    assert pair(1, 1.0, (1.0, 2.0), (Student(10, 0.1), Laplace(2.0, 0.1))) > 1e-3


@given(st.integers(2, 300), st.integers(2, 300), st.floats(1e-6, 0.3), st.floats(0.1, 10))
def test_the_pair_test_claims_no_more_than_the_evidence_of_both(
    n_a: int, n_b: int, gamma: float, scale: float
) -> None:
    """Where two are just separated, the product of their evidence is 1/γ for every mean."""
    log_risk, bound = -math.log(gamma), Student(20, gamma)
    parts = []
    for n, squares in ((n_a, float(n_a)), (n_b, n_b * scale**2)):
        offset = 0.5 * math.log1p(n / bound.prior)
        spread = float(student_spread(n, squares, bound.prior, 2 * log_risk + offset))
        parts.append((n, squares, spread, offset))
    (_, _, q_a, o_a), (_, _, q_b, o_b) = parts
    if max(q_a, q_b) == INF or abs(o_a - o_b) > log_risk:
        return
    distance = math.sqrt(2 * (q_a + q_b) * (log_risk + o_a + o_b)) * (1 + 1e-9)
    assert separated(distance, q_a, INF, o_a, q_b, INF, o_b, log_risk)
    means = np.linspace(-distance, 2 * distance, 601)
    both = sum(
        log_evidence(means - center, n, squares, bound.prior)
        for center, (n, squares, _, _) in zip((0.0, distance), parts, strict=True)
    )
    assert both.min() >= log_risk - 1e-6


def test_windows_and_discounts_refuse_it_and_restarts_take_it() -> None:
    message = r"Laplace, NormalMixture, Stitched, Asymptotic.*received Student.*Restarted"
    with pytest.raises(ValueError, match=message):
        Windowed(Student(10), 50)
    with pytest.raises(ValueError, match=message):
        Discounted(Student(10), 0.9)
    stream = Restarted(Student(10)).stream()
    for i, sample in enumerate(np.random.default_rng(5).normal(0.0, 0.2, 200)):
        stream.update(sample + 5.0 * (i >= 100))
    low, high = stream.interval
    assert stream.epoch == 1
    assert low < 5.0 < high


@pytest.mark.parametrize("n_opt", [0, -1, math.nan, INF, None])
def test_the_count_to_tune_for_must_be_positive(n_opt: Any) -> None:
    with pytest.raises(ValueError, match=f"n_opt must be .*received {n_opt}"):
        Student(n_opt)


def test_numbers_and_arrays_give_the_same() -> None:
    table = list(itertools.product([0, 1, 2, 17, 400], [0.0, 1.5, 1e9]))
    n, squares = np.array(table).T
    for function in (student_radius, student_spread):
        at_once = function(n, squares, 3.0, 4.0)
        one_by_one = [float(function(*row, 3.0, 4.0)) for row in table]
        np.testing.assert_array_equal(at_once, one_by_one)
        assert not np.isnan(at_once).any()
