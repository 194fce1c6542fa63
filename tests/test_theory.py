"""The theorems: published values, a slow direct reading, and what really happens."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binomtest

from colme import Problem, metrics, simulate, theory
from colme.theory import Situation

PAPER = Situation([0.2] * 67 + [0.4] * 67 + [0.8] * 66, sigma=0.5, delta=0.001)
NEED_EPSILON = ("oracle_times", "full_information_times", "convergence_times")
EACH = [0, 67, 134]  # the first agent of each class


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


def slow(situation: Situation, epsilon: float) -> dict[str, list[Any]]:
    """Read Definitions 2, 6, 8, 10 and Theorems 1 to 4 agent by agent, pair by pair."""
    inverse, radius = situation.bound.inverse, situation.bound.radius
    means, eta, n_agents = situation.means.tolist(), situation.eta, situation.n_agents
    rows: dict[str, list[Any]] = {}
    for a in range(n_agents):
        gaps = [abs(means[a] - means[l]) for l in range(n_agents)]
        outside = [l for l in range(n_agents) if gaps[l] > eta]
        size = n_agents - len(outside)
        n_star = zeta = 0
        if outside:
            n_star = inverse((min(gaps[l] for l in outside) - eta) / 4)
            early = [l for l in outside if n_star > inverse((gaps[l] - eta) / 4) + n_agents - 1]
            zeta = n_star + n_agents - 1 - len(early)
        alone = inverse(epsilon)
        if eta > 0:
            oracle, full = alone + size - 1, alone
        else:
            oracle = math.ceil(Fraction(alone, size) + Fraction(size - 1, 2))
            full = math.ceil(Fraction(alone, size))
        row = {
            "class_sizes": size,
            "needed_samples": n_star,
            "identification_times": zeta,
            "oracle_times": oracle,
            "full_information_times": full,
            "convergence_times": max(zeta, oracle),
            "epsilon_thresholds": radius(zeta),
        }
        for name, value in row.items():
            rows.setdefault(name, []).append(value)
    return rows


# Multiples of 1/64, so that gaps and tolerances compare exactly.
exact_means = st.lists(st.integers(0, 64).map(lambda k: k / 64), min_size=1, max_size=25)


@given(
    means=exact_means,
    eta=st.sampled_from([0.0, 1 / 64, 0.25, 2.0]),
    sigma=st.floats(0.005, 1),
    delta=st.floats(0.001, 0.5),
    epsilon=st.floats(0.01, 1),
)
@example(means=[0.5], eta=0.0, sigma=0.5, delta=0.1, epsilon=0.1)
@example(means=[0.5] * 9, eta=0.0, sigma=0.5, delta=0.1, epsilon=0.1)
@example(means=[0, 0.25, 0.5, 1], eta=0.25, sigma=0.5, delta=0.1, epsilon=0.1)
@example(means=[k / 64 for k in range(25)], eta=0.0, sigma=0.5, delta=0.1, epsilon=0.1)
def test_theory_is_the_slow_reading_of_the_theorems(
    means: list[float], eta: float, sigma: float, delta: float, epsilon: float
) -> None:
    situation = Situation(means, sigma, delta, eta)
    for name, expected in slow(situation, epsilon).items():
        accuracy = [epsilon] if name in NEED_EPSILON else []
        result = getattr(theory, name)(situation, *accuracy)
        np.testing.assert_allclose(result, expected, rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("lead", [1, 2, 3, 4])
def test_an_outsider_saves_a_step_only_if_told_apart_more_than_a_round_earlier(lead: int) -> None:
    bound = Situation([0.0] * 3, 0.5, 0.1).bound
    n_star = bound.inverse(0.05)
    farther = 2 * (bound.radius(n_star - lead) + bound.radius(n_star - lead - 1))
    situation = Situation([0.0, -0.2, farther], 0.5, 0.1)
    assert bound.inverse(farther / 4) == n_star - lead
    expected = slow(situation, 0.1)["identification_times"]
    assert theory.identification_times(situation).tolist() == expected
    assert expected[0] == n_star + 2 - (lead > 2)


def test_who_shares_the_mean_of_all_identifies_at_once_and_always_gains() -> None:
    for means in ([0.5], [0.5] * 4):
        situation = Situation(means, 0.5, 0.1)
        assert not theory.needed_samples(situation).any()
        assert not theory.identification_times(situation).any()
        assert np.isinf(theory.epsilon_thresholds(situation)).all()


@pytest.mark.parametrize("means", [[0.3, 0.4], [0.7, 0.8], [0.6, 0.7]])
def test_two_agents_agree_whether_their_gap_is_within_eta(means: list[float]) -> None:
    situation = Situation(means, 0.5, 0.1, eta=0.1)
    assert len(set(theory.class_sizes(situation))) == 1
    assert len(set(theory.identification_times(situation))) == 1


def test_tiny_gaps_have_huge_times() -> None:
    situation = Situation([0.5, 0.5 + 1e-10], 0.5, 0.1)
    assert (theory.identification_times(situation) > 10**18).all()


# Two classes of four and a class of one, sure to be told apart within a few hundred steps.
CROWD = Problem.gaussian([0.0, 1.0, 2.5], class_sizes=[4, 4, 1], sigma=0.5)
RUNS, DELTA, EPSILON = 400, 0.2, 0.15


def violations(sigma: float, agent: int) -> tuple[int, int]:
    """Return in how many runs the agent breaks Theorem 1 and Theorem 2, if σ is as claimed."""
    situation = Situation(CROWD.true_means, sigma, DELTA)
    zeta = theory.identification_times(situation)[agent]
    tau = theory.convergence_times(situation, EPSILON)[agent]
    samples = CROWD.draw(400, RUNS, seed=11)
    assert tau < 200
    trajectory = simulate(
        samples, "restricted-round-robin", sigma=sigma, delta=DELTA, labels=CROWD.labels
    )
    identified = metrics.identification_times(trajectory)[:, agent]
    converged = metrics.convergence_times(trajectory, CROWD.true_means, EPSILON)[:, agent]
    return int((identified > zeta + 1).sum()), int((converged > tau + 1).sum())


def p_value(n_wrong: int, risk: float) -> float:
    return float(binomtest(n_wrong, RUNS, risk, "greater").pvalue)


@pytest.mark.parametrize("agent", [0, 5, 8])
def test_theorems_1_and_2_hold(agent: int) -> None:
    wrong_class, wrong_mean = violations(0.5, agent)
    assert p_value(wrong_class, DELTA / 8) > 1e-4
    assert p_value(wrong_mean, DELTA / 4) > 1e-4


def test_a_sigma_understated_breaks_theorems_1_and_2() -> None:
    wrong_class, wrong_mean = violations(0.5 / 6, agent=0)
    assert p_value(wrong_class, DELTA / 8) < 1e-4
    assert p_value(wrong_mean, DELTA / 4) < 1e-4


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
    ],
)
def test_an_impossible_situation_is_refused(changes: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"true_means": [0.2, 0.8], "sigma": 0.5, "delta": 0.1}
    with pytest.raises(ValueError, match=message):
        Situation(**(good | changes))


@pytest.mark.parametrize("epsilon", [0, -1, math.nan])
def test_epsilon_must_be_positive(epsilon: float) -> None:
    for name in ("local_time", *NEED_EPSILON):
        with pytest.raises(ValueError, match=f"epsilon must be .*received {epsilon}"):
            getattr(theory, name)(PAPER, epsilon)
