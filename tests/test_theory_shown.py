"""Peers pooled only once shown to be near: Theorem S, read slowly, lived through, and pushed."""

import math
from bisect import bisect_left
from itertools import pairwise

import numpy as np
import pytest
from fleets import leaning, p_value, shown
from hypothesis import example, given
from hypothesis import strategies as st

from colme import Problem, theory
from colme.bounds import separated
from colme.theory import Situation

TESTS = ("overlap", "joint")


def slow(situation: Situation, gap: float) -> list[int]:
    """Read Theorem S agent by agent, pair by pair."""
    n_agents, means = situation.n_agents, situation.means.tolist()

    def first_step(margin: float) -> int:
        counts = range(1, 10**9)
        n = bisect_left(counts, True, key=lambda n: 2 * theory.threshold(situation, n, n) < margin)
        return math.ceil((1 + n) / situation.batch)

    times = []
    for own in means:
        gaps = [abs(own - mean) for mean in means]
        outside = [far for far in gaps if far > situation.eta]
        start = first_step(gap - situation.eta)
        early = [far for far in outside if start > first_step(far - situation.eta) + n_agents - 1]
        counted = len(early) if situation.class_test == 2 else 0
        alone = len(outside) == n_agents - 1
        times.append(0 if alone else start + n_agents - 1 - counted)
    return times


@given(
    means=st.lists(st.integers(0, 64).map(lambda k: k / 64), min_size=1, max_size=12),
    eta=st.sampled_from([0.0, 1 / 64, 0.25]),
    beyond=st.sampled_from([1 / 64, 0.125, 1.0, 8.0]),
    sigma=st.floats(0.005, 1),
    delta=st.floats(0.001, 0.5),
    test=st.sampled_from(TESTS),
    batch=st.sampled_from([1, 3, 50]),
)
@example([0, 0, 0.5, 1], 0.0, 1 / 64, 0.5, 0.1, "joint", 1)
@example([0, 0, 0.5, 1], 0.0, 1 / 64, 0.5, 0.1, "overlap", 3)
@example([0, 0.25, 0.5, 1], 0.25, 1 / 64, 0.5, 0.1, "joint", 50)
def test_shown_times_are_the_slow_reading_of_theorem_s(
    means: list[float],
    eta: float,
    beyond: float,
    sigma: float,
    delta: float,
    test: str,
    batch: int,
) -> None:
    situation = Situation(means, sigma, delta, eta, test, batch)
    assert theory.shown_times(situation, eta + beyond).tolist() == slow(situation, eta + beyond)


def test_to_show_the_gap_takes_as_long_as_to_know_the_class() -> None:
    for test in TESTS:
        situation = Situation([0.0] * 4 + [0.5] * 4, 0.5, 0.1, class_test=test)
        zeta = theory.identification_times(situation).tolist()
        assert theory.shown_times(situation, 0.5).tolist() == zeta
        times = [theory.shown_times(situation, gap)[0] for gap in (0.2, 0.4, 0.5, 0.8, 5.0)]
        assert all(before > after for before, after in pairwise(times))


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("gap", [0.4, 0.8])
@pytest.mark.parametrize("batch", [1, 6])
def test_the_worst_that_is_allowed_is_shown_after_n_samples_and_before_the_bound(
    test: str, gap: float, batch: int
) -> None:
    # Classmates lean away from each other; two outsiders are far, and dropped early if for good.
    situation = Situation([0.0] * 5 + [30.0] * 2, 0.5, 0.2, class_test=test, batch=batch)
    bound = theory.shown_times(situation, gap)[0]
    start = next(
        n for n in range(1, 9999) if 2 * theory.threshold(situation, batch * n, batch * n) < gap
    )
    samples = leaning(situation, [1, -1, -1, -1, -1, 0, 0], int(batch * bound))
    times = shown(situation, samples, gap)
    assert all(start <= time < bound for time in times[:4])
    assert times[4:] == [math.inf] * 2
    assert max(times[:4]) > start  # whoever is asked late is shown late


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("batch", [1, 10])
def test_classmates_are_shown_well_before_the_bound_and_nobody_else_is(
    test: str, batch: int
) -> None:
    problem = Problem.gaussian([0.0, 1.0], class_sizes=[4, 3], sigma=0.5)
    situation = Situation(problem.true_means, 0.5, 0.2, class_test=test, batch=batch)
    bound = theory.shown_times(situation, 1.0)[0]
    draws = problem.draw(int(batch * (bound + 20)), 5, seed=4)
    times = np.array([shown(situation, samples, 1.0) for samples in draws])
    assert (times[:, :3] < 0.8 * bound).all()
    assert np.isinf(times[:, 3:]).all()


def n_wrongly_shown(test: str, share: float) -> int:
    """Return how many of 4000 pairs exactly a gap apart are shown with that share of the threshold.

    An agent hears of its peer when the difference it hopes for shows: counts grow apart by chance.
    """
    horizon, pairs, gap = 300, 4000, 0.7
    situation = Situation([0.0, gap], 1.0, 0.9, class_test=test)
    own, peer = np.random.default_rng(6).normal([[[0.0]], [[gap]]], 1.0, (2, horizon, pairs))
    n_own = np.arange(1, horizon + 1)[:, None]
    own_mean, peer_mean = own.cumsum(0) / n_own, peer.cumsum(0) / n_own
    n_heard = np.maximum.accumulate(np.where(own > 0.5, n_own, 0), axis=0)
    heard_mean = np.take_along_axis(peer_mean, np.maximum(n_heard - 1, 0), axis=0)
    allowed = np.full((horizon, horizon + 1), np.inf)
    for n_a in range(1, horizon + 1):
        for n_l in range(1, n_a + 1):
            allowed[n_a - 1, n_l] = theory.threshold(situation, n_a, n_l)
    limits = np.take_along_axis(allowed, n_heard, axis=1)
    near = np.abs(heard_mean - own_mean) + share * limits <= gap
    return int(near.any(axis=0).sum())


@pytest.mark.parametrize("test", TESTS)
def test_a_peer_a_gap_away_is_hardly_ever_shown(test: str) -> None:
    risk = 0.9 / 16 * (2 if test == "overlap" else 1)  # two intervals, or one pair
    assert p_value(n_wrongly_shown(test, 1.0), risk, 4000) > 1e-4


@pytest.mark.parametrize("test", TESTS)
def test_a_smaller_threshold_shows_peers_a_gap_away(test: str) -> None:
    assert p_value(n_wrongly_shown(test, 0.4), 0.9 / 8, 4000) < 1e-4


@given(
    n_l=st.integers(1, 10**6),
    more=st.integers(0, 10**6),
    delta=st.floats(0.001, 0.999),
    test=st.sampled_from(TESTS),
)
@example(n_l=1, more=10**6, delta=0.999, test="joint")
def test_news_older_than_ones_own_samples_never_lowers_the_threshold(
    n_l: int, more: int, delta: float, test: str
) -> None:
    # Hence nobody at all is shown, and the agent is alone, while thr(n_a, n_a) is above the gap.
    situation = Situation([0.0], 0.5, delta, class_test=test)
    stale = theory.threshold(situation, n_l + more, n_l)
    assert stale >= theory.threshold(situation, n_l + more, n_l + more) * (1 - 1e-12)


@given(
    share=st.floats(-1, 1),
    gap=st.floats(0.01, 3),
    n_a=st.integers(1, 5000),
    n_l=st.integers(1, 5000),
)
def test_to_show_a_peer_is_to_separate_it_from_all_that_are_a_gap_away(
    share: float, gap: float, n_a: int, n_l: int
) -> None:
    situation = Situation([0.0, 1.0], 0.5, 0.1, class_test="joint")
    bound, far = situation.bound, share * gap
    evidence = (*bound.shape(n_a), *bound.shape(n_l), -math.log(bound.gamma))
    slack = gap - abs(far) - theory.threshold(situation, n_a, n_l)
    if abs(slack) > 1e-9:
        assert separated(gap - abs(far), *evidence) == (slack > 0)
        # Against every difference d at least a gap away, on either side, the evidence suffices.
        both = [separated(abs(far - d), *evidence) for d in (gap, -gap, 1.5 * gap, -9 * gap)]
        assert all(both) == (slack > 0)


@pytest.mark.parametrize("test", TESTS)
def test_who_has_no_classmates_waits_for_nobody(test: str) -> None:
    situation = Situation([0.0, 0.0, 5.0], 0.5, 0.1, class_test=test)
    assert theory.shown_times(situation, 0.5)[2] == 0
    assert theory.shown_times(Situation([0.5], 0.5, 0.1), 0.5).tolist() == [0]


@pytest.mark.parametrize(
    ("gap", "message"),
    [
        (0, "gap must be greater than 0; received 0"),
        (math.nan, "gap must be a finite number; received nan"),
        (0.25, "gap must be larger than eta = 0.25, .*; received 0.25"),
    ],
)
def test_a_gap_that_classmates_may_reach_is_refused(gap: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        theory.shown_times(Situation([0.0, 0.1], 0.5, 0.1, eta=0.25), gap)
