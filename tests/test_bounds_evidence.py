"""The shape of evidence, its inverse, and the test of a pair."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from colme._compile import kernel
from colme.bounds import Evidence, Laplace, Student, huber, separated, student_radius

INF = math.inf

distances = st.floats(0, 50)
spreads = st.floats(1e-12, 5) | st.sampled_from([0.0, INF])
slopes = st.floats(1e-3, 100) | st.just(INF)
offsets = st.floats(0, 20)
shapes = st.tuples(spreads, slopes).filter(lambda shape: shape != (0.0, INF))


@given(distances, st.floats(1e-3, 5), st.floats(1e-3, 100))
def test_huber_is_a_parabola_and_then_a_line(d: float, q: float, s: float) -> None:
    expected = d * d / (2 * q) if d <= s * q else s * d - s * s * q / 2
    assert huber(d, q, s) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("d", "q", "s", "value"),
    [
        (3.0, 0.0, 2.0, 6.0),  # no spread: a line
        (3.0, 2.0, INF, 2.25),  # no line: a parabola
        (0.0, 0.0, INF, 0.0),
        (0.0, 0.0, 2.0, 0.0),
        (0.0, 1.0, 2.0, 0.0),
        (3.0, INF, INF, 0.0),  # nothing known
        (3.0, INF, 2.0, 0.0),
        (3.0, INF, 0.0, 0.0),
        (3.0, 0.0, 0.0, 0.0),
        (3.0, 1.0, 0.0, 0.0),
        (3.0, 0.0, INF, INF),  # everything known
        (1e150, 1e-200, INF, INF),
        (math.nan, 1.0, 1.0, 0.0),
    ],
)
def test_huber_at_the_ends_of_its_arguments(d: float, q: float, s: float, value: float) -> None:
    assert huber(d, q, s) == value


@given(st.floats(1e-3, 50), shapes, shapes)
def test_the_least_sum_of_two_hubers_is_the_huber_of_the_distance(
    distance: float, a: tuple[float, float], b: tuple[float, float]
) -> None:
    def total(m: float) -> float:
        return huber(abs(m), *a) + huber(abs(distance - m), *b)

    spread, slope = a[0] + b[0], min(a[1], b[1])
    claimed = huber(distance, spread, slope)
    found = minimize_scalar(
        total, bounds=(0, distance), method="bounded", options={"xatol": 1e-9 * distance}
    )
    least = min(found.fun, total(0.0), total(distance))
    assert claimed <= least * (1 + 1e-12)
    assert claimed == pytest.approx(least, rel=1e-6, abs=1e-9)
    across = np.linspace(-distance, 2 * distance, 301)
    assert all(total(m) >= claimed * (1 - 1e-12) for m in across)


@given(
    st.floats(1e-3, 5), st.floats(1e-3, 5), offsets, offsets, st.floats(0.01, 20), st.floats(0, 1)
)
def test_two_parabolas_separate_where_the_formula_says(
    q_a: float, q_b: float, o_a: float, o_b: float, log_risk: float, part: float
) -> None:
    edge = math.sqrt(2 * (q_a + q_b) * (log_risk + o_a + o_b))
    known = (q_a, INF, o_a, q_b, INF, o_b, log_risk)
    assert separated(edge * (1 + 1e-9), *known)
    assert not separated(edge * (1 - 1e-9), *known)
    assert not separated(part * edge * (1 - 1e-9), *known)


@given(distances, spreads, slopes, offsets, spreads, slopes, offsets, st.floats(0.01, 20))
def test_a_pair_separates_whoever_asks(
    distance: float,
    q_a: float,
    s_a: float,
    o_a: float,
    q_b: float,
    s_b: float,
    o_b: float,
    log_risk: float,
) -> None:
    here = separated(distance, q_a, s_a, o_a, q_b, s_b, o_b, log_risk)
    there = separated(distance, q_b, s_b, o_b, q_a, s_a, o_a, log_risk)
    assert here == there


@given(shapes.filter(lambda shape: shape[0] < INF), offsets, st.floats(0.01, 20))
def test_alike_streams_separate_before_their_intervals_do(
    shape: tuple[float, float], offset: float, log_risk: float
) -> None:
    radius = Evidence(0.0, *shape, offset).radius(log_risk)
    assert separated(2 * radius * (1 + 1e-9), *shape, offset, *shape, offset, log_risk)


@given(shapes, offsets, st.floats(0.01, 20))
@example((INF, INF), 0.0, 1.0)
@example((1.0, 0.0), 0.0, 1.0)
@example((0.0, 0.0), 0.0, 1.0)
@example((INF, 0.0), 0.0, 1.0)
def test_the_radius_is_where_the_evidence_reaches_the_risk(
    shape: tuple[float, float], offset: float, log_risk: float
) -> None:
    radius = Evidence(0.3, *shape, offset).radius(log_risk)
    assert type(radius) is float
    if shape[0] == INF or shape[1] == 0:
        assert radius == INF
    else:
        assert huber(radius, *shape) - offset == pytest.approx(log_risk, rel=1e-9)


@given(st.lists(st.tuples(shapes, offsets), min_size=1), st.floats(0.01, 20))
def test_radii_of_many_streams_are_those_of_each(
    many: list[tuple[tuple[float, float], float]], log_risk: float
) -> None:
    rows = [(0.0, *shape, offset) for shape, offset in many]
    at_once = Evidence(*np.array(rows).T).radius(log_risk)
    one_by_one = [Evidence(*row).radius(log_risk) for row in rows]
    np.testing.assert_allclose(at_once, one_by_one, rtol=1e-15)


@given(st.floats(0.01, 10), st.floats(1e-9, 0.5), st.integers(1, 10_000))
def test_the_evidence_of_laplace_has_the_radius_of_laplace(
    sigma: float, gamma: float, n: int
) -> None:
    bound = Laplace(sigma, gamma)
    radius = Evidence(0.0, *bound.shape(n)).radius(math.log(1 / gamma))
    assert radius == pytest.approx(bound.radius(n), rel=1e-12)


@pytest.mark.parametrize("log_risk", [0, -1, math.nan, INF])
def test_a_radius_needs_a_risk_below_one(log_risk: Any) -> None:
    with pytest.raises(ValueError, match=f"log_risk must be .*received {log_risk}"):
        Evidence(0.0, 1.0, 1.0, 0.0).radius(log_risk)


def test_compiled_and_plain_answers_agree() -> None:
    @kernel
    def answers(rows: Any, out: Any) -> int:
        for i in range(rows.shape[0]):
            d, q_a, s_a, o_a, q_b, s_b, o_b, log_risk = rows[i]
            out[i, 0] = huber(d, q_a, s_a)
            out[i, 1] = separated(d, q_a, s_a, o_a, q_b, s_b, o_b, log_risk)
        return len(rows)

    rng = np.random.default_rng(1)
    rows = rng.exponential(2.0, (500, 8))
    for column, special in [(0, 0.0), (1, 0.0), (1, INF), (2, INF), (2, 0.0), (4, INF), (5, INF)]:
        rows[rng.random(500) < 0.2, column] = special
    compiled, plain = np.empty((500, 2)), np.empty((500, 2))
    assert answers(rows, compiled) == answers.function(rows, plain) == 500
    np.testing.assert_allclose(compiled, plain, rtol=1e-14)


@pytest.mark.parametrize("gamma", [0.05, 1e-6])
def test_what_a_student_stream_says_reaches_as_far_as_a_pair_needs(gamma: float) -> None:
    """Its parabola meets the evidence at 2 ln(1/γ) + offset, and is the chord up to there."""
    bound = Student(100, gamma)
    stream = bound.stream()
    for sample in np.random.default_rng(6).normal(3.0, 2.0, 80):
        stream.update(sample)
    said = stream.evidence
    assert said.offset == pytest.approx(0.5 * math.log1p(80 / bound.prior))
    level = 2 * math.log(1 / gamma) + said.offset
    reach = float(student_radius(80, stream.squares, bound.prior, level))
    assert said.radius(level) == pytest.approx(reach, rel=1e-12)
    assert said.radius(level / 2) > student_radius(80, stream.squares, bound.prior, level / 2)
