"""What all bounds have in common: the recipe, the stream, and what a stream refuses."""

import math
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streams import BOUNDED, FAMILY, SUBGAUSSIAN, average_evidence, name

from colme.bounds import Bound, Laplace, separated

EXACT = [*SUBGAUSSIAN, *BOUNDED]
every_bound = pytest.mark.parametrize("bound", FAMILY, ids=name)


@every_bound
def test_a_bound_is_a_frozen_recipe_with_its_risk_last(bound: Any) -> None:
    *_, last = fields(bound)
    assert last.name == "gamma"
    assert isinstance(bound, Laplace) or last.default == 0.05
    with pytest.raises(FrozenInstanceError):
        bound.gamma = 0.1
    assert hash(bound) == hash(replace(bound))


@every_bound
def test_at_another_risk_only_the_risk_differs(bound: Bound) -> None:
    other = bound.at_risk(0.01)
    assert type(other) is type(bound)
    assert {**vars(other), "gamma": 0} == {**vars(bound), "gamma": 0}
    assert other.gamma == 0.01


@every_bound
@pytest.mark.parametrize("gamma", [0, 1, -0.5, 2, math.nan])
def test_risks_must_lie_between_0_and_1(bound: Bound, gamma: float) -> None:
    with pytest.raises(ValueError, match=f"gamma .*received {gamma}"):
        bound.at_risk(gamma)


@every_bound
def test_before_the_first_sample_nothing_is_known(bound: Bound) -> None:
    one, two = bound.stream(), bound.stream(2)
    ends = (0.0, 1.0) if bound in BOUNDED else (-math.inf, math.inf)
    assert (one.count, one.mean, one.interval) == (0, 0.0, ends)
    np.testing.assert_array_equal(two.interval, np.transpose([ends, ends]))
    found = one.evidence
    assert found.radius(1.0) == math.inf
    shape = (found.spread, found.slope, found.offset)
    assert not separated(1e9, *shape, *shape, 1e-9)
    assert not separated(1e9, *shape, 0.0, 1e9, 0.0, 1e-9)


@every_bound
def test_many_streams_at_once_are_as_many_single_ones(bound: Bound) -> None:
    rng = np.random.default_rng(11)
    samples = np.column_stack(
        [rng.random((60, 3)), rng.integers(0, 2, (60, 3)), np.zeros(60), np.ones(60)]
    )
    together, alone = bound.stream(8), [bound.stream() for _ in range(8)]
    for row in samples:
        together.update(row)
        for stream, sample in zip(alone, row, strict=True):
            stream.update(sample)
        assert together.count == alone[0].count
        np.testing.assert_allclose(together.mean, [s.mean for s in alone], rtol=1e-12)
        for end in (0, 1):
            each = [s.interval[end] for s in alone]
            np.testing.assert_allclose(together.interval[end], each, rtol=1e-9, atol=1e-12)
        for field in fields(together.evidence):
            each = [getattr(s.evidence, field.name) for s in alone]
            here = getattr(together.evidence, field.name)
            assert here.shape == (8,)
            np.testing.assert_allclose(here, each, rtol=1e-9, atol=1e-12)


@every_bound
def test_one_stream_answers_with_floats_and_many_with_arrays_of_their_own(bound: Bound) -> None:
    one, two = bound.stream(), bound.stream(2)
    for sample in np.linspace(0.2, 0.8, 9):
        one.update(sample)
        two.update([sample, 1 - sample])
    found = [one.mean, *one.interval, *vars(one.evidence).values()]
    assert all(type(value) is float for value in found)
    kept = two.mean.copy()
    for answer in (two.mean, *two.interval, *vars(two.evidence).values()):
        answer[:] = 7.0
    np.testing.assert_array_equal(two.mean, kept)
    assert (two.interval[0] <= kept).all()
    assert (two.interval[1] >= kept).all()


@pytest.mark.parametrize("bound", EXACT, ids=name)
@pytest.mark.parametrize(
    ("values", "chances", "steps"),
    [
        ([0.0, 1.0], [0.5, 0.5], 10),
        ([0.0, 1.0], [0.98, 0.02], 10),
        ([0.0, 1.0], [0.1, 0.9], 10),
        ([0.0, 0.3, 1.0], [0.6, 0.3, 0.1], 7),
    ],
)
def test_at_the_true_mean_the_evidence_is_at_most_one_on_average(
    bound: Bound, values: list[float], chances: list[float], steps: int
) -> None:
    averages = average_evidence(bound, values, chances, steps)
    assert (averages <= 1).all()


@every_bound
def test_a_smaller_risk_gives_a_wider_interval(bound: Bound) -> None:
    widths = []
    for gamma in (0.2, 0.01, 1e-4):
        stream = bound.at_risk(gamma).stream()
        for sample in np.random.default_rng(12).random(200):
            stream.update(sample)
        low, high = stream.interval
        widths.append(high - low)
    assert widths == sorted(set(widths))


BAD_ONE = [math.nan, math.inf, -math.inf, 1e200, "abc", None, [0.5], [0.5, 0.5], np.zeros((1, 1))]
BAD_TWO = [[0.5, math.nan], [math.inf, 0.5], [0.5, 1e200], [0.5], 0.5, [0.5] * 3, ["a", "b"], [[1]]]


@every_bound
@pytest.mark.parametrize(("n", "bad"), [(None, bad) for bad in BAD_ONE] + [(2, b) for b in BAD_TWO])
def test_a_bad_sample_is_refused_and_changes_nothing(bound: Bound, n: Any, bad: Any) -> None:
    stream = bound.stream(n)
    for _ in range(6):
        stream.update(0.25 if n is None else [0.25, 0.5])
    before = pickle.dumps(stream)
    with pytest.raises(ValueError, match="received"):
        stream.update(bad)
    assert pickle.dumps(stream) == before


@pytest.mark.parametrize("bound", BOUNDED, ids=name)
@pytest.mark.parametrize("bad", [-0.001, 1.001, 50.0])
def test_a_sample_outside_the_range_is_refused_and_changes_nothing(
    bound: Bound, bad: float
) -> None:
    one, two = bound.stream(), bound.stream(2)
    before = pickle.dumps((one, two))
    with pytest.raises(ValueError, match=rf"in \[0, 1\]; received \[{bad}\]: .*wider range"):
        one.update(bad)
    with pytest.raises(ValueError, match=rf"in \[0, 1\]; received \[{bad}\]"):
        two.update([0.5, bad])
    assert pickle.dumps((one, two)) == before


@every_bound
@pytest.mark.parametrize("n", [0, -1, 2.5])
def test_a_number_of_streams_is_a_whole_one(bound: Bound, n: Any) -> None:
    with pytest.raises(ValueError, match=f"n must be .*received {n}"):
        bound.stream(n)


@every_bound
def test_a_stream_survives_being_stored(bound: Bound) -> None:
    stream = bound.stream()
    for sample in (0.1, 0.9, 0.4, 0.4, 0.3, 0.8):
        stream.update(sample)
    copy = pickle.loads(pickle.dumps(stream))
    for either in (stream, copy):
        either.update(0.6)
    assert copy.interval == stream.interval
    assert copy.evidence == stream.evidence


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.sampled_from(FAMILY))
def test_the_interval_holds_its_own_centre(x: list[float], bound: Bound) -> None:
    stream = bound.stream()
    for sample in x:
        stream.update(sample)
    low, high = stream.interval
    assert low <= stream.evidence.center <= high
    assert stream.evidence.offset >= 0
    assert stream.count == len(x)
    assert stream.mean == pytest.approx(np.mean(x), rel=1e-12, abs=1e-15)
