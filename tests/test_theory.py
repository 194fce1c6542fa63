"""The theorems: published values, and a slow direct reading."""

import math
from bisect import bisect_left
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import lambertw

from colme import theory
from colme.bounds import separated
from colme.theory import Situation

PAPER = Situation([0.2] * 67 + [0.4] * 67 + [0.8] * 66, sigma=0.5, delta=0.001)
NEED_EPSILON = ("oracle_times", "full_information_times", "convergence_times")
EACH = [0, 67, 134]  # the first agent of each class
JOINT = Situation(PAPER.means, sigma=0.5, delta=0.001, class_test="joint")
TESTS = ("overlap", "joint")


def test_the_papers_three_classes_take_the_times_of_its_theorems() -> None:
    assert theory.class_sizes(PAPER)[EACH].tolist() == [67, 67, 66]
    assert theory.needed_samples(PAPER)[EACH].tolist() == [3680, 3680, 885]
    assert theory.identification_times(PAPER)[EACH].tolist() == [3813, 3813, 1017]
    assert theory.local_time(PAPER, 0.1) == 885
    assert theory.local_time(PAPER, 0.01) == 100217
    assert theory.oracle_times(PAPER, 0.1)[EACH].tolist() == [47, 47, 46]
    assert theory.oracle_times(PAPER, 0.01)[EACH].tolist() == [1529, 1529, 1551]
    assert theory.full_information_times(PAPER, 0.01)[EACH].tolist() == [1496, 1496, 1519]
    assert theory.convergence_times(PAPER, 0.1)[EACH].tolist() == [3813, 3813, 1017]
    assert theory.convergence_times(PAPER, 0.01)[EACH].tolist() == [3813, 3813, 1551]
    assert theory.epsilon_thresholds(PAPER)[EACH].round(4).tolist() == [0.0491, 0.0491, 0.0935]


def test_the_joint_test_takes_about_half_the_time() -> None:
    assert theory.class_sizes(JOINT)[EACH].tolist() == [67, 67, 66]
    assert theory.needed_samples(JOINT)[EACH].tolist() == [1871, 1871, 455]
    assert theory.identification_times(JOINT)[EACH].tolist() == [2004, 2004, 587]
    assert theory.local_time(JOINT, 0.01) == JOINT.bound.inverse(0.01) < 100217
    assert theory.model_time(JOINT, 0.02) == theory.local_time(JOINT, 0.01)
    oracle = theory.oracle_times(JOINT, 0.01)[EACH].tolist()
    assert theory.convergence_times(JOINT, 0.01)[EACH].tolist() == [2004 + 66, 2004 + 66, oracle[2]]
    thresholds = [JOINT.bound.radius(2004 + 66)] * 2 + [JOINT.bound.radius(587 + 65)]
    assert theory.epsilon_thresholds(JOINT)[EACH].tolist() == pytest.approx(thresholds)


def joint_threshold(situation: Situation, n_a: int, n_l: int) -> float:
    """Write Lemma J out, tuned for 1000 samples."""
    gamma = situation.delta / (8 * situation.n_agents)
    prior = 1000 / (-lambertw(-(gamma**2) / math.e, -1).real - 1)
    spread = situation.sigma**2 * ((n_a + prior) / n_a**2 + (n_l + prior) / n_l**2)
    offset = (math.log(1 + n_a / prior) + math.log(1 + n_l / prior)) / 2
    return math.sqrt(2 * spread * (math.log(1 / gamma) + offset))


@given(
    n_a=st.integers(1, 10**6),
    n_l=st.integers(1, 10**6),
    sigma=st.floats(0.01, 10),
    delta=st.floats(0.001, 0.9),
    n_agents=st.integers(1, 300),
)
def test_the_joint_threshold_is_where_the_test_of_a_pair_changes_its_mind(
    n_a: int, n_l: int, sigma: float, delta: float, n_agents: int
) -> None:
    situation = Situation([0.0] * n_agents, sigma, delta, class_test="joint")
    bound, distance = situation.bound, theory.threshold(situation, n_a, n_l)
    assert distance == pytest.approx(joint_threshold(situation, n_a, n_l), rel=1e-9)
    evidence = (*bound.shape(n_a), *bound.shape(n_l), -math.log(bound.gamma))
    assert separated(distance * (1 + 1e-9), *evidence)
    assert not separated(distance * (1 - 1e-9), *evidence)


@pytest.mark.parametrize("test", TESTS)
def test_a_threshold_falls_with_both_counts_together_and_needs_both(test: str) -> None:
    situation = Situation([0.0, 1.0], 0.5, 0.9, class_test=test)
    even = [theory.threshold(situation, n, n) for n in [*range(1, 3000), 10**6, 10**9, 10**12]]
    assert (np.diff(even) < 0).all()
    assert theory.threshold(situation, 5, 0) == theory.threshold(situation, 0, 5) == math.inf
    assert theory.threshold(situation, 5, 9) == theory.threshold(situation, 9, 5)


def test_the_joint_threshold_rises_when_one_count_leaves_the_other_far_behind() -> None:
    # Hence Theorem J looks at the moments when a peer is heard, with as many samples as oneself.
    far = [theory.threshold(JOINT, 100 * ratio, 100) for ratio in (1, 10, 1000, 10**6)]
    assert far[0] > far[1] < far[2] < far[3]


@pytest.mark.parametrize("margin", [0.2, 0.4, 0.6, 3.0])
@pytest.mark.parametrize("eta", [0.0, 0.1])
def test_needed_samples_of_the_joint_test_are_found_by_counting(margin: float, eta: float) -> None:
    situation = Situation([0.0, eta + margin], 0.5, 0.001, eta, "joint")
    expected = next(n for n in count(1) if 2 * joint_threshold(situation, n, n) < margin)
    assert theory.needed_samples(situation).tolist() == [expected, expected]


def slow(situation: Situation, epsilon: float) -> dict[str, list[Any]]:
    """Read Definitions 2, 6, 8, 10 and Theorems 1 to 4 and J agent by agent, pair by pair."""
    batch = situation.batch
    joint, radius = situation.class_test != PAPER.class_test, situation.bound.radius

    def inverse(x: float) -> int:
        return situation.bound.inverse(x)

    def separated(margin: float) -> int:
        if not joint:
            return inverse(margin / 4)
        counts = range(1, 10**9)
        return 1 + bisect_left(
            counts, True, key=lambda n: joint_threshold(situation, n, n) < margin / 2
        )

    means, eta, n_agents = situation.means.tolist(), situation.eta, situation.n_agents
    rows: dict[str, list[Any]] = {}
    for a in range(n_agents):
        gaps = [abs(means[a] - means[l]) for l in range(n_agents)]
        outside = [l for l in range(n_agents) if gaps[l] > eta]
        size = n_agents - len(outside)
        n_star = zeta = 0
        if outside:
            n_star = separated(min(gaps[l] for l in outside) - eta)
            first = math.ceil(Fraction(n_star, batch))
            steps = [math.ceil(Fraction(separated(gaps[l] - eta), batch)) for l in outside]
            zeta = first + n_agents - 1 - sum(first > step + n_agents - 1 for step in steps)
        fresh = zeta + size - 1 if joint and outside else zeta
        alone = Fraction(inverse(epsilon), batch)
        if eta > 0:
            oracle, full = math.ceil(alone) + size - 1, math.ceil(alone)
        else:
            oracle = math.ceil(alone / size + Fraction(size - 1, 2))
            full = math.ceil(alone / size)
        row = {
            "class_sizes": size,
            "needed_samples": n_star,
            "identification_times": zeta,
            "oracle_times": oracle,
            "full_information_times": full,
            "convergence_times": max(fresh, oracle),
            "epsilon_thresholds": radius(batch * fresh),
        }
        for name, value in row.items():
            rows.setdefault(name, []).append(value)
    return rows


# Multiples of 1/64, so that gaps and tolerances compare exactly.
exact_means = st.lists(st.integers(0, 64).map(lambda k: k / 64), min_size=1, max_size=25)
FINE = [k / 64 for k in range(25)]


@given(
    means=exact_means,
    eta=st.sampled_from([0.0, 1 / 64, 0.25, 2.0]),
    sigma=st.floats(0.005, 1),
    delta=st.floats(0.001, 0.5),
    epsilon=st.floats(0.01, 1),
    test=st.sampled_from(TESTS),
    batch=st.sampled_from([1, 2, 7, 1000]),
)
@example(means=[0.5], eta=0.0, sigma=0.5, delta=0.1, epsilon=0.1, test="overlap", batch=1)
@example(means=[0.5] * 9, eta=0.0, sigma=0.5, delta=0.1, epsilon=0.1, test="overlap", batch=1)
@example(means=[0.5] * 9, eta=0.0, sigma=0.5, delta=0.1, epsilon=0.1, test="joint", batch=1)
@example(
    means=[0, 0.25, 0.5, 1], eta=0.25, sigma=0.5, delta=0.1, epsilon=0.1, test="overlap", batch=1
)
@example(
    means=[0, 0.25, 0.5, 1], eta=0.25, sigma=0.5, delta=0.1, epsilon=0.1, test="joint", batch=1
)
@example(means=FINE, eta=0.0, sigma=0.5, delta=0.1, epsilon=0.1, test="overlap", batch=1)
@example(means=FINE, eta=0.0, sigma=0.5, delta=0.1, epsilon=0.1, test="joint", batch=1)
@example(means=FINE, eta=0.0, sigma=0.5, delta=0.1, epsilon=0.1, test="joint", batch=7)
def test_theory_is_the_slow_reading_of_the_theorems(
    means: list[float],
    eta: float,
    sigma: float,
    delta: float,
    epsilon: float,
    test: str,
    batch: int,
) -> None:
    situation = Situation(means, sigma, delta, eta, test, batch)
    for name, expected in slow(situation, epsilon).items():
        accuracy = [epsilon] if name in NEED_EPSILON else []
        result = getattr(theory, name)(situation, *accuracy)
        np.testing.assert_allclose(result, expected, rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("lead", [1, 2, 3, 4])
def test_an_outsider_saves_a_step_only_if_separated_more_than_a_round_earlier(lead: int) -> None:
    bound = Situation([0.0] * 3, 0.5, 0.1).bound
    n_star = bound.inverse(0.05)
    farther = 2 * (bound.radius(n_star - lead) + bound.radius(n_star - lead - 1))
    situation = Situation([0.0, -0.2, farther], 0.5, 0.1)
    assert bound.inverse(farther / 4) == n_star - lead
    expected = slow(situation, 0.1)["identification_times"]
    assert theory.identification_times(situation).tolist() == expected
    assert expected[0] == n_star + 2 - (lead > 2)


@pytest.mark.parametrize("test", TESTS)
def test_who_shares_the_mean_of_all_identifies_at_once_and_always_gains(test: str) -> None:
    for means in ([0.5], [0.5] * 4):
        situation = Situation(means, 0.5, 0.1, class_test=test)
        assert not theory.needed_samples(situation).any()
        assert not theory.identification_times(situation).any()
        assert np.isinf(theory.epsilon_thresholds(situation)).all()


@pytest.mark.parametrize("means", [[0.3, 0.4], [0.7, 0.8], [0.6, 0.7]])
def test_two_agents_agree_whether_their_gap_is_within_eta(means: list[float]) -> None:
    situation = Situation(means, 0.5, 0.1, eta=0.1)
    assert len(set(theory.class_sizes(situation))) == 1
    assert len(set(theory.identification_times(situation))) == 1


@pytest.mark.parametrize("test", TESTS)
def test_tiny_gaps_have_huge_times(test: str) -> None:
    situation = Situation([0.5, 0.5 + 1e-10], 0.5, 0.1, class_test=test)
    assert (theory.identification_times(situation) > 10**18).all()


def test_model_time_is_when_two_radii_fit() -> None:
    for situation in (PAPER, JOINT):
        n = theory.model_time(situation, 0.1)
        assert 2 * situation.bound.radius(n) < 0.1 <= 2 * situation.bound.radius(n - 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"true_means": []}, r"at least one; received .*\[\]"),
        ({"true_means": 0.5}, "list of finite numbers.*received .*0.5"),
        ({"true_means": [0.5, math.nan]}, "finite numbers.*received .*nan"),
        ({"sigma": 0}, "sigma must be greater than 0; received 0"),
        ({"sigma": math.inf}, "sigma must be a finite number; received inf"),
        ({"delta": 1}, r"delta .* in \(0, 1\); received 1"),
        ({"eta": -0.5}, "eta must be 0 or greater; received -0.5"),
        ({"eta": math.nan}, "eta must be a finite number; received nan"),
        ({"batch": 0}, "batch must be at least 1; received 0"),
        ({"batch": 2.5}, "batch must be a whole number; received 2.5"),
        ({"batch": 10**10}, "batch must be at most 1000000000; received 10000000000"),
        ({"class_test": "known"}, "one of overlap, joint, paired, since .*; received 'known'"),
        ({"class_test": "magic"}, "ClassTest must be one of .*; received 'magic'"),
    ],
)
def test_an_impossible_situation_is_refused(changes: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"true_means": [0.2, 0.8], "sigma": 0.5, "delta": 0.1}
    with pytest.raises(ValueError, match=message):
        Situation(**(good | changes))


@pytest.mark.parametrize("epsilon", [0, -1, math.nan])
def test_epsilon_must_be_positive(epsilon: float) -> None:
    for name in ("local_time", "model_time", *NEED_EPSILON):
        with pytest.raises(ValueError, match=f"epsilon must be .*received {epsilon}"):
            getattr(theory, name)(PAPER, epsilon)
