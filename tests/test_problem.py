"""Problems: their classes, their noise, their streams."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from colme import Problem
from colme.noise import Bernoulli, Beta, Custom, Gaussian, Noise, Uniform
from colme.problem import Change


def skewed(rng: np.random.Generator, means: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    return means - 1 + rng.exponential(size=(n, means.size))


NOISES = [
    (Gaussian(0.5), 0.25),
    (Bernoulli(), 0.16),
    (Uniform(0.3), 0.03),
    (Beta(3.0, -1.0, 1.0), 0.24),
    (Custom(skewed, 2.0), 1.0),
]


@pytest.mark.parametrize(("noise", "variance"), NOISES, ids=lambda n: type(n).__name__)
def test_samples_have_the_true_mean_and_the_variance_of_their_noise(
    noise: Noise, variance: float
) -> None:
    mean = 0.2
    samples = Problem([0, 0], [mean, mean], noise).draw(20_000, seed=3)
    error = math.sqrt(variance / samples.size)
    assert abs(samples.mean() - mean) < 5 * error
    assert samples.var() == pytest.approx(variance, rel=0.1)


@pytest.mark.parametrize(
    ("noise", "low", "high"),
    [(Bernoulli(), 0, 1), (Uniform(0.3), -0.1, 0.5), (Beta(0.5, -1, 1), -1, 1)],
    ids=lambda n: type(n).__name__,
)
def test_bounded_samples_stay_in_range_and_sigma_is_half_of_it(
    noise: Noise, low: float, high: float
) -> None:
    samples = Problem([0], [0.2], noise).draw(5000)
    assert low <= samples.min() <= samples.max() <= high
    assert noise.sigma == pytest.approx((high - low) / 2)


@pytest.mark.parametrize("noise", [Bernoulli(), Beta(2.0)])
def test_means_at_the_ends_of_the_range_give_constant_streams(noise: Noise) -> None:
    samples = Problem([0, 1], [0.0, 1.0], noise).draw(50)
    assert (samples == [0.0, 1.0]).all()


@pytest.mark.parametrize("noise", [noise for noise, _ in NOISES], ids=lambda n: type(n).__name__)
def test_a_run_is_the_same_whatever_the_number_of_runs(noise: Noise) -> None:
    problem = Problem([0, 1, 0], [0.2, 0.8, 0.2], noise)
    few, many = problem.draw(7, runs=2, seed=5), problem.draw(7, runs=5, seed=5)
    assert many.shape == (5, 7, 3)
    assert (few == many[:2]).all()
    assert (many[0] != many[1]).any()
    assert (problem.draw(7, runs=2, seed=6) != few).any()
    assert (problem.draw_run(7, run=4, seed=5) == many[4]).all()


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
        ([0, 1], [0.5], r"received shapes \(2,\) and \(1,\)"),
        ([[0]], [[0.5]], r"received shapes \(1, 1\)"),
        (np.empty(0, int), [], "at least one agent; received none"),
        ([0, -1], [0.1, 0.2], "received .*-1"),
        ([0, 0.5], [0.1, 0.2], r"received .*0\.5"),
        (["a"], [0.1], "received .*a"),
        ([0, 0], [0.1, math.nan], "true_means must be finite.*nan"),
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
        ({"class_sizes": [0, 0]}, "at least one agent; received none"),
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"horizon": 0}, "horizon must be at least 1; received 0"),
        ({"horizon": 2.5}, "horizon must be a whole number; received 2.5"),
        ({"horizon": 1, "runs": 0}, "runs must be at least 1; received 0"),
        ({"horizon": 1, "seed": -1}, "non-negative"),
    ],
)
def test_nothing_is_drawn_for_a_wrong_horizon_run_or_seed(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Problem([0], [0.5], Bernoulli()).draw(**arguments)


@pytest.mark.parametrize(
    ("horizon", "run", "message"),
    [(0, 0, "horizon must be at least 1; received 0"), (1, -1, "non-negative")],
)
def test_no_run_is_drawn_for_a_wrong_horizon_or_number(
    horizon: int, run: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Problem([0], [0.5], Bernoulli()).draw_run(horizon, run)


@pytest.mark.parametrize(
    ("noise", "arguments", "message"),
    [
        (Gaussian, (-1,), "sigma .*received -1"),
        (Uniform, (0,), "half_width .*received 0"),
        (Beta, (0,), "concentration .*received 0"),
        (Beta, (1, 1, 1), "low < high; received 1, 1"),
        (Custom, (skewed, math.inf), "sigma .*received inf"),
    ],
)
def test_wrong_noise_is_refused(noise: Any, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        noise(*arguments)


def test_a_sampler_must_return_one_column_per_agent() -> None:
    wrong = Custom(lambda rng, _, horizon: rng.random((horizon, 1)), 1.0)
    with pytest.raises(ValueError, match=r"\(4, 2\); received \(4, 1\)"):
        Problem([0, 0], [0.0, 0.0], wrong).draw(4)


@pytest.mark.parametrize("noise", [noise for noise, _ in NOISES], ids=lambda n: type(n).__name__)
def test_samples_are_what_the_noise_makes_of_the_seed_of_their_run(noise: Noise) -> None:
    problem = Problem([0, 1], [0.2, 0.8], noise)
    for run in range(3):
        out = np.empty((6, 2))
        key = np.random.SeedSequence(5, spawn_key=(run,)).generate_state(2, np.uint64)
        noise.fill(np.random.Generator(np.random.Philox(key=key)), problem.true_means, out)
        assert (problem.draw(6, runs=3, seed=5)[run] == out).all()


def test_agents_may_scatter_each_in_its_own_way() -> None:
    sigmas = [0.1, 0.5, 2.0]
    problem = Problem.gaussian([1.0], class_sizes=[3], sigma=sigmas)
    assert problem.sigma == 2.0
    assert problem.sigmas.tolist() == sigmas
    samples = problem.draw(20_000, seed=2)[0]
    assert samples.std(axis=0) == pytest.approx(sigmas, rel=0.05)
    assert abs(samples.mean(axis=0) - 1.0).max() < 5 * 2.0 / math.sqrt(20_000)
    equal = Problem.gaussian([1.0], class_sizes=[3], sigma=0.5)
    assert equal.sigmas.tolist() == [0.5] * 3
    assert (
        equal.draw(9) == Problem.gaussian([1.0], class_sizes=[3], sigma=[0.5] * 3).draw(9)
    ).all()
    assert Problem.bernoulli([0.2], 2).sigmas.tolist() == [0.5, 0.5]


def test_unequal_noise_is_a_value() -> None:
    unequal = Gaussian(np.array([0.5, 0.1]))
    assert unequal == Gaussian((0.5, 0.1))
    assert unequal != Gaussian(0.5)
    assert len({unequal, Gaussian([0.5, 0.1]), Gaussian(0.5)}) == 2
    assert repr(unequal) == "Gaussian((0.5, 0.1))"
    assert repr(Gaussian(0.5)) == "Gaussian(0.5)"


@pytest.mark.parametrize(
    ("sigma", "message"),
    [
        ([0.1, 0.2], "one for each of the 3 agents; received 2"),
        ([0.1], "one for each of the 3 agents; received 1"),
        ([0.1, 0.0, 1.0], "sigma must be greater than 0; received 0"),
        ([], r"sigma must be a finite number; received \[\]"),
    ],
)
def test_wrong_sigmas_are_refused(sigma: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Problem.gaussian([0.2, 0.8], 3, sigma=sigma)


@pytest.mark.parametrize("noise", [noise for noise, _ in NOISES], ids=lambda n: type(n).__name__)
def test_arrivals_change_when_samples_come_not_which(noise: Noise) -> None:
    problem = Problem([0, 1, 0], [0.2, 0.8, 0.2], noise)
    arrivals = np.array([[[1, 0, 2], [0, 3, 1]], [[0, 0, 1], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]]])
    drawn = problem.draw(2, runs=3, seed=5, arrivals=arrivals)
    assert drawn.shape == (3, 3, 3)
    assert (drawn[0] == problem.draw(3, seed=5)[0]).all()
    for run in range(3):
        one = problem.draw_run(2, run, seed=5, arrivals=arrivals[run])
        assert (drawn[run, : len(one)] == one).all()
    assert (drawn[1, 1:] == problem.true_means).all()  # nobody will look
    shared = problem.draw(2, runs=3, seed=5, arrivals=arrivals[0])
    assert (shared == problem.draw(3, runs=3, seed=5)).all()


@pytest.mark.parametrize(
    ("arrivals", "message"),
    [
        ([[1, 1]], "each of the 2 steps; received 1 steps"),
        ([[1], [1]], r"3 runs and 2 agents; received shape \(2, 1\)"),
        (np.ones((2, 2, 2), int), r"received shape \(2, 2, 2\)"),
        ([[1, -1], [0, 0]], "received -1"),
    ],
)
def test_arrivals_must_fit_what_is_drawn(arrivals: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Problem([0, 0], [0.5, 0.5], Bernoulli()).draw(2, runs=3, arrivals=arrivals)


@pytest.mark.parametrize("noise", [noise for noise, _ in NOISES], ids=lambda n: type(n).__name__)
def test_blocks_of_a_flow_are_the_samples_of_the_run(noise: Noise) -> None:
    problem = Problem([0, 1], [0.2, 0.8], noise)
    if not isinstance(noise, Custom):
        problem = problem.changing([Change(4, [1], 0.5), Change(9, [0], 0.4)])
    whole = problem.draw(12, runs=3, seed=5)[2]
    for sizes in ((12,), (1,) * 12, (3, 5, 4), (4, 8)):
        flow = problem.flow(run=2, seed=5)
        blocks = [flow.take(size) for size in sizes]
        np.testing.assert_array_equal(np.concatenate(blocks), whole)


def test_many_agents_come_from_several_springs_of_which_none_repeats_another() -> None:
    sigmas = np.linspace(0.5, 1.5, 10_000)
    problem = Problem.gaussian([0.0], n_agents=10_000, sigma=sigmas)
    flow = problem.flow()
    assert [(spring.first, spring.last) for spring in flow.springs] == [
        (0, 4096),
        (4096, 8192),
        (8192, 10_000),
    ]
    samples = problem.draw(50)[0] / sigmas
    np.testing.assert_array_equal(flow.take(50), problem.draw(50)[0])
    assert np.unique(samples).size == samples.size
    # 3.3e5 products of independent pairs: standard error 1/sqrt(50 * 1808)
    joint = np.corrcoef(samples[:, :1808].ravel(), samples[:, 8192:].ravel())[0, 1]
    assert abs(joint) < 5 / np.sqrt(50 * 1808)
    assert abs(samples.std() - 1.0) < 0.01


def test_noise_that_cannot_be_shared_out_is_drawn_at_once() -> None:
    noise = Custom(lambda rng, means, horizon: means + rng.random((horizon, 5000)), 1.0)
    problem = Problem(np.zeros(5000, int), np.zeros(5000), noise)
    assert len(problem.flow().springs) == 1
    assert problem.draw(2).shape == (1, 2, 5000)


def test_a_flow_gives_at_least_one_step() -> None:
    with pytest.raises(ValueError, match="n_steps must be"):
        Problem.bernoulli([0.5], n_agents=2).flow().take(0)
