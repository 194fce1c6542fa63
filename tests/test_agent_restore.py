"""The life of an agent after a restart: the same future, to the last bit."""

import json
import math

import pytest
from agents import BOUNDS, JOINT_SIMPLE, fleet, readings, step
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from colme import ALGORITHMS, Agent, Algorithm, Query, Reply, Snapshot
from colme.bounds import (
    KINDS,
    Bound,
)


@settings(max_examples=40)
@given(
    n=st.integers(1, 5),
    algorithm=st.sampled_from([*ALGORITHMS, Algorithm("round-robin", "soft")]),
    eta=st.sampled_from([None, 0.2]),
    restart=st.integers(0, 15),
    seed=st.integers(0, 100),
)
def test_a_restored_fleet_has_the_same_future(
    n: int, algorithm: str | Algorithm, eta: float | None, restart: int, seed: int
) -> None:
    samples = default_rng(seed).normal([i % 2 for i in range(n)], 0.2, (16, n)).tolist()
    steady, restarted = fleet(n, algorithm, eta), fleet(n, algorithm, eta)
    for t, now in enumerate(samples):
        if t == restart:
            texts = [agent.snapshot().to_json() for agent in restarted.values()]
            agents = [Agent.restore(Snapshot.from_json(text)) for text in texts]
            restarted = {agent.name: agent for agent in agents}
        estimates = step(steady, now)
        assert step(restarted, now) == estimates
        assert all(map(math.isfinite, estimates))
    for one, other in zip(steady.values(), restarted.values(), strict=True):
        assert json.loads(one.snapshot().to_json()) == json.loads(other.snapshot().to_json())


def test_every_kind_of_bound_is_tried_here() -> None:
    assert {type(bound).__name__ for bound in BOUNDS} == set(KINDS)


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: type(bound).__name__)
@pytest.mark.parametrize("algorithm", ["sharp", "round-robin", JOINT_SIMPLE], ids=str)
def test_a_fleet_restored_in_the_middle_goes_on_to_the_last_bit(
    bound: Bound, algorithm: str | Algorithm
) -> None:
    samples = default_rng(4).normal([i % 2 for i in range(4)], 0.15, (60, 4)).clip(-1, 2)
    steady, restarted = (fleet(4, algorithm, bounds=[bound]) for _ in range(2))
    n_moved = 0
    for t, now in enumerate(samples.tolist()):
        if t in (1, 20, 45):
            texts = [agent.snapshot().to_json() for agent in restarted.values()]
            agents = [Agent.restore(Snapshot.from_json(text)) for text in texts]
            restarted = {agent.name: agent for agent in agents}
        step(steady, now)
        step(restarted, now)
        assert readings(steady) == readings(restarted)
        n_moved += steady["agent 0"].estimate != steady["agent 0"].local_mean
    assert n_moved > 30  # the estimates are more than local means


def test_reading_an_agent_changes_nothing_of_its_future() -> None:
    samples = default_rng(5).normal([0, 1, 0, 1], 0.2, (40, 4)).tolist()
    watched, unwatched = fleet(4, "sharp"), fleet(4, "sharp")
    for now in samples:
        for agents in (watched, unwatched):
            step(agents, now)
        for agent in watched.values():
            for _ in range(2):
                assert agent.name in agent.likely_class <= agent.optimistic_class
    assert readings(watched) == readings(unwatched)


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: type(bound).__name__)
def test_a_restored_agent_says_what_it_said_and_still_knows_what_it_heard(bound: Bound) -> None:
    steady = fleet(3, "sharp", bounds=[bound])
    for now in default_rng(7).normal(0.5, 0.15, (30, 3)).clip(-1, 2).tolist():
        step(steady, now)
    for agent in steady.values():
        again = Agent.restore(Snapshot.from_json(agent.snapshot().to_json()))
        question = Query("anybody", agent.name)
        assert again.answer(question) == agent.answer(question)
        assert again.snapshot().replies == agent.snapshot().replies
        for known in agent.snapshot().replies:
            if known.sender != agent.name and known.count > 1:
                stale = Reply(known.sender, 0.0, known.count - 1, 0.0, known.shape, known.epoch)
                assert not again.receive(stale)
        assert again.snapshot() == agent.snapshot()
