"""Noise: mean, variance and range of its samples, and what it refuses."""

import math
from typing import Any

import numpy as np
import pytest
from noises import VARIANCES, skewed

from colme import Problem
from colme.noise import Bernoulli, Beta, Custom, Gaussian, NoiseLaw, Uniform


@pytest.mark.parametrize(("noise", "variance"), VARIANCES.items(), ids=lambda n: type(n).__name__)
def test_samples_have_the_true_mean_and_the_variance_of_their_noise(
    noise: NoiseLaw, variance: float
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
    noise: NoiseLaw, low: float, high: float
) -> None:
    samples = Problem([0], [0.2], noise).draw(5000)
    assert low <= samples.min() <= samples.max() <= high
    assert noise.sigma == pytest.approx((high - low) / 2)


@pytest.mark.parametrize("noise", [Bernoulli(), Beta(2.0)])
def test_means_at_the_ends_of_the_range_give_constant_streams(noise: NoiseLaw) -> None:
    samples = Problem([0, 1], [0.0, 1.0], noise).draw(50)
    assert (samples == [0.0, 1.0]).all()


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
