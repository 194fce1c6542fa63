"""The samples of a problem: the same numbers, whatever the runs, blocks and arrivals."""

from typing import Any

import numpy as np
import pytest
from noises import VARIANCES

from colme import Problem
from colme.noise import Bernoulli, Custom, NoiseLaw
from colme.problem import Change


@pytest.mark.parametrize("noise", VARIANCES, ids=lambda n: type(n).__name__)
def test_a_run_is_the_same_whatever_the_number_of_runs(noise: NoiseLaw) -> None:
    problem = Problem([0, 1, 0], [0.2, 0.8, 0.2], noise)
    few, many = problem.draw(7, runs=2, seed=5), problem.draw(7, runs=5, seed=5)
    assert many.shape == (5, 7, 3)
    assert (few == many[:2]).all()
    assert (many[0] != many[1]).any()
    assert (problem.draw(7, runs=2, seed=6) != few).any()
    assert (problem.draw_run(7, run=4, seed=5) == many[4]).all()


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


@pytest.mark.parametrize("noise", VARIANCES, ids=lambda n: type(n).__name__)
def test_samples_are_what_the_noise_makes_of_the_seed_of_their_run(noise: NoiseLaw) -> None:
    problem = Problem([0, 1], [0.2, 0.8], noise)
    for run in range(3):
        out = np.empty((6, 2))
        key = np.random.SeedSequence(5, spawn_key=(run,)).generate_state(2, np.uint64)
        noise.fill(np.random.Generator(np.random.Philox(key=key)), problem.true_means, out)
        assert (problem.draw(6, runs=3, seed=5)[run] == out).all()


@pytest.mark.parametrize("noise", VARIANCES, ids=lambda n: type(n).__name__)
def test_arrivals_change_when_samples_come_not_which(noise: NoiseLaw) -> None:
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
        ([[1, 1]], "have 2 steps, as many as the horizon; received 1 steps"),
        ([[1], [1]], r"3 runs and 2 agents; received shape \(2, 1\)"),
        (np.ones((2, 2, 2), int), r"received shape \(2, 2, 2\)"),
        ([[1, -1], [0, 0]], "received -1"),
    ],
)
def test_arrivals_must_fit_what_is_drawn(arrivals: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Problem([0, 0], [0.5, 0.5], Bernoulli()).draw(2, runs=3, arrivals=arrivals)


@pytest.mark.parametrize("noise", VARIANCES, ids=lambda n: type(n).__name__)
def test_blocks_of_a_stream_are_the_samples_of_the_run(noise: NoiseLaw) -> None:
    problem = Problem([0, 1], [0.2, 0.8], noise)
    if not isinstance(noise, Custom):
        problem = problem.changing([Change(4, [1], 0.5), Change(9, [0], 0.4)])
    whole = problem.draw(12, runs=3, seed=5)[2]
    for sizes in ((12,), (1,) * 12, (3, 5, 4), (4, 8)):
        stream = problem.sample_stream(run=2, seed=5)
        blocks = [stream.take(size) for size in sizes]
        np.testing.assert_array_equal(np.concatenate(blocks), whole)


def test_many_agents_come_from_several_parts_of_which_none_repeats_another() -> None:
    sigmas = np.linspace(0.5, 1.5, 10_000)
    problem = Problem.gaussian([0.0], n_agents=10_000, sigma=sigmas)
    stream = problem.sample_stream()
    assert [(part.first, part.last) for part in stream.parts] == [
        (0, 4096),
        (4096, 8192),
        (8192, 10_000),
    ]
    samples = problem.draw(50)[0] / sigmas
    np.testing.assert_array_equal(stream.take(50), problem.draw(50)[0])
    assert np.unique(samples).size == samples.size
    # 3.3e5 products of independent pairs: standard error 1/sqrt(50 * 1808)
    joint = np.corrcoef(samples[:, :1808].ravel(), samples[:, 8192:].ravel())[0, 1]
    assert abs(joint) < 5 / np.sqrt(50 * 1808)
    assert abs(samples.std() - 1.0) < 0.01


def test_noise_that_cannot_be_shared_out_is_drawn_at_once() -> None:
    noise = Custom(lambda rng, means, horizon: means + rng.random((horizon, 5000)), 1.0)
    problem = Problem(np.zeros(5000, int), np.zeros(5000), noise)
    assert len(problem.sample_stream().parts) == 1
    assert problem.draw(2).shape == (1, 2, 5000)


def test_a_stream_gives_at_least_one_sample() -> None:
    with pytest.raises(ValueError, match="n_samples must be"):
        Problem.bernoulli([0.5], n_agents=2).sample_stream().take(0)


def test_changes_come_at_the_same_step_whatever_the_batch() -> None:
    problem = Problem([0, 0], [0.0, 0.0], Bernoulli(), [Change(3, [1], 1.0)])
    stream = problem.sample_stream(batch=3)
    means = np.concatenate([stream.take(4), stream.take(5)])[:, 1]
    assert means.tolist() == [0.0] * 6 + [1.0] * 3
    assert stream.means.tolist() == [0.0, 1.0]


def test_the_old_name_of_a_stream_still_works() -> None:
    problem = Problem.bernoulli([0.5], n_agents=2)
    with pytest.warns(DeprecationWarning, match="now sample_stream"):
        old = problem.flow(run=1, seed=2)
    np.testing.assert_array_equal(old.take(3), problem.draw_run(3, run=1, seed=2))
