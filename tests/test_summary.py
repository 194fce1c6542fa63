"""Folding a stream into a mean and its squares; what is known of it."""

import math
import statistics
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from streams import FAMILY, evidence_against, name

from colme.agent import Agent
from colme.bounds import (
    Bound,
    Evidence,
    Laplace,
    Stream,
    folded_mean,
    folded_squares,
    separated,
)
from colme.bounds.base import StreamBase
from colme.bounds.folder import view_of_stream
from colme.messages import Query
from colme.reply_view import reply_of
from colme.summary import BYTES_PER_VIEW, UNHEARD, BlockViews, View, set_view, view_at, views_of

Array = NDArray[np.float64]

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
    after = before.around(stream.mean)
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
    assert one.evidence.around(3.0) == Evidence(3.0, math.inf, math.inf, 0.0)
    np.testing.assert_array_equal(two.evidence.around(np.ones(2)).offset, np.zeros(2))
    one.update(0.5)
    assert math.isfinite(one.evidence.around(one.mean).offset)


def test_evidence_that_was_around_the_mean_stays_as_it_is() -> None:
    evidence = Evidence(center=0.25, spread=0.1, slope=math.inf, offset=2.0)
    assert evidence.around(0.25) == evidence


def test_a_view_of_nobody_separates_from_nobody() -> None:
    nobody: View[float] = View()
    assert nobody.n_samples == nobody.precision == 0
    shape = nobody.spread, nobody.slope, nobody.offset
    assert not separated(1e9, *shape, 1e-9, math.inf, 0.0, 1e-9)


def numbered() -> View[float]:
    """Return a view with another number in each field."""
    return View(*map(float, range(1, len(View._fields) + 1)))


def columns(n: int) -> View[Array]:
    return View(*(np.zeros(n) for _ in View._fields))


@pytest.mark.parametrize("field", View._fields)
def test_a_view_is_read_from_its_column_field_by_field(field: str) -> None:
    views = columns(3)
    getattr(views, field)[1] = 7.0
    assert view_at(views, 1) == View(*(0.0 for _ in View._fields))._replace(**{field: 7.0})
    assert view_at(views, 0) == View(*(0.0 for _ in View._fields))


@pytest.mark.parametrize("field", View._fields)
def test_a_view_is_written_to_its_column_field_by_field(field: str) -> None:
    views = columns(3)
    set_view(views, 1, View(*(0.0 for _ in View._fields))._replace(**{field: 7.0}))
    for other, column in views._asdict().items():
        assert column.tolist() == [0.0, 7.0 if other == field else 0.0, 0.0]


def test_what_is_written_is_what_is_read_in_rows_and_in_runs() -> None:
    views: View[list[float]] = View(*([0.0, 0.0] for _ in View._fields))
    set_view(views, 1, numbered())
    assert view_at(views, 1) == numbered()
    run: View[Array] = View(*(np.zeros((2, 3)) for _ in View._fields))
    set_view(run, (1, 2), numbered())
    assert view_at(run, (1, 2)) == numbered()
    assert all(column.sum() == value for column, value in zip(run, numbered(), strict=True))


def test_nobody_heard_of_has_no_samples_no_precision_and_no_ends() -> None:
    assert View() == UNHEARD
    assert UNHEARD._asdict() == {
        "mean": 0.0,
        "n_samples": 0.0,
        "radius": math.inf,
        "precision": 0.0,
        "spread": math.inf,
        "slope": math.inf,
        "offset": 0.0,
        "squares": 0.0,
        "epoch": 0.0,
        "variance": math.inf,
    }


class RoundedStream(StreamBase[Any]):
    """Its agent knows its mean; others see it rounded to whole numbers, twice as uncertain."""

    def __init__(self, bound: "Rounded", n: int | None) -> None:
        super().__init__(bound, n)
        self._within: Any = bound.bound.stream(n)
        self._public: Any = StreamBase(bound, n)

    @property
    def public(self) -> Stream[Any]:
        self._public._stand_for(self.count, np.round(self._mean), 0.0)
        return self._public  # type: ignore[no-any-return]

    @property
    def evidence(self) -> Evidence[Any]:
        evidence: Evidence[Any] = self._within.evidence
        return evidence

    def _fold(self, x: Any) -> None:
        self._within.update(x)


@dataclass(frozen=True)
class Rounded(Bound):
    bound: Laplace
    gamma: float = 0.05
    stream_type = RoundedStream
    has_public_view = True


ROUNDED = Rounded(Laplace(0.5, 0.05))


@pytest.mark.parametrize("bound", FAMILY, ids=name)
def test_a_stream_shows_itself_unless_something_is_hidden(bound: Bound) -> None:
    stream = bound.stream()
    stream.update(0.4)
    assert stream.public is stream
    assert reply_of("a", stream).mean == 0.4
    hiding = ROUNDED.stream()
    hiding.update(0.4)
    private, public = (view_of_stream(one, 3.0) for one in (hiding, hiding.public))
    assert (private.mean, public.mean) == (0.4, 0.0)
    assert math.isinf(public.radius)
    assert math.isfinite(private.radius)


SAMPLES = np.random.default_rng(8).normal(0.4, 1.0, (12, 6))


@pytest.mark.parametrize("arrivals", [None, np.random.default_rng(9).integers(0, 3, (6, 6))])
def test_blocks_keep_what_is_hidden_apart_from_what_is_shown(arrivals: Any) -> None:
    horizon = 12 if arrivals is None else 6
    bounds: list[Any] = [ROUNDED if a % 2 else Laplace(0.5, 0.05) for a in range(6)]
    how: dict[str, Any] = {"arrivals": arrivals, "with_squares": True}
    blocks = BlockViews(SAMPLES, bounds, horizon, longest=horizon, **how)
    blocks.open(horizon)
    for part in range(blocks.n_parts):
        blocks.fill(part)
    plain = views_of(SAMPLES, Laplace(0.5, 0.05), **how)
    known = plain._replace(variance=blocks.private.variance)  # what is rounded vouches for nothing
    for one, other in zip(blocks.private, known, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    for one, other in zip(blocks.public, plain, strict=True):
        np.testing.assert_allclose(one[::2], other[::2], rtol=1e-12)
    assert np.isinf(blocks.public.variance[1::2]).all()
    np.testing.assert_allclose(blocks.public.mean[1::2], np.round(plain.mean[1::2]))
    assert np.isinf(blocks.public.radius[1::2]).all()
    assert blocks.bytes_per_view == 2 * BYTES_PER_VIEW


def test_an_agent_reckons_with_its_private_view_and_says_the_public_one() -> None:
    agent = Agent("a", bound=ROUNDED, delta=0.1, algorithm="local")
    agent.perceive(0.4)
    assert agent.estimate == 0.4
    assert agent.answer(Query("b", "a")).mean == 0.0
