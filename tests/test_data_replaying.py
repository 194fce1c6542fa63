"""Replays: estimates as they would have been, and agents named only if their mean changed."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest

from colme.bounds import separated
from colme.data import Moments, Noise, Summaries, estimate
from colme.data.drifts import Drift, find_drifts
from colme.data.evolution import Replay, replay

Counts = NDArray[np.int64]


def drawn(
    rng: np.random.Generator, truth: ArrayLike, each: float | Counts, how: str = "normal"
) -> Moments:
    """Return samples around true means [slice, agent], in numbers that are given or by chance."""
    centers = np.asarray(truth, dtype=np.float64)
    counts = rng.poisson(each, centers.shape) if isinstance(each, int | float) else each
    size = (int(counts.max(initial=0)), *centers.shape)
    noise = rng.normal(size=size) if how == "normal" else rng.integers(0, 2, size) - 0.5
    here = np.arange(size[0])[:, None, None] < counts
    values = np.where(here, centers + noise, 0.0)
    means = values.sum(axis=0) / np.maximum(counts, 1)
    squares = np.where(here, (values - means) ** 2, 0.0).sum(axis=0)
    names = np.array([f"agent {a:06}" for a in range(centers.shape[1])])
    return Moments(names, np.arange(len(centers)), counts, means, squares)


def whole(moments: Moments) -> Summaries:
    return moments.until(len(moments) - 1)


@pytest.mark.parametrize("how", ["normal", "coin"])
@pytest.mark.parametrize("each", [2, 15])
def test_without_changes_anybody_is_named_with_probability_delta_at_most(
    how: str, each: int
) -> None:
    rng = np.random.default_rng(each)
    known = Noise("sigma", 1.0) if how == "normal" else Noise("range", 0.5)
    named, named_by_estimate, n = 0, 0, 200
    for _ in range(n):
        moments = drawn(rng, np.tile(rng.normal(size=10), (5, 1)), each, how)
        named += bool(find_drifts(moments, known, delta=0.2))
        named_by_estimate += bool(find_drifts(moments, Noise.of(whole(moments)), delta=0.2))
    assert binomtest(named, n, 0.2, alternative="greater").pvalue > 1e-3
    assert binomtest(named_by_estimate, n, 0.2, alternative="greater").pvalue > 1e-3


def test_agents_that_change_are_named_with_the_moment_and_both_means() -> None:
    rng = np.random.default_rng(1)
    n, right, false, at_border = 20, 0, 0, 0
    for _ in range(n):
        truth = np.zeros((6, 20))
        truth[2:, :5] += 2.0
        found = find_drifts(moments := drawn(rng, truth, 20), Noise.of(whole(moments)))
        changed = [drift for drift in found if drift.agent < "agent 000005"]
        right += len(changed)
        false += len(found) - len(changed)
        at_border += sum(drift.when == 1 for drift in changed)
        assert all(abs(d.before) < 1 and abs(d.after - 2) < 1 for d in changed)
    assert binomtest(right, 5 * n, 0.98, alternative="less").pvalue > 1e-3
    assert binomtest(at_border, right, 0.95, alternative="less").pvalue > 1e-3
    assert binomtest(false, n, 0.05, alternative="greater").pvalue > 1e-3


def test_counts_and_means_are_those_of_all_rows_before_and_after() -> None:
    rng = np.random.default_rng(2)
    truth = np.zeros((4, 3))
    truth[1:, 1] = 9.0
    moments = drawn(rng, truth, 8)
    (found,) = find_drifts(moments, Noise("sigma", 1.0))
    n, means = moments.counts[:, 1], moments.means[:, 1]
    assert (found.agent, found.when) == ("agent 000001", 0)
    assert (found.n_before, found.n_after) == (n[0], n[1:].sum())
    assert found.before == pytest.approx(means[0])
    assert found.after == pytest.approx(np.average(means[1:], weights=n[1:]))


def by_hand(
    moments: Moments, noise: Noise, delta: float, eta: float
) -> dict[str, tuple[float, int]]:
    """Return what speaks for each drift, and when: one agent and one border at a time."""
    n_slices, n_agents = moments.counts.shape
    gamma = delta / (n_agents * (n_slices - 1))
    found: dict[str, tuple[float, int]] = {}
    for a, name in enumerate(moments.agents.tolist()):
        for k in range(1, n_slices):
            early, late = (
                whole(
                    Moments(
                        moments.agents[a : a + 1],
                        moments.ends[here],
                        moments.counts[here, a : a + 1],
                        moments.means[here, a : a + 1],
                        moments.squares[here, a : a + 1],
                    )
                )
                for here in (slice(None, k), slice(k, None))
            )
            if not len(early) or not len(late):
                continue
            counts = np.concatenate([early.counts, late.counts])
            squares = np.concatenate([early.squares, late.squares])
            (q, r), (c, d) = noise.evidence(counts, squares, gamma)
            distance = max(abs(early.means[0] - late.means[0]) - eta, 0.0)
            if separated(distance, q, math.inf, c, r, math.inf, d, -math.log(gamma)):
                strength = distance**2 / (2 * (q + r)) - c - d
                found[name] = max(found.get(name, (-math.inf, 0)), (strength, k - 1))
    return found


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 6),
    st.integers(1, 8),
    st.integers(0, 10_000),
    st.sampled_from([0.3, 4.0, 20.0]),
    st.sampled_from([0.0, 0.5]),
    st.sampled_from([0.0, 1e6]),
)
def test_all_agents_at_once_is_the_test_of_each(
    n_slices: int, n_agents: int, seed: int, each: float, eta: float, shift: float
) -> None:
    rng = np.random.default_rng(seed)
    truth = shift + rng.normal(0.0, 1.0, (n_slices, n_agents)).cumsum(axis=0)
    moments = drawn(rng, truth, each)
    expected = by_hand(moments, Noise("sigma", 1.0), 0.1, eta)
    found = [drift.agent for drift in find_drifts(moments, Noise("sigma", 1.0), delta=0.1, eta=eta)]
    assert sorted(found) == sorted(expected)
    strengths = [expected[name][0] for name in found]
    assert all(a >= b - 1e-6 * abs(a) for a, b in pairwise(strengths))


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 6), st.integers(0, 10_000), st.sampled_from([0.5, 2.0, 8.0]))
def test_squares_before_and_after_are_those_of_all_rows(
    n_slices: int, seed: int, steps: float
) -> None:
    rng = np.random.default_rng(seed)
    moments = drawn(rng, rng.normal(0.0, steps, (n_slices, 1)).cumsum(axis=0), 12)
    noise = Noise("estimated", 1.0)
    found = [drift.when for drift in find_drifts(moments, noise, delta=0.3)]
    assert found == [when for _, when in by_hand(moments, noise, 0.3, 0.0).values()]


def test_an_estimated_scale_names_no_more_than_one_agent_at_a_time_would() -> None:
    # Student's parabola is asked for by the largest offset of all agents: a little wider.
    rng = np.random.default_rng(3)
    truth = np.tile(rng.normal(size=12), (5, 1))
    truth[3:, :6] += np.linspace(0.5, 3.0, 6)
    moments = drawn(rng, truth, 25)
    noise = Noise.of(whole(moments))
    found = {drift.agent for drift in find_drifts(moments, noise)}
    assert 3 <= len(found) <= 6
    assert found <= set(by_hand(moments, noise, 0.05, 0.0))


def test_blocks_of_agents_change_nothing() -> None:
    rng = np.random.default_rng(4)
    n = 45_000
    truth = np.zeros((2, n))
    changed = [0, 19_999, 20_000, 40_001, n - 1]
    truth[1, changed] = np.array([5.0, 9.0, 7.0, 6.0, 8.0])
    found = find_drifts(drawn(rng, truth, np.full((2, n), 30)), Noise("sigma", 1.0))
    assert [int(drift.agent.split()[1]) for drift in found] == [19_999, n - 1, 20_000, 40_001, 0]


def test_who_comes_late_or_is_silent_for_a_while_is_no_drift() -> None:
    rng = np.random.default_rng(5)
    counts = np.full((6, 4), 30)
    counts[:4, 1] = 0  # comes late
    counts[1:, 2] = 0  # leaves early
    counts[3] = 0  # nobody has rows
    still = drawn(rng, np.tile([0.0, 50.0, -50.0, 3.0], (6, 1)), counts)
    assert find_drifts(still, Noise("sigma", 1.0)) == ()
    truth = np.tile([0.0, 50.0, -50.0, 3.0], (6, 1))
    truth[5, 1] = 60.0
    (found,) = find_drifts(drawn(rng, truth, counts), Noise("sigma", 1.0))
    assert (found.agent, found.when, found.n_before, found.n_after) == ("agent 000001", 4, 30, 30)


def test_too_little_to_go_by_is_no_drift() -> None:
    far = np.array([[0.0, 0.0], [1e9, 0.0]])
    single = drawn(np.random.default_rng(6), far, np.ones((2, 2), np.int64))
    assert find_drifts(single, Noise("estimated", math.nan)) == ()
    assert find_drifts(single, Noise("estimated", 1.0)) == ()
    assert len(find_drifts(single, Noise("sigma", 1.0))) == 1
    one_slice = drawn(np.random.default_rng(6), far[:1], 30)
    assert find_drifts(one_slice, Noise("sigma", 1.0)) == ()
    nobody = Moments(*(np.zeros(0),), np.arange(3), *(np.zeros((3, 0)),) * 3)  # type: ignore[arg-type]
    assert find_drifts(nobody, Noise("sigma", 1.0)) == ()


def test_changes_up_to_eta_do_not_count() -> None:
    truth = np.zeros((2, 3))
    truth[1] = [0.0, 1.0, 3.0]
    moments = drawn(np.random.default_rng(7), truth, np.full((2, 3), 400))
    assert len(find_drifts(moments, Noise("sigma", 1.0))) == 2
    assert [d.agent for d in find_drifts(moments, Noise("sigma", 1.0), eta=1.2)] == ["agent 000002"]


def classes(rng: np.random.Generator, n_slices: int, n_agents: int = 24) -> Moments:
    return drawn(rng, np.tile(4.0 * (np.arange(n_agents) % 2), (n_slices, 1)), 6)


def test_each_moment_is_estimated_as_if_it_were_then() -> None:
    moments = classes(np.random.default_rng(8), 5)
    shares: list[float] = []
    found = replay(moments, algorithm="sharp", sigma=1.0, delta=0.1, progress=shares.append)
    assert len(found) == 5
    assert shares == [0.2, 0.4, 0.6, 0.8, 1.0]
    for k in range(5):
        then = moments.until(k)
        expected = estimate(then, sigma=1.0, delta=0.1)
        here = np.isin(moments.agents, then.agents)
        np.testing.assert_array_equal(found.estimates[k, here], expected.estimates)
        np.testing.assert_array_equal(found.local[k, here], then.means)
        assert np.isnan(found.estimates[k, ~here]).all()
        assert found.n_classes[k] == len(expected.class_table)


@pytest.mark.parametrize(("n_slices", "places"), [(20, range(20)), (39, range(0, 39, 2))])
def test_at_most_twenty_moments_the_last_among_them(n_slices: int, places: range) -> None:
    found = replay(classes(np.random.default_rng(9), n_slices, 4), algorithm="local")
    assert found.ends.tolist() == list(places)


def test_with_very_many_agents_there_are_fewer_moments() -> None:
    moments = drawn(np.random.default_rng(10), np.zeros((12, 100_001)), np.ones((12, 100_001), int))
    shares: list[float] = []

    class EnoughError(Exception):
        pass

    def stop(share: float) -> None:
        shares.append(share)
        raise EnoughError

    with pytest.raises(EnoughError):
        replay(moments, algorithm="local", sigma=1.0, progress=stop)
    assert shares == [1 / 9]


def test_an_agent_without_rows_yet_has_no_estimate() -> None:
    counts = np.full((3, 5), 8)
    counts[:2, 4] = 0
    counts[0] = 0
    found = replay(drawn(np.random.default_rng(11), np.zeros((3, 5)), counts))
    assert np.isnan(found.estimates).tolist() == [[True] * 5, [False] * 4 + [True], [False] * 5]
    assert found.n_classes[0] == 0
    plain = json.loads(json.dumps(found.to_plain(), allow_nan=False))
    assert plain["estimates"][1][4] is None
    assert plain["local"][2][4] == found.local[2, 4]
    assert plain["ends"] == [0, 1, 2]


def test_early_rows_without_noise_do_not_stop_a_replay() -> None:
    moments = classes(np.random.default_rng(12), 4)
    moments.squares[0] = 0.0
    found = replay(moments)
    assert found.n_classes[0] == 0
    np.testing.assert_array_equal(found.estimates[0], found.local[0])
    moments.squares[:] = 0.0
    moments.means[:] = 1.0
    with pytest.raises(ValueError, match="cannot be estimated"):
        replay(moments)


def test_the_story_says_what_changed_and_when_estimates_settled() -> None:
    rng = np.random.default_rng(13)
    truth = np.tile(np.where(np.arange(30) < 15, 0.0, 6.0), (10, 1))
    quiet = replay(drawn(rng, truth, 80), algorithm="local")
    assert quiet.drifts == ()
    assert quiet.story[0].startswith("Seen at 10 moments from 0 to 9: ")
    assert quiet.story[1].startswith("From ")
    assert quiet.story[2:] == ("No agent is shown to have drifted.",)
    truth[6:] += 3.0
    moved = replay(drawn(rng, truth, 80), algorithm="local")
    assert len(moved.drifts) == 30
    assert moved.story[1].startswith("Estimates were still moving in the end")
    assert moved.story[2].startswith("30 of 30 agents drifted")
    assert len(moved.story) == 6
    one = replay(drawn(rng, truth[:1], 80), algorithm="local")
    assert one.story == (
        "There is one moment only, 0, with 2 classes: nothing can be said of changes.",
    )


def test_drifts_are_part_of_what_json_gets() -> None:
    truth = np.zeros((3, 4))
    truth[2, 3] = 8.0
    plain: dict[str, Any] = replay(drawn(np.random.default_rng(14), truth, 30)).to_plain()
    (found,) = json.loads(json.dumps(plain, allow_nan=False))["drifts"]
    assert (found["agent"], found["when"]) == ("agent 000003", 1)
    assert Drift(**found).after == pytest.approx(8.0, abs=1)


def test_bad_requests_are_refused() -> None:
    moments = classes(np.random.default_rng(15), 3)
    with pytest.raises(ValueError, match="delta"):
        replay(moments, delta=0.0)
    with pytest.raises(ValueError, match="unknown algorithm"):
        replay(moments, algorithm="dull")
    with pytest.raises(ValueError, match="sigma or a range"):
        replay(moments, sigma=1.0, value_range=(0.0, 1.0))
    with pytest.raises(ValueError, match="eta"):
        find_drifts(moments, Noise("sigma", 1.0), eta=-1.0)
    empty = Moments(np.array(["a"]), np.array([1]), *(np.zeros((1, 1)),) * 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no rows"):
        replay(empty)


def test_a_replay_is_as_long_as_its_moments() -> None:
    found: Replay = replay(classes(np.random.default_rng(16), 2), algorithm="local")
    assert len(found) == 2
