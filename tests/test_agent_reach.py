"""Whom an agent asks when not everybody is in reach."""

from typing import Any

import pytest
from agents import NAMES, lone
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from colme import ALGORITHMS, Agent, Algorithm, Reply
from colme.bounds import Laplace, Restarted

JOINT = Algorithm("restricted-round-robin", "simple", "joint")


def readings(agents: dict[str, Agent]) -> list[object]:
    """Return all that can be read of a fleet, to the last bit."""
    return [(agent.estimate, agent.optimistic_class, agent.snapshot()) for agent in agents.values()]


def fleet(n: int, **changes: Any) -> dict[str, Agent]:
    names = [f"agent {i}" for i in range(n)]
    known = changes.get("algorithm") == "oracle"
    return {
        name: Agent(
            name,
            peers=changes.get("peers", names),
            classmates=names[i % 2 :: 2] if known else None,
            **({"sigma": 0.1, "delta": 0.1} | {k: v for k, v in changes.items() if k != "peers"}),
        )
        for i, name in enumerate(names)
    }


def test_a_peer_out_of_reach_is_passed_over_and_does_not_count_as_asked() -> None:
    agent = lone(algorithm="round-robin")
    assert [agent.choose_peer({"c", "e"}) for _ in range(3)] == ["c", "e", "c"]
    assert agent.choose_peer() == "d"
    assert agent.snapshot().turn == (3, -1, 4)


@pytest.mark.parametrize("reachable", [set(), {"a"}, {"stranger"}], ids=str)
def test_with_nobody_in_reach_nobody_is_asked_and_nothing_changes(reachable: set[str]) -> None:
    for algorithm in ("sharp", "round-robin"):
        agent = lone(algorithm=algorithm)
        agent.choose_peer()
        before = agent.snapshot()
        assert agent.choose_peer(reachable) is None
        assert agent.snapshot() == before
    assert lone(algorithm="local").choose_peer(NAMES) is None


def test_an_excluded_peer_in_reach_is_asked_only_when_it_is_the_turn_of_the_excluded() -> None:
    agent = lone(bound=Restarted(Laplace(0.2, 0.05), revisit=3), sigma=None)
    agent.perceive(*[0.0, 0.1] * 100)
    for peer in "bc":
        agent.receive(Reply(peer, 9.0, 300, 12.0, Laplace(0.2, 0.05).shape(300)))
    assert agent.choose_peer({"b"}) is None
    assert [agent.choose_peer({"b", "d"}) for _ in range(7)] == ["d", "d", "b"] * 2 + ["d"]
    assert [agent.choose_peer({"d"}) for _ in range(4)] == ["d"] * 4


@settings(max_examples=60)
@given(
    algorithm=st.sampled_from(
        ["sharp", "round-robin", "restricted-round-robin", "eta-round-robin"]
    ),
    revisit=st.integers(0, 3),
    excluded=st.sets(st.sampled_from(NAMES[1:])),
    reach=st.lists(st.none() | st.sets(st.sampled_from(NAMES)), min_size=1, max_size=12),
)
def test_whom_the_turn_falls_to_it_falls_to_alone(
    algorithm: str, revisit: int, excluded: set[str], reach: list[set[str] | None]
) -> None:
    bound = Restarted(Laplace(0.2, 0.05), revisit=revisit)
    agent = lone(bound=bound, sigma=None, algorithm=algorithm)
    agent.perceive(*[0.0, 0.1] * 100)
    for peer in excluded:
        agent.receive(Reply(peer, 9.0, 300, 12.0, Laplace(0.2, 0.05).shape(300)))
    for reachable in reach:
        twin = Agent.restore(agent.snapshot())
        asked = agent.choose_peer(reachable)
        if reachable is None or set(NAMES) <= reachable:
            assert Agent.restore(twin.snapshot()).choose_peer() == asked
        if asked is not None:
            assert reachable is None or asked in reachable
            assert twin.choose_peer({asked}) == asked
        assert twin.snapshot() == agent.snapshot()


@settings(max_examples=20)
@given(st.sampled_from([*ALGORITHMS]), st.integers(0, 3), st.integers(0, 50))
def test_everybody_in_reach_is_no_restriction(algorithm: str, revisit: int, seed: int) -> None:
    known = "abc" if algorithm == "oracle" else None
    bound = Restarted(Laplace(0.2, 0.05), revisit=revisit)
    one, other = (
        lone(bound=bound, sigma=None, algorithm=algorithm, classmates=known) for _ in range(2)
    )
    rng = default_rng(seed)
    for _ in range(30):
        for agent, reachable in ((one, None), (other, NAMES)):
            asked = agent.choose_peer(reachable)
            assert asked is None or asked in NAMES[1:]
        peer, mean = str(rng.choice([*NAMES[1:]])), float(rng.choice([0.0, 9.0]))
        for agent in (one, other):
            agent.perceive(0.1)
            agent.receive(Reply(peer, mean, 300, 12.0, Laplace(0.2, 0.05).shape(300)))
        assert one.snapshot() == other.snapshot()
