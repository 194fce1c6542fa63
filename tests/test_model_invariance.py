"""The model under other units, in another order, in odd places, and in the real world."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from fitted_models import PROBLEMS, Array, estimates, some

from colme import Agent, Query, Record, Trajectory, lockstep, simulate
from colme.bounds import Asymptotic, Bound, EmpiricalBernstein, NormalMixture


@cache
def plain_estimates(name: str) -> Array:
    """Return what some agents of a problem estimate as it is."""
    means, precisions = PROBLEMS[name]
    return estimates(means, precisions, some(means))


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("factor", [1e-8, 0.3, 1e8, -1.0])
def test_other_units_give_the_same_estimates_in_other_units(name: str, factor: float) -> None:
    means, precisions = PROBLEMS[name]
    after = estimates(factor * means, precisions / factor**2, some(means))
    np.testing.assert_allclose(after / factor, plain_estimates(name), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("shift", [-3.0, 0.7, 1e4])
def test_a_shift_of_all_means_shifts_the_estimates(name: str, shift: float) -> None:
    means, precisions = PROBLEMS[name]
    after = estimates(means + shift, precisions, some(means))
    np.testing.assert_allclose(after - shift, plain_estimates(name), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("factor", "shift"), [(1e-8, 0.0), (1e8, 0.0), (1.0, 50.0), (3.0, -2.0)])
def test_a_whole_run_does_not_depend_on_the_units(factor: float, shift: float) -> None:
    samples = np.random.default_rng(7).normal(np.arange(12) % 3 * 0.5, 0.3, (80, 12))
    keep = Record(likely_counts=True)
    plain = simulate(samples, sigma=0.3, record=keep)
    other = simulate(factor * samples + shift, sigma=0.3 * factor, record=keep)
    assert plain.estimates is not None
    assert other.estimates is not None
    np.testing.assert_allclose((other.estimates - shift) / factor, plain.estimates, atol=1e-9)
    np.testing.assert_array_equal(other.class_counts, plain.class_counts)
    np.testing.assert_array_equal(other.likely_counts, plain.likely_counts)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_order_of_the_peers_does_not_matter(name: str) -> None:
    means, precisions = PROBLEMS[name]
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(means))
        places = np.argsort(order)[list(some(means))].tolist()
        after = estimates(means[order], precisions[order], places)
        np.testing.assert_allclose(after, plain_estimates(name), rtol=0, atol=1e-9)


def run_both(samples: Array, **how: Any) -> Trajectory:
    """Return the compiled run, after comparing it with the plain one in units of its size."""
    keep = Record(likely_counts=True)
    fast = simulate(samples, record=keep, **how)
    slow = lockstep(samples, record=keep, **how)
    assert fast.estimates is not None
    assert slow.estimates is not None
    assert np.isfinite(fast.estimates).all()
    unit = max(abs(samples).max(), 1e-300)
    np.testing.assert_allclose(fast.estimates / unit, slow.estimates / unit, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(fast.class_counts, slow.class_counts)
    return fast


NOISE: Array = np.random.default_rng(13).normal(size=(12, 6))


ODD: dict[str, Array] = {
    "all equal": np.full((12, 6), 0.3),
    "all zero": np.zeros((12, 6)),
    "equal apart from one": np.column_stack([np.full((12, 5), 0.3), NOISE[:, 0]]),
    "constant streams": np.tile(np.arange(6.0), (12, 1)),
    "constant, one class": np.tile([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], (12, 1)),
    "huge": np.tile([-1e150, 1e150, 0.0, 1e150, -1e150, 1.0], (12, 1)),
    "huge steps": 1e150 * np.sign(NOISE),
    "tiny": 1e-150 * NOISE,
    "denormal": 1e-310 * NOISE,
    "huge beside tiny": NOISE * np.array([1e100, 1e-100, 1.0, 1e10, 1e-10, 0.0]),
    "far away": 1e9 + NOISE,
}


@pytest.mark.parametrize("samples", ODD.values(), ids=list(ODD))
@pytest.mark.parametrize("sigma", [1e-150, 1e-3, 1.0, 1e150])
def test_odd_samples_give_finite_estimates_without_a_warning(samples: Array, sigma: float) -> None:
    run_both(samples, sigma=sigma)


@pytest.mark.parametrize("samples", ODD.values(), ids=list(ODD))
def test_odd_samples_of_unknown_scale_give_finite_estimates(samples: Array) -> None:
    run_both(samples, bound=Asymptotic(n_opt=100, burn_in=3))


@pytest.mark.parametrize(
    "bound", [EmpiricalBernstein(0, 1), NormalMixture(0.5, 100), Asymptotic(100, burn_in=2)]
)
@pytest.mark.parametrize("n_agents", [1, 2, 3, 4])
def test_few_agents_work(bound: Bound, n_agents: int) -> None:
    samples = np.random.default_rng(14).integers(0, 2, (30, n_agents)).astype(float)
    fast = run_both(samples, bound=bound)
    assert fast.estimates is not None
    local = samples.cumsum(axis=0) / np.arange(1, 31)[:, np.newaxis]
    assert np.allclose(fast.estimates[0], local) == (n_agents < 3)


def test_an_agent_of_the_real_world_learns_who_is_alike() -> None:
    names = [f"thermometer {i}" for i in range(12)]
    agents = {
        name: Agent(name, sigma=0.5, delta=0.01, max_agents=12, peers=names) for name in names
    }
    rng = np.random.default_rng(15)
    for _ in range(300):
        for i, agent in enumerate(agents.values()):
            agent.perceive(rng.normal(20 + i % 2, 0.5))
        for agent in agents.values():
            peer = agent.choose_peer()
            if peer is not None:
                agent.receive(agents[peer].answer(Query(agent.name, peer)))
    for i, agent in enumerate(agents.values()):
        assert agent.likely_class == agent.optimistic_class == set(names[i % 2 :: 2])
        assert abs(agent.estimate - 20 - i % 2) < 0.04  # 3.4 standard errors of six streams
