"""Several samples in a step: the theorems in steps, what really happens, and the worst case."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from fleets import fleet, identified, leaning, steps

from colme import Problem, lockstep, metrics, theory
from colme.theory import Situation

TESTS = ("overlap", "joint")
CROWD = Problem.gaussian([0.0, 1.0, 2.5], class_sizes=[3, 3, 1], sigma=0.5)


def crowd(test: str, batch: int, sigma: float = 0.5) -> Situation:
    return Situation(CROWD.true_means, sigma, 0.2, class_test=test, batch=batch)


@pytest.mark.parametrize("test", TESTS)
def test_needed_samples_do_not_depend_on_how_they_come(test: str) -> None:
    expected = theory.needed_samples(crowd(test, 1)).tolist()
    assert theory.needed_samples(crowd(test, 7)).tolist() == expected
    assert theory.threshold(crowd(test, 7), 50, 50) == theory.threshold(crowd(test, 1), 50, 50)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("batch", [2, 7, 10**6])
def test_times_in_steps_bring_the_samples_and_one_step_less_does_not(test: str, batch: int) -> None:
    situation, epsilon = crowd(test, batch), 0.1
    alone, sizes = situation.bound.inverse(epsilon), theory.class_sizes(situation)
    assert batch * theory.local_time(situation, epsilon) >= alone
    assert batch * (theory.local_time(situation, epsilon) - 1) < alone
    half = situation.bound.inverse(epsilon / 2)
    assert theory.model_time(situation, epsilon) == math.ceil(Fraction(half, batch))
    full = theory.full_information_times(situation, epsilon)
    oracle = theory.oracle_times(situation, epsilon)
    for size, all_heard, in_turn in zip(
        sizes.tolist(), full.tolist(), oracle.tolist(), strict=True
    ):
        assert size * batch * all_heard >= alone > size * batch * (all_heard - 1)
        held = [sum(batch * (t - l) for l in range(size)) for t in (in_turn, in_turn - 1)]
        assert held[0] >= alone > held[1] or in_turn == (size - 1) / 2


@pytest.mark.parametrize("test", TESTS)
def test_collaboration_pays_exactly_when_being_alone_takes_more_steps(test: str) -> None:
    situation = crowd(test, 7)
    fresh = theory.convergence_times(situation, 1e9)  # an accuracy that the oracle has at once
    for below, t in zip(theory.epsilon_thresholds(situation), fresh, strict=True):
        assert theory.local_time(situation, below * (1 - 1e-9)) > t
        assert theory.local_time(situation, below * (1 + 1e-9)) <= t


def test_batches_save_queries_and_cost_samples() -> None:
    zeta = [theory.identification_times(crowd("joint", m))[0] for m in (1, 2, 5, 10)]
    assert (np.diff(zeta) < 0).all()
    assert (np.diff(np.array(zeta) * (1, 2, 5, 10)) > 0).all()


def test_a_fleet_by_hand_is_lockstep_when_batches_are_of_one() -> None:
    for test in TESTS:
        situation, samples = crowd(test, 1), CROWD.draw(120, seed=3)[0]
        algorithm = fleet(situation)[0].algorithm
        trajectory = lockstep(
            samples, algorithm, bound=situation.bound, delta=0.2, labels=CROWD.labels
        )
        expected = metrics.identification_times(trajectory)[0].tolist()
        assert identified(situation, samples) == expected


def test_after_a_step_every_agent_has_a_batch_more() -> None:
    situation = crowd("joint", 5)
    agents = fleet(situation)
    for step in steps(agents, CROWD.draw(20, seed=1)[0], 5):
        assert {agent.count for agent in agents} == {5 * step}
    assert step == 4


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("batch", [3, 10])
def test_classes_are_known_well_before_the_bound(test: str, batch: int) -> None:
    situation = crowd(test, batch)
    zeta = theory.identification_times(situation)
    assert zeta.max() < 80
    draws = CROWD.draw(int(batch * (zeta.max() + 5)), 6, seed=2)
    times = np.array([identified(situation, samples) for samples in draws])
    assert (times <= zeta).all()
    assert (times.mean(axis=0) < 0.85 * zeta).all()


@pytest.mark.parametrize("test", TESTS)
def test_a_sigma_understated_breaks_the_bound(test: str) -> None:
    situation = crowd(test, 10, sigma=0.5 / 6)
    zeta = theory.identification_times(situation)
    draws = CROWD.draw(200, 3, seed=2)
    times = np.array([identified(situation, samples) for samples in draws])
    assert (times[:, 0] > zeta[0]).all()


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("batch", [1, 4, 50])
@pytest.mark.parametrize("labels", [[0] * 3 + [1] * 3, [0, 1] * 3, [0, 0, 2, 1, 1]])
def test_the_worst_that_is_allowed_is_separated_between_n_star_and_zeta(
    labels: list[int], batch: int, test: str
) -> None:
    # Means of classes 0 and 1 lean towards each other; class 2 is far away, and dropped early.
    means = np.array([0.0, 0.75, -2.0])[labels]
    situation = Situation(means, 0.5, 0.2, class_test=test, batch=batch)
    first = situation.steps(theory.needed_samples(situation))
    zeta = theory.identification_times(situation)
    toward = np.array([1.0, -1.0, 1.0])[labels]
    samples = leaning(situation, toward, int(batch * (zeta.max() + 5)))
    times = np.array(identified(situation, samples))
    assert (times >= first)[np.array(labels) < 2].all()
    assert (times <= zeta).all()


@pytest.mark.parametrize("test", TESTS)
def test_the_estimate_is_right_after_tau(test: str) -> None:
    situation, epsilon = crowd(test, 10), 0.1
    tau = theory.convergence_times(situation, epsilon)[0]
    assert tau < theory.local_time(situation, epsilon)
    last = []
    for samples in CROWD.draw(int(10 * (tau + 10)), 8, seed=5):
        agents = fleet(situation)
        wrong = [t for t in steps(agents, samples, 10) if abs(agents[0].estimate) >= epsilon]
        last.append(max(wrong, default=0))
    assert 0 < max(last) <= tau


@pytest.mark.parametrize("batch", [3, 20])
def test_samples_held_a_round_after_zeta_are_those_of_theorem_2(batch: int) -> None:
    situation = Situation([0.0] * 6 + [0.75] * 6, 0.5, 0.2, class_test="joint", batch=batch)
    fresh = theory.identification_times(situation)[0] + 5
    samples = leaning(situation, [1] * 6 + [-1] * 6, int(batch * (fresh + 10)))
    agents, size = fleet(situation), 6
    for step in steps(agents, samples, batch):
        held = sum(reply.count for reply in agents[0].snapshot().replies[:size])
        if step >= fresh:
            promised = batch * (size * step - size * (size - 1) / 2)
            assert held == promised + batch * (size - 1)  # a reply has the samples of its step
    assert step > fresh


def test_an_outsider_separated_a_round_earlier_saves_a_step_in_batches_too() -> None:
    near = Situation([0.0, 0.0, 0.75, 0.75], 0.5, 0.2, class_test="joint", batch=4)
    far = dataclasses.replace(near, true_means=[0.0, 0.0, 0.75, 40.0])
    first = int(near.steps(theory.needed_samples(near)[0]))
    assert theory.identification_times(near)[0] == first + 3
    assert theory.identification_times(far)[0] == first + 2


def test_the_paper_lets_an_outsider_dropped_by_luck_come_back_and_the_joint_test_does_not() -> None:
    # Samples within all intervals, always.  The outsider leans in, the others away from it, so that
    # it is dropped on old news; when the others lean in, after ζ, that news fits again.
    late = {}
    for test in TESTS:
        situation = Situation([0.0] * 4 + [1.0], 0.5, 0.2, class_test=test)
        zeta = int(theory.identification_times(situation)[0])
        horizon = zeta + 40
        away = leaning(situation, [-1] * 5, horizon)
        inward = leaning(situation, [1] * 4 + [-1], horizon)
        counts = np.arange(1, horizon + 1)[:, None]
        running = np.where(counts <= zeta + 5, away.cumsum(0), inward.cumsum(0)) / counts
        off = np.abs(running - situation.means)
        assert (off < situation.bound.radius(counts)).all()
        samples = np.diff(counts * running, axis=0, prepend=0.0)
        late[test] = max(identified(situation, samples)[:4]) > zeta
    assert late == {"overlap": True, "joint": False}
