"""What one peer may weigh in an agent's estimate."""

import math
from typing import Any

import pytest
from agents import NAMES, lone
from fleets import step
from numpy.random import default_rng

from colme import ALGORITHMS, Agent, Algorithm, Reply
from colme.model import Fit, Model

JOINT = Algorithm("restricted-round-robin", "simple", "joint")


def fit_of(agent: Agent) -> Fit:
    """Return the numbers of the agent's last fit."""
    return Model.of(agent.snapshot().model).fit


def due(fit: Fit) -> tuple[float, float]:
    return fit.next_fit, fit.next_fit_asked


def fleet(algorithm: str, cap: float | None) -> dict[str, Agent]:
    names = [str(i) for i in range(6)]
    known = algorithm == "oracle"
    return {
        name: Agent(
            name,
            sigma=0.1,
            delta=0.1,
            max_agents=6,
            algorithm=algorithm,
            peers=names,
            classmates=names[i % 2 :: 2] if known else None,
            cap=cap,
        )
        for i, name in enumerate(names)
    }


def test_a_peer_weighs_at_most_so_many_times_the_own_count() -> None:
    agent = lone(algorithm=JOINT, sigma=0.5, cap=3)
    agent.perceive(0.0, 0.0)
    agent.receive(Reply("b", 0.4, 10**6))
    agent.receive(Reply("c", 0.2, 4))
    assert agent.estimate == pytest.approx((6 * 0.4 + 4 * 0.2) / (2 + 6 + 4))
    agent.perceive(*[0.0] * 18)
    assert agent.estimate == pytest.approx((60 * 0.4 + 4 * 0.2) / (20 + 60 + 4))
    assert agent.snapshot().replies[1].count == 10**6


def test_before_its_first_sample_an_agent_counts_as_one() -> None:
    agent = lone(algorithm=JOINT, cap=1)
    assert math.isnan(agent.estimate)
    agent.receive(Reply("b", 0.4, 10**6))
    agent.receive(Reply("c", 0.2, 1))
    assert agent.estimate == pytest.approx(0.3)


@pytest.mark.parametrize("algorithm", [JOINT, "soft-restricted-round-robin"], ids=str)
def test_a_cap_bounds_how_far_one_peer_can_pull(algorithm: str | Algorithm) -> None:
    free, held = (lone(algorithm=algorithm, sigma=0.5, cap=cap) for cap in (None, 1))
    for agent in (free, held):
        agent.perceive(*[0.0, 0.1] * 10)
        for peer in "cdef":
            agent.receive(Reply(peer, 0.05, 20))
        agent.receive(Reply("b", 0.35, 10**4))
    assert abs(held.estimate - 0.05) < 0.3 * abs(free.estimate - 0.05)


def test_a_cap_keeps_one_peer_from_deciding_how_noisy_everybody_is() -> None:
    noise = []
    for cap in (None, 1):
        agent, rng = lone(sigma=0.5, cap=cap), default_rng(3)
        for t in range(1, 31):
            agent.perceive(rng.normal(0, 0.5))
            for peer in "cdef":
                agent.receive(Reply(peer, rng.normal(0, 0.5 / math.sqrt(t)), t, 0.25 * (t - 1)))
            agent.receive(Reply("b", 0.3, 10**6 * t, squares=0.0))
        noise.append(fit_of(agent).noise)
    free, held = noise
    assert free < 1e-5
    assert 0.15 < held < 0.3


@pytest.mark.parametrize("algorithm", ["sharp", JOINT, "restricted-round-robin"], ids=str)
def test_a_cap_changes_nothing_in_who_is_excluded(algorithm: str | Algorithm) -> None:
    rng = default_rng(4)
    one, other = (lone(algorithm=algorithm, cap=cap) for cap in (None, 2))
    sizes, n_apart = set(), 0
    for t in range(1, 60):
        sample, means = rng.normal(0, 0.2), rng.normal([0, 0, 0.2, 0.5, 1], 0.02)
        for agent in (one, other):
            agent.perceive(sample)
            for peer, mean in zip(NAMES[1:], means, strict=True):
                agent.receive(Reply(peer, mean, 50 * t))
        assert one.optimistic_class == other.optimistic_class
        n_apart += one.estimate != other.estimate
        sizes.add(len(one.optimistic_class))
    assert len(sizes) > 1
    assert n_apart > 10


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("cap", [1, 1.5])
def test_a_cap_changes_nothing_where_nobody_is_ahead(algorithm: str, cap: float) -> None:
    samples = default_rng(5).normal([i % 2 for i in range(6)], 0.1, (40, 6)).tolist()
    free, held = fleet(algorithm, None), fleet(algorithm, cap)
    for now in samples:
        step(free, now)
        step(held, now)
        for one, other in zip(free.values(), held.values(), strict=True):
            assert one.estimate == other.estimate
            assert one.likely_class == other.likely_class
    for one, other in zip(free.values(), held.values(), strict=True):
        assert vars(other.snapshot()) == vars(one.snapshot()) | {"cap": cap}


@pytest.mark.parametrize("cap", [0, 0.99, -1, math.nan, math.inf, "x"])
def test_a_cap_below_one_is_refused(cap: Any) -> None:
    with pytest.raises(ValueError, match=f"cap must be .*received '?{cap}"):
        lone(cap=cap)


def schedule(refit_jitter: float, n_steps: int = 400) -> list[int]:
    """Return the samples at which an agent fits its model."""
    agent, fits = lone(), []
    agent.hasten(refit_jitter)
    for t in range(1, n_steps + 1):
        agent.perceive(0.0)
        peer = agent.choose_peer()
        assert peer is not None
        before = fit_of(agent)
        agent.receive(Reply(peer, 0.0, t))
        if due(before) != due(fit_of(agent)):
            fits.append(t)
    return fits


def test_agents_in_haste_fit_sooner_each_at_its_own_steps() -> None:
    calm, some, most = (schedule(refit_jitter) for refit_jitter in (0.0, 0.5, 1.0))
    assert calm[-3:] == [260, 312, 374]  # each a fifth later than the one before
    assert len(calm) < len(some) < len(most) < 1.4 * len(calm)
    late = [[t for t in fits if t > 50] for fits in (calm, some, most)]
    assert not set(late[0]) & set(late[1])


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
def test_haste_is_a_share(share: float) -> None:
    with pytest.raises(ValueError, match=r"share .*received"):
        lone().hasten(share)


def test_after_a_fit_that_a_cap_limits_every_precision_follows_the_new_noise() -> None:
    agent, rng = lone(sigma=0.5, cap=1), default_rng(6)
    n_fits = 0
    for t in range(1, 41):
        agent.perceive(rng.normal(0, 0.1))
        before = due(fit_of(agent))
        for peer in "cdef":
            agent.receive(Reply(peer, rng.normal(0, 0.1 / math.sqrt(t)), t, 0.01 * (t - 1)))
        agent.receive(Reply("b", 0.1, 50 * t, 0.01 * (50 * t - 1)))
        n_fits += due(fit_of(agent)) != before
        # A restored agent reads every reply anew, with the noise of the last fit.
        again = Agent.restore(agent.snapshot())
        assert again.outlook() == agent.outlook()
    assert n_fits > 10
