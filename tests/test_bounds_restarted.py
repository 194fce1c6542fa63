"""Restarts: rare on constant streams, prompt after a change, and a fresh bound from then on."""

import json
import math
import pickle
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from streams import BOUNDED, FAMILY, Array, followed_state, name, p_value

from colme.bounds import Asymptotic, Bound, Laplace, Restarted, Windowed
from colme.bounds.change_detector import (
    BLOCK,
    SplitTable,
    find_epochs,
)

LOUD = Restarted(Laplace(0.05, 0.05), alarm=0.2)
"""Restarts often: the scale of its samples is understated."""


def epochs_of(samples: Array, scale: float, alarm: float) -> Array:
    epochs = np.empty(samples.shape[::-1])
    find_epochs(samples, scale, -math.log(alarm), SplitTable.blank(), epochs)
    return epochs


def delays(shift: float, at: int, scale: float = 0.5) -> NDArray[np.int64]:
    """Return how many samples after the change 200 streams give the alarm; 4000 if never."""
    samples = np.random.default_rng(5).normal(0.0, 0.5, (at + 3000, 200))
    samples[at:] += shift
    later = epochs_of(samples, scale, 0.001)[:, at:]
    found = later > later[:, :1]
    return np.where(found.any(axis=1), found.argmax(axis=1), 4000)


@pytest.mark.parametrize("kind", ["normal", "coin"])
def test_constant_streams_are_restarted_at_most_as_often_as_promised(kind: str) -> None:
    rng = np.random.default_rng(1)
    size = (2000, 2000)
    draws = {"normal": rng.normal(0, 0.5, size), "coin": rng.integers(0, 2, size)}
    samples = draws[kind].astype(np.float64)
    assert p_value(epochs_of(samples, 0.5, 0.05)[:, -1] > 0, 0.05) > 1e-4
    assert p_value(epochs_of(samples, 0.25, 0.05)[:, -1] > 0, 0.05) < 1e-4


@pytest.mark.parametrize(
    ("shift", "at", "most"),
    [(0.2, 1500, 285), (0.4, 1500, 75), (0.6, 1500, 40), (0.6, 50, 200), (0.8, 50, 40)],
)
def test_changes_are_found_in_time(shift: float, at: int, most: float) -> None:
    assert delays(shift, at).mean() < most


def test_a_small_change_is_found_if_there_was_enough_before_it() -> None:
    assert (delays(0.1, 10000) < 4000).mean() > 0.9


def test_an_unknown_scale_costs_little() -> None:
    assert delays(0.4, 1500, math.inf).mean() < 80
    samples = np.random.default_rng(1).normal(0, 3.0, (1000, 1000))
    assert p_value(epochs_of(samples, math.inf, 0.05)[:, -1] > 0, 0.05) > 1e-4


def test_the_alarm_takes_effect_with_the_next_sample() -> None:
    bound = Restarted(Laplace(0.5, 0.05))
    stream = bound.stream()
    x = [0.0] * 200 + [1.0] * 30
    k = 0
    while not stream.epoch:
        k = stream.count
        stream.update(x[k])
    assert (stream.count, k % BLOCK) == (1, 0)
    fresh = Laplace(0.5, 0.05).stream()
    for sample in np.random.default_rng(0).normal(1.0, 0.5, 50):
        fresh.update(sample)
    again = bound.stream()
    for sample in x[:k]:
        again.update(sample)
    for sample in np.random.default_rng(0).normal(1.0, 0.5, 50):
        again.update(sample)
    assert followed_state(again)[:-1] == followed_state(fresh)[:-1]
    assert again.epoch == 1


@pytest.mark.parametrize("bound", FAMILY, ids=name)
def test_until_an_alarm_it_is_the_bound_itself_bit_for_bit(bound: Bound) -> None:
    here, there = Restarted(bound).stream(), bound.stream()
    for sample in np.random.default_rng(4).random(60):
        here.update(sample)
        there.update(sample)
        assert followed_state(here) == followed_state(there)


@given(st.lists(st.floats(0, 1), max_size=60), st.lists(st.floats(0, 1), max_size=30))
def test_a_stream_goes_on_from_its_state_to_the_last_bit(x: list[float], more: list[float]) -> None:
    for bound in (LOUD, Restarted(BOUNDED[1], 0.5), Restarted(Asymptotic(50, burn_in=4), 0.5)):
        stream = bound.stream()
        for sample in x:
            stream.update(sample)
        copy = bound.resume(json.loads(json.dumps(stream.state())))
        for sample in more:
            assert followed_state(copy) == followed_state(stream)
            for either in (stream, copy):
                either.update(sample)
        assert followed_state(copy) == followed_state(stream)
        assert copy.state() == stream.state()


def test_a_stream_with_many_restarts_goes_on_from_its_state() -> None:
    x = np.random.default_rng(6).normal(0, 0.5, 300).tolist()
    stream = LOUD.stream()
    for sample in x:
        stream.update(sample)
        copy = LOUD.resume(json.loads(json.dumps(stream.state())))
        assert copy.state() == stream.state()
        stream = copy
    straight = LOUD.stream()
    for sample in x:
        straight.update(sample)
    assert straight.epoch > 3
    assert followed_state(stream) == followed_state(straight)


def test_many_streams_at_once_are_as_many_single_ones() -> None:
    together, alone = LOUD.stream(3), [LOUD.stream() for _ in range(3)]
    for row in np.random.default_rng(7).normal(0, 0.5, (80, 3)):
        together.update(row)
        for stream, sample in zip(alone, row, strict=True):
            stream.update(sample)
        for field in ("mean", "squares", "epoch"):
            here: Any = getattr(together, field)
            assert here.tolist() == [getattr(s, field) for s in alone]
        assert together.count == min(s.count for s in alone)
        assert together.interval[0].tolist() == [s.interval[0] for s in alone]
        assert together.evidence.spread.tolist() == [s.evidence.spread for s in alone]
    before = pickle.dumps(together)
    with pytest.raises(ValueError, match="received"):
        together.update([0.5, math.nan, 0.5])
    assert pickle.dumps(together) == before


@pytest.mark.parametrize("bad", [math.nan, "abc", [0.5], 1e200])
def test_a_bad_sample_is_refused_and_changes_nothing_even_when_an_alarm_is_due(bad: Any) -> None:
    stream = Restarted(Laplace(0.5, 0.05)).stream()
    for sample in [0.0] * 200 + [1.0] * 12:
        stream.update(sample)
    assert stream.state()["due"] == 1
    before = pickle.dumps(stream)
    with pytest.raises(ValueError, match="received"):
        stream.update(bad)
    assert pickle.dumps(stream) == before


def test_constant_samples_of_unknown_scale_raise_no_alarm() -> None:
    stream = Restarted(Asymptotic(50), alarm=0.5).stream()
    for _ in range(200):
        stream.update(0.1)
    assert stream.epoch == 0


def test_adwin_restarts_too_and_begins_anew_after_a_restore() -> None:
    bound = Restarted(Laplace(0.5, 0.05), detector="adwin")
    stream = bound.stream()
    for sample in np.random.default_rng(8).normal(np.repeat([0.0, 1.0], 500), 0.5):
        stream.update(sample)
    assert stream.epoch >= 1
    assert stream.mean == pytest.approx(1.0, abs=0.1)
    copy = bound.resume(json.loads(json.dumps(stream.state())))
    assert followed_state(copy) == followed_state(stream)


def test_without_river_adwin_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "river.drift", None)
    with pytest.raises(ImportError, match=r"pip install 'colme\[drift\]'"):
        Restarted(Laplace(0.5, 0.05), detector="adwin").stream()


@pytest.mark.parametrize("alarm", [0, 1, -0.5, math.nan])
def test_an_alarm_is_a_risk(alarm: float) -> None:
    with pytest.raises(ValueError, match=f"alarm .*received {alarm}"):
        Restarted(Laplace(0.5, 0.05), alarm)


def test_unknown_detectors_and_wrappers_within_are_refused() -> None:
    detector: Any = "oracle"
    with pytest.raises(ValueError, match=r"detector must be one of .*received 'oracle'"):
        Restarted(Laplace(0.5, 0.05), detector=detector)
    with pytest.raises(ValueError, match="wrap a bound once"):
        Restarted(Windowed(Laplace(0.5, 0.05), 10))


def test_the_risk_and_the_scale_are_those_of_the_bound_within() -> None:
    bound = Restarted(Laplace(0.5, 0.05), 0.01, revisit=0)
    assert (bound.gamma, bound.scale, bound.revisit) == (0.05, 0.5, 0)
    assert bound.at_risk(0.01) == Restarted(Laplace(0.5, 0.01), 0.01, revisit=0)


def test_a_state_that_no_stream_has_is_refused() -> None:
    bound = Restarted(Laplace(0.5, 0.05))
    stream = bound.stream()
    for sample in np.linspace(0, 1, 20):
        stream.update(sample)
    good = stream.state()
    for change in (
        {"due": 2},
        {"epoch": -1},
        {"splits": [1.0]},
        {"splits": None},
        {"means": [0.0, 0.0, 0.0, 0.0, math.nan]},
        {"splits": [2.0, 1.0, 3.0, 4.0, 5.0]},
        {"extra": 1},
        {"within.count": 0.5},
    ):
        with pytest.raises(ValueError, match="received"):
            bound.resume({**good, **change})
