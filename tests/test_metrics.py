"""Metrics against slow readings of their definitions, on made-up trajectories."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colme import ALGORITHMS, Trajectory, metrics, simulate

LABELS = np.array([2, 0, 2, 1, 0])
TRUTH = np.array([0.5, 0.0, 0.5, 1.0, 0.0])


def made_up(seed: int, every: int = 1, changes: float = 0.3) -> Trajectory:
    """Return 2 runs of 12 kept times whose estimates and classes are often, not always, right."""
    rng = np.random.default_rng(seed)
    sizes = np.bincount(LABELS)
    right = np.where(np.arange(3) == LABELS[:, np.newaxis], sizes, 0)
    counts = np.tile(right, (2, 12, 1, 1))
    counts[..., 2] += rng.random((2, 12, 5)) < changes
    return Trajectory(
        estimates=TRUTH + rng.normal(0, 0.1, (2, 12, 5)),
        class_counts=counts.astype(np.int16),
        likely_counts=counts[:, ::-1].astype(np.int16),
        times=every * np.arange(1, 13),
        labels=LABELS,
        algorithm=ALGORITHMS["round-robin"],
        name="made up",
        horizon=12 * every,
        sigma=0.5,
        delta=0.1,
    )


def first_for_good(right: list[bool], times: list[int], horizon: int) -> int:
    """Return the first kept time from which everything is right."""
    for slot in range(len(right)):
        if all(right[slot:]):
            return times[slot]
    return horizon + 1


@given(st.integers(0, 500), st.sampled_from([1, 4]), st.sampled_from([0.0, 0.02, 0.3, 1.0]))
def test_identification_is_the_first_time_from_which_the_class_is_right_for_good(
    seed: int, every: int, changes: float
) -> None:
    trajectory = made_up(seed, every, changes)
    assert trajectory.class_counts is not None
    times = metrics.identification_times(trajectory)
    assert times.shape == (2, 5)
    for run, agent in np.ndindex(2, 5):
        truth = np.bincount(LABELS[LABELS[agent] == LABELS], minlength=3)
        right = [bool((c == truth).all()) for c in trajectory.class_counts[run, :, agent]]
        expected = first_for_good(right, trajectory.times.tolist(), trajectory.horizon)
        assert times[run, agent] == expected


@given(st.integers(0, 500), st.sampled_from([1, 4]), st.sampled_from([0.01, 0.15, 0.3, 9.0]))
def test_convergence_is_the_first_time_from_which_the_error_stays_small(
    seed: int, every: int, epsilon: float
) -> None:
    trajectory = made_up(seed, every)
    times = metrics.convergence_times(trajectory, TRUTH, epsilon)
    errors = metrics.errors(trajectory, TRUTH)
    for run, agent in np.ndindex(2, 5):
        right = [bool(error <= epsilon) for error in errors[run, :, agent]]
        expected = first_for_good(right, trajectory.times.tolist(), trajectory.horizon)
        assert times[run, agent] == expected


@given(st.integers(0, 500), st.sampled_from([1, 4]), st.sampled_from([0.01, 0.15, 0.3]))
def test_true_means_may_change_from_one_kept_time_to_the_next(
    seed: int, every: int, epsilon: float
) -> None:
    trajectory = made_up(seed, every)
    assert trajectory.estimates is not None
    moving = np.tile(TRUTH, (12, 1))
    moving[7:, :2] += 0.2
    errors = metrics.errors(trajectory, moving)
    times = metrics.convergence_times(trajectory, moving, epsilon)
    for run, agent in np.ndindex(2, 5):
        distances = [
            abs(trajectory.estimates[run, slot, agent] - moving[slot, agent]) for slot in range(12)
        ]
        assert errors[run, :, agent].tolist() == distances
        right = [bool(distance <= epsilon) for distance in distances]
        expected = first_for_good(right, trajectory.times.tolist(), trajectory.horizon)
        assert times[run, agent] == expected
    still = metrics.convergence_times(trajectory, np.tile(TRUTH, (12, 1)), epsilon)
    np.testing.assert_array_equal(still, metrics.convergence_times(trajectory, TRUTH, epsilon))


def test_the_true_class_may_be_given_for_each_agent() -> None:
    trajectory = made_up(0, changes=0.0)
    assert trajectory.class_counts is not None
    told = trajectory.class_counts[0, 0]
    assert (metrics.identification_times(trajectory, told) == 1).all()
    assert (metrics.identification_times(trajectory, told + 1) == 13).all()
    with pytest.raises(ValueError, match=r"\(5, 3\); received \(5,\)"):
        metrics.identification_times(trajectory, LABELS)


@given(st.integers(0, 500), st.sampled_from([1, 4]), st.sampled_from([0.0, 0.02, 0.3]))
def test_likely_identification_is_the_same_of_the_likely_class(
    seed: int, every: int, changes: float
) -> None:
    trajectory = made_up(seed, every, changes)
    likely = Trajectory(**(vars(trajectory) | {"class_counts": trajectory.likely_counts}))
    expected = metrics.identification_times(likely)
    np.testing.assert_array_equal(metrics.likely_identification_times(trajectory), expected)
    told = np.zeros((5, 3), np.int64)
    assert (metrics.likely_identification_times(trajectory, told) == 12 * every + 1).all()


def test_an_error_of_exactly_epsilon_is_small_enough() -> None:
    trajectory = simulate([[0.5], [0.5]], "local", sigma=0.5)
    assert metrics.convergence_times(trajectory, [0.25], 0.25).tolist() == [[1]]
    assert metrics.convergence_times(trajectory, [0.25], 0.2499).tolist() == [[3]]


def test_a_nan_estimate_has_not_converged() -> None:
    trajectory = made_up(1)
    assert trajectory.estimates is not None
    trajectory.estimates[0, -1, 2] = math.nan
    assert metrics.convergence_times(trajectory, TRUTH, 9.0)[0].tolist() == [1, 1, 13, 1, 1]


@given(st.integers(0, 500))
def test_precision_and_recall_count_the_classmates(seed: int) -> None:
    trajectory = made_up(seed)
    assert trajectory.class_counts is not None
    precision, recall = metrics.precision(trajectory), metrics.recall(trajectory)
    pairs = metrics.pairwise_precision(trajectory)
    assert set(pairs) == {(0, 1), (0, 2), (1, 2)}
    for run, slot, agent in np.ndindex(2, 12, 5):
        counts, own = trajectory.class_counts[run, slot, agent].tolist(), LABELS[agent]
        assert precision[run, slot, agent] == counts[own] / sum(counts)
        assert recall[run, slot, agent] == counts[own] / LABELS.tolist().count(own)
        for (i, j), values in pairs.items():
            if own in (i, j):
                place = [a for a in range(5) if LABELS[a] in (i, j)].index(agent)
                assert values[run, slot, place] == counts[own] / (counts[i] + counts[j])


def test_classes_without_agents_make_no_pair() -> None:
    trajectory = simulate([[0.0, 1.0, 0.0]], "round-robin", sigma=0.5, labels=[2, 0, 2])
    pairs = metrics.pairwise_precision(trajectory)
    assert {pair: values.tolist() for pair, values in pairs.items()} == {
        (0, 2): [[[2 / 3, 1 / 3, 2 / 3]]]
    }


@given(st.integers(0, 500))
def test_spread_is_over_agents_and_runs_with_the_population_deviation(seed: int) -> None:
    values = np.random.default_rng(seed).integers(1, 99, (3, 5))
    overall = metrics.spread(values)
    assert overall.avg == pytest.approx(values.sum() / 15)
    assert overall.std == pytest.approx(math.sqrt(((values - overall.avg) ** 2).sum() / 15))
    assert overall.max == values.max()
    by_class = metrics.spread_by_class(values, LABELS)
    assert list(by_class) == [0, 1, 2]
    assert by_class[2] == metrics.spread(values[:, [0, 2]])


@given(st.integers(0, 500))
def test_a_curve_averages_over_agents_what_is_taken_across_runs(seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(4, 6, 3))
    band = metrics.curve(values)
    for t in range(6):
        columns = [values[:, t, a] for a in range(3)]
        assert band.mean[t] == pytest.approx(sum(c.mean() for c in columns) / 3)
        assert band.std[t] == pytest.approx(
            sum(math.sqrt(((c - c.mean()) ** 2).mean()) for c in columns) / 3
        )


def test_what_was_not_recorded_is_asked_for() -> None:
    trajectory = made_up(0)
    no_estimates = Trajectory(**(vars(trajectory) | {"estimates": None}))
    no_counts = Trajectory(**(vars(trajectory) | {"class_counts": None}))
    with pytest.raises(ValueError, match=r"record=colme\.Record\(estimates=True\)"):
        metrics.errors(no_estimates, TRUTH)
    with pytest.raises(ValueError, match=r"record=colme\.Record\(estimates=True\)"):
        metrics.convergence_times(no_estimates, TRUTH, 0.1)
    for metric in (metrics.precision, metrics.recall, metrics.pairwise_precision):
        with pytest.raises(ValueError, match=r"record=colme\.Record\(class_counts=True\)"):
            metric(no_counts)
    with pytest.raises(ValueError, match=r"record=colme\.Record\(class_counts=True\)"):
        metrics.identification_times(no_counts)
    no_likely = Trajectory(**(vars(trajectory) | {"likely_counts": None}))
    with pytest.raises(ValueError, match=r"Record\(likely_counts=True\)"):
        metrics.likely_identification_times(no_likely)


@pytest.mark.parametrize("means", [0.5, [0.5], [[0.5] * 5], [[0.5] * 12] * 5, [[[0.5] * 5] * 12]])
def test_true_means_are_one_for_each_agent_or_for_each_kept_time_and_agent(means: Any) -> None:
    with pytest.raises(ValueError, match="each of the 5 agents; received shape"):
        metrics.errors(made_up(0), means)


@pytest.mark.parametrize("epsilon", [0, -0.1, math.nan])
def test_epsilon_must_be_positive(epsilon: float) -> None:
    with pytest.raises(ValueError, match=f"epsilon must be .*received {epsilon}"):
        metrics.convergence_times(made_up(0), TRUTH, epsilon)
