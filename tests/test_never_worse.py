"""Help never hurts much: errors of the recommended algorithm against those of no help at all.

Mean absolute errors over agents and runs, at every single step, on problems that suit classes and
on problems that do not.  Local errors are those of running means of the very same samples.
"""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from colme import simulate

Array = NDArray[np.float64]

HORIZON = 300
AGENTS = 50
RUNS = 16


def even(n_classes: int) -> NDArray[np.int64]:
    return np.arange(AGENTS) % n_classes


def gaussian(true_means: Array, runs: int, seed: int, sigma: float = 0.5) -> Array:
    rng = np.random.default_rng(seed)
    return rng.normal(true_means, sigma, (runs, HORIZON, true_means.size))


def worst_ratio(samples: Array, true_means: Array, sigma: float = 0.5) -> tuple[float, int, float]:
    """Return the largest ratio of the errors over time, when it is, and the last ratio."""
    estimates = simulate(samples, sigma=sigma).estimates
    assert estimates is not None
    local = samples.cumsum(axis=1) / np.arange(1, HORIZON + 1)[:, np.newaxis]
    ratio = (abs(estimates - true_means).mean(axis=(0, 2))) / (
        abs(local - true_means).mean(axis=(0, 2))
    )
    return float(ratio.max()), int(ratio.argmax()) + 1, float(ratio[-1])


RNG = np.random.default_rng(0)
PROBLEMS: dict[str, Array] = {
    "one class": np.full(AGENTS, 0.4),
    "all distinct": np.linspace(0, 5, AGENTS),
    "5 against 95 of 100": np.repeat([0.2, 0.8], [3, AGENTS - 3]),
    "grid": np.arange(0, 0.03 * AGENTS - 0.01, 0.03),
    "continuous": RNG.normal(0.0, 0.3, AGENTS),
    "uniform": RNG.uniform(0.0, 1.0, AGENTS),
    "two near": np.array([0.4, 0.5])[even(2)],
    "three": np.array([0.2, 0.4, 0.8])[even(3)],
    **{f"{n} at random": np.random.default_rng(n).uniform(0, 1, n)[even(n)] for n in range(3, 9)},
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_help_is_at_no_step_much_worse_than_none(name: str) -> None:
    true_means = PROBLEMS[name]
    worst, when, _ = worst_ratio(gaussian(true_means, runs=RUNS, seed=1), true_means)
    assert worst <= 1.2, f"{worst:.3f} times the local error at step {when}"


@pytest.mark.parametrize("means", [[0.1, 0.9], [0.3, 0.5, 0.7], [0.02, 0.05]], ids=str)
def test_help_is_at_no_step_much_worse_with_zeros_and_ones(means: list[float]) -> None:
    true_means = np.array(means)[even(len(means))]
    samples = (np.random.default_rng(2).random((RUNS, HORIZON, AGENTS)) < true_means).astype(float)
    worst, when, _ = worst_ratio(samples, true_means)
    assert worst <= 1.2, f"{worst:.3f} times the local error at step {when}"


@pytest.mark.parametrize("gap", [0.05, 0.1, 0.4])
@pytest.mark.parametrize("size", [2, 3])
def test_help_from_one_or_two_among_strangers_at_most_doubles_the_error(
    size: int, gap: float
) -> None:
    true_means = np.arange(0, gap * (AGENTS // size) - gap / 2, gap).repeat(size)
    worst, when, _ = worst_ratio(gaussian(true_means, runs=RUNS, seed=3), true_means)
    assert worst <= 2, f"{worst:.3f} times the local error at step {when}"


@pytest.mark.parametrize(("name", "gain"), [("one class", 2.5), ("three", 3.0)])
def test_help_helps_where_there_are_classes(name: str, gain: float) -> None:
    true_means = PROBLEMS[name]
    _, _, last = worst_ratio(gaussian(true_means, runs=RUNS, seed=1), true_means)
    assert last <= 1 / gain
    assert last >= 1 / math.sqrt(AGENTS) / 2  # nobody can do that


def test_a_single_class_learns_almost_as_if_it_knew() -> None:
    """Its means scatter by noise alone, and none of them may pass for a stray."""
    true_means = np.full(100, 0.4)
    samples = np.random.default_rng(5).normal(true_means, 0.5, (3, 800, 100))
    errors = {
        name: np.abs(estimates[:, 300:] - 0.4).mean()
        for name in ("sharp", "oracle")
        if (estimates := simulate(samples, name, sigma=0.5, labels=[0] * 100).estimates) is not None
    }
    assert errors["sharp"] < 1.5 * errors["oracle"]


@pytest.mark.parametrize("sizes", [(22, 3), (40, 5, 5)], ids=str)
def test_where_one_class_dominates_the_algorithms_of_the_paper_are_no_better(
    sizes: tuple[int, ...],
) -> None:
    labels = np.repeat(np.arange(len(sizes)), sizes)
    true_means = np.array([0.2, 0.5, 0.8])[labels]
    samples = np.random.default_rng(6).normal(true_means, 0.5, (6, 700, labels.size))
    errors = {
        name: np.abs(estimates[:, 150:] - true_means).mean()
        for name in ("sharp", "restricted-round-robin", "aggressive-restricted-round-robin")
        if (estimates := simulate(samples, name, sigma=0.5, labels=labels).estimates) is not None
    }
    assert errors.pop("sharp") < 1.05 * min(errors.values())


def test_five_among_a_hundred_lose_little() -> None:
    true_means = np.repeat([0.2, 0.5], [5, 95])
    samples = np.random.default_rng(7).normal(true_means, 0.5, (20, 300, 100))
    estimates = simulate(samples, sigma=0.5).estimates
    assert estimates is not None
    local = samples.cumsum(axis=1) / np.arange(1, 301)[:, np.newaxis]
    errors = [abs(one - true_means)[..., :5].mean(axis=(0, 2)) for one in (estimates, local)]
    assert (errors[0] / errors[1]).max() < 1.6
