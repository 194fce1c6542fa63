"""Means that change: every sample has the mean of the step at which it arrives."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from noises import skewed
from numpy.typing import NDArray

from colme import Arrivals, Change, Problem
from colme.noise import Bernoulli, Beta, Custom, Gaussian, NoiseLaw, Uniform
from colme.problem.changes import check_changes, cohorts_of, mean_shifts, means_at

CHANGES = st.lists(
    st.builds(
        Change,
        st.integers(1, 8),
        st.sets(st.integers(0, 3), min_size=1),
        st.sampled_from([0.1, 0.5, 0.9]),
    ),
    max_size=5,
    unique_by=lambda change: change.time,
)


def means_one_by_one(
    means: NDArray[np.float64], changes: list[Change], horizon: int
) -> NDArray[np.float64]:
    table = np.empty((horizon, means.size))
    now = means.copy()
    for t in range(1, horizon + 1):
        for change in changes:
            if change.time == t:
                now[list(change.agents)] = change.mean
        table[t - 1] = now
    return table


def means_of_samples(
    start: NDArray[np.float64],
    changes: Iterable[Change],
    length: int,
    arrivals: NDArray[np.int32] | None = None,
) -> NDArray[np.float64]:
    """Return the mean of every sample of every stream, [sample, agent]."""
    means = np.tile(start, (length, 1))
    for shift in mean_shifts(changes, arrivals=arrivals):
        means[shift.sample :, shift.agent] = shift.mean
    return means


@given(CHANGES)
def test_means_at_any_step_are_those_left_by_the_changes_so_far(changes: list[Change]) -> None:
    start = np.array([0.0, 0.2, 0.4, 0.6])
    table = means_one_by_one(start, changes, 9)
    problem = Problem([0, 0, 1, 1], start, Bernoulli(), changes)
    assert (problem.true_means_at(range(1, 10)) == table).all()
    assert (problem.true_means_at([7, 2]) == table[[6, 1]]).all()
    assert (means_of_samples(start, problem.changes, 9) == table).all()


@given(CHANGES, st.integers(0, 50))
def test_a_sample_has_the_mean_of_the_step_at_which_it_arrives(
    changes: list[Change], seed: int
) -> None:
    start = np.array([0.0, 0.2, 0.4, 0.6])
    table = means_one_by_one(start, changes, 9)
    arrivals = Arrivals(1.3, "poisson").draw(9, 4, seed=seed)[0]
    length = int(arrivals.sum(axis=0).max())
    means = means_of_samples(start, check_changes(changes, 4), length, arrivals)
    for a in range(4):
        arrived = np.repeat(table[:, a], arrivals[:, a])
        assert (means[: arrived.size, a] == arrived).all()
        assert (means[arrived.size :, a] == table[-1, a]).all()


NOISES = [Gaussian(0.1), Bernoulli(), Uniform(0.3), Beta(3.0), Custom(skewed, 2.0)]


@pytest.mark.parametrize("noise", NOISES, ids=lambda n: type(n).__name__)
def test_streams_take_the_new_mean_from_the_step_of_the_change(noise: NoiseLaw) -> None:
    problem = Problem([0, 0], [0.2, 0.2], noise, [Change(4001, [1], 0.9), Change(8001, [1], 0.5)])
    samples = problem.draw(12_000, seed=3)[0]
    thirds = samples.reshape(3, 4000, 2).mean(axis=1)
    assert abs(thirds - [[0.2, 0.2], [0.2, 0.9], [0.2, 0.5]]).max() < 5 / math.sqrt(4000)


def test_the_sample_of_the_step_of_a_change_already_has_the_new_mean() -> None:
    problem = Problem([0, 0], [0.0, 0.0], Bernoulli(), [Change(3, [1], 1.0)])
    assert problem.draw(5)[0].tolist() == [[0, 0], [0, 0], [0, 1], [0, 1], [0, 1]]
    arrivals = [[0, 2], [1, 3], [0, 1], [1, 0], [0, 0]]
    drawn = problem.draw(5, arrivals=arrivals)[0]
    assert drawn[:, 1].tolist() == [0, 0, 0, 0, 0, 1]
    assert drawn.shape == (6, 2)


@pytest.mark.parametrize("noise", NOISES[:4], ids=lambda n: type(n).__name__)
def test_what_does_not_change_is_bit_for_bit_the_same(noise: NoiseLaw) -> None:
    usual = Problem([0, 1, 1], [0.2, 0.8, 0.8], noise)
    moved = usual.changing([Change(4, [2], 0.2)])
    before, after = usual.draw(9, runs=2, seed=5), moved.draw(9, runs=2, seed=5)
    assert (before[:, :3] == after[:, :3]).all()
    assert (before[:, 3:] != after[:, 3:]).any()
    if not isinstance(noise, Beta):  # a beta sample takes as many random numbers as it needs
        assert (before[:, :, :2] == after[:, :, :2]).all()


def test_a_sampler_is_called_once_for_each_stretch_of_constant_means() -> None:
    calls: list[tuple[list[float], int]] = []

    def sampler(
        rng: np.random.Generator, means: NDArray[np.float64], horizon: int
    ) -> NDArray[np.float64]:
        calls.append((means.tolist(), horizon))
        return np.tile(means, (horizon, 1))

    problem = Problem([0, 0], [1.0, 1.0], Custom(sampler, 1.0))
    problem.draw(9)
    assert calls == [([1.0, 1.0], 9)]
    calls.clear()
    moved = problem.changing([Change(3, [0], 2.0), Change(8, [0, 1], 5.0)])
    assert (moved.draw(9)[0] == moved.true_means_at(range(1, 10))).all()
    assert calls == [([1.0, 1.0], 2), ([2.0, 1.0], 5), ([5.0, 5.0], 2)]


def test_cohorts_are_labels_until_something_changes() -> None:
    problem = Problem([2, 0, 2, 2], [0.5, 0.1, 0.5, 0.5], Bernoulli())
    assert problem.cohorts.tolist() == [2, 0, 2, 2]
    moved = problem.changing([Change(5, [0, 1], 0.9)]).changing([Change(9, [3], 0.9)])
    assert moved.cohorts.tolist() == [4, 3, 2, 5]
    together = problem.changing([Change(5, [0], 0.9), Change(5, [3], 0.9)])
    assert together.cohorts.tolist() == [3, 0, 2, 3]


@given(st.lists(st.integers(0, 2), min_size=4, max_size=4), CHANGES)
def test_agents_of_a_cohort_share_label_and_mean_at_every_step(
    labels: list[int], changes: list[Change]
) -> None:
    means = np.array([0.2, 0.4, 0.6])[labels]
    problem = Problem(labels, means, Bernoulli(), changes)
    table = problem.true_means_at(range(1, 10))
    for cohort in np.unique(problem.cohorts):
        who = problem.cohorts == cohort
        assert np.unique(problem.labels[who]).size == 1
        assert (table[:, who] == table[:, who][:, :1]).all()
    fates = {
        (label, tuple((c.time, c.mean) for c in problem.changes if a in c.agents))
        for a, label in enumerate(labels)
    }
    assert np.unique(problem.cohorts).size == len(fates)


def test_a_share_of_a_class_moves_to_the_mean_of_another() -> None:
    problem = Problem.gaussian([0.1, 0.7], class_sizes=[7, 3], sigma=0.5)
    moved = problem.moving(0, to=1, share=0.4, time=20, seed=2)
    before, after = moved.true_means_at([19, 20])
    assert (before == problem.true_means).all()
    assert (after[:7] == 0.7).sum() == 3  # of 2.8
    assert (after[7:] == 0.7).all()
    assert moved.moving(1, to=0, share=1, time=20).true_means_at([20])[0, 7:].tolist() == [0.1] * 3
    assert problem.moving(0, to=1, share=0.0, time=20).changes == ()


def test_who_moves_is_drawn_from_the_seed_among_those_still_there() -> None:
    problem = Problem.gaussian([0.1, 0.7], class_sizes=[40, 3], sigma=0.5)
    (one,) = problem.moving(0, to=1, share=0.5, time=20, seed=2).changes
    assert problem.moving(0, to=1, share=0.5, time=20, seed=2).changes == (one,)
    assert problem.moving(0, to=1, share=0.5, time=20, seed=3).changes != (one,)
    assert one.agents != tuple(range(20))
    first, second = (
        problem.moving(0, 1, 0.5, time=20, seed=2).moving(0, 1, 0.5, time=30, seed=2).changes
    )
    assert sorted(first.agents + second.agents) == list(range(40))


def test_biased_classes_are_moved_to_at_their_average() -> None:
    problem = Problem.gaussian([0.0, 1.0], class_sizes=[1, 2], sigma=0.5, bias=[0.0, 0.25, -0.5])
    assert problem.moving(0, to=1, share=1, time=2).changes == (Change(2, [0], 0.875),)


def test_changes_are_kept_in_order_of_time() -> None:
    later, sooner = Change(9, [1, 0], 0.5), Change(4, [0], 0.1)
    problem = Problem([0, 0], [0.2, 0.2], Bernoulli(), [later, sooner])
    assert problem.changes == (sooner, later)
    assert later.agents == (0, 1)
    assert len({later, Change(9, np.array([0, 1]), 0.5)}) == 1
    assert means_at(problem.true_means, problem.changes, [9]).tolist() == [[0.5, 0.5]]
    assert cohorts_of(problem.labels, problem.changes).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, [0], 0.5), "time must be at least 1; received 0"),
        ((1.5, [0], 0.5), "time must be a whole number; received 1.5"),
        ((1, [], 0.5), r"at least one agent, each once and 0 or greater; received \[\]"),
        ((1, [2, -1], 0.5), r"each once and 0 or greater; received \[2, -1\]"),
        ((1, [0.5], 0.5), r"whole numbers 0, 1, 2, ...; received \[0.5\]"),
        ((1, 3, 0.5), "whole numbers 0, 1, 2, ...; received 3"),
        ((1, [2, 2], 0.5), r"each once and 0 or greater; received \[2, 2\]"),
        ((1, [0], math.nan), "mean must be a finite number; received nan"),
    ],
)
def test_a_wrong_change_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Change(*arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([Change(3, [2], 0.5)], "agents 0 to 1; received agent 2"),
        (
            [Change(3, [0, 1], 0.5), Change(3, [1], 0.2)],
            "2 changes of agent 1 at step 3: keep one",
        ),
        ([Change(3, [0], 1.5)], r"means in \[0, 1\]; received 1.5"),
    ],
)
def test_changes_that_do_not_fit_the_problem_are_refused(
    changes: list[Change], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Problem([0, 0], [0.2, 0.2], Bernoulli(), changes)


def test_a_change_outside_the_horizon_is_refused() -> None:
    problem = Problem([0], [0.2], Bernoulli(), [Change(3, [0], 0.5), Change(11, [0], 0.1)])
    assert problem.draw(11).shape == (1, 11, 1)
    with pytest.raises(ValueError, match=r"within the 10 steps .* received one at step 11"):
        problem.draw(10)
    with pytest.raises(ValueError, match=r"within the 10 steps .* received one at step 11"):
        problem.draw_run(10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"share": 1.5}, r"share is a share in \[0, 1\]; received 1.5"),
        ({"label": 7}, r"no agent is of class 7; there are classes \[0, 1\]"),
        ({"to": 2}, r"no agent is of class 2; there are classes \[0, 1\]"),
        ({"share": 0.75}, "asks for 3 of its 4 agents; only 2 have not moved yet"),
        ({"time": 0}, "time must be at least 1; received 0"),
    ],
)
def test_a_wrong_move_is_refused(arguments: dict[str, Any], message: str) -> None:
    usual = {"label": 0, "to": 1, "share": 0.5, "time": 9}
    problem = Problem.gaussian([0.1, 0.7], class_sizes=[4, 2], sigma=0.5)
    with pytest.raises(ValueError, match=message):
        problem.moving(0, 1, 0.5, time=3).moving(**(usual | arguments))


@pytest.mark.parametrize("times", [[0], [1.5], 3, [[1]]])
def test_times_count_from_one(times: Any) -> None:
    with pytest.raises(ValueError, match=r"times must list whole numbers 1, 2, 3, ...; received"):
        Problem([0], [0.2], Bernoulli()).true_means_at(times)
