"""Problems: their classes and means, drawn or given."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colme import Problem
from colme.noise import Bernoulli


@given(st.integers(1, 30), st.integers(1, 5), st.integers(0, 1000))
def test_drawn_classes_give_every_agent_its_class_mean(n: int, classes: int, seed: int) -> None:
    means = np.arange(classes) / 7
    problem = Problem.gaussian(means, n, sigma=0.1, seed=seed)
    again = Problem.gaussian(means, n, sigma=0.1, seed=seed)
    assert (problem.labels == again.labels).all()
    assert (problem.true_means == means[problem.labels]).all()
    assert problem.class_sizes.sum() == problem.n_agents == n
    assert problem.class_sizes.size == problem.n_classes <= classes


def test_classes_are_drawn_uniformly() -> None:
    sizes = Problem.bernoulli([0.1, 0.2, 0.3], 30_000, seed=1).class_sizes
    assert sizes.min() > 9_700


def test_given_sizes_make_the_classes_in_order() -> None:
    problem = Problem.bernoulli([0.3, 0.1, 0.2], class_sizes=[1, 0, 2])
    assert problem.labels.tolist() == [0, 2, 2]
    assert problem.true_means.tolist() == [0.3, 0.2, 0.2]
    assert problem.class_sizes.tolist() == [1, 0, 2]
    assert problem.sigma == 0.5


def test_bias_moves_each_agent_within_its_reach_or_as_given() -> None:
    drawn = Problem.gaussian([0.2, 0.8], 500, sigma=0.1, bias=0.05, seed=1)
    shift = drawn.true_means - np.array([0.2, 0.8])[drawn.labels]
    assert 0.045 < abs(shift).max() <= 0.05
    assert np.unique(shift).size > 400
    given_bias = Problem.gaussian([0.5], class_sizes=[2], sigma=0.1, bias=[0.25, -0.25])
    assert given_bias.true_means.tolist() == [0.75, 0.25]


def test_random_problems_draw_their_class_means_in_the_range() -> None:
    problem = Problem.random(6, 100, sigma=0.3, low=-2, high=-1, seed=4)
    assert np.unique(problem.true_means).size == 6
    assert ((problem.true_means >= -2) & (problem.true_means <= -1)).all()


@pytest.mark.parametrize(
    ("labels", "means", "message"),
    [
        ([0, 1], [0.5], r"each of the 1 agents; received shape \(2,\)"),
        ([[0]], [[0.5]], r"means of at least one agent.*received \[\[0.5\]\]"),
        (np.empty(0, int), [], r"at least one agent, .* received \[\]"),
        ([0, -1], [0.1, 0.2], "received .*-1"),
        ([0, 0.5], [0.1, 0.2], r"received .*0\.5"),
        (["a"], [0.1], "received .*a"),
        ([0, 0], [0.1, math.nan], "true_means must list .* finite .*nan"),
        ([0], [1.5], r"means in \[0, 1\]; received 1.5"),
    ],
)
def test_a_wrong_problem_is_refused_with_what_is_wrong(
    labels: Any, means: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Problem(labels, means, Bernoulli())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "received n_agents=None, class_sizes=None"),
        ({"n_agents": 2, "class_sizes": [1, 1]}, r"received n_agents=2, class_sizes=\[1, 1\]"),
        ({"n_agents": 0}, "n_agents must be at least 1; received 0"),
        ({"n_agents": 2.5}, "n_agents must be a whole number; received 2.5"),
        ({"class_sizes": [0, 0]}, r"at least one agent, .* received \[\]"),
        ({"class_sizes": [1]}, r"each of the 2 classes; received \[1\]"),
        ({"class_sizes": [1, -1]}, r"received \[1, -1\]"),
        ({"class_sizes": [1, 0.5]}, r"received \[1, 0.5\]"),
        ({"n_agents": 2, "class_means": []}, r"at least one mean; received \[\]"),
        ({"n_agents": 2, "class_means": 0.5}, "at least one mean; received 0.5"),
        ({"n_agents": 2, "sigma": 0}, "sigma must be greater than 0; received 0"),
        ({"n_agents": 2, "sigma": math.nan}, "sigma must be a finite number; received nan"),
        ({"n_agents": 2, "bias": -1}, "bias must be 0 or greater; received -1"),
        ({"n_agents": 2, "bias": [1, 2, 3]}, r"received shape \(3,\)"),
    ],
)
def test_wrong_classes_are_refused_with_what_was_received(
    changes: dict[str, Any], message: str
) -> None:
    usual: dict[str, Any] = {"class_means": [0.2, 0.8], "sigma": 0.5}
    with pytest.raises(ValueError, match=message):
        Problem.gaussian(**(usual | changes))
