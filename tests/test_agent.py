"""One agent: its verbs and its refusals."""

import math
import statistics
from typing import Any

import pytest
from agents import BOUNDS, JOINT_SIMPLE, fleet, make, step
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

from colme import Agent, Query, Reply, Snapshot
from colme.bounds import (
    Laplace,
    NormalMixture,
    split_risk,
)


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=30))
def test_a_lone_agent_estimates_the_mean_of_its_samples(samples: list[float]) -> None:
    agent = Agent("a", sigma=0.5, delta=0.1, max_agents=1)
    for sample in samples:
        agent.perceive(sample)
        assert agent.choose_peer() is None
    assert agent.estimate == pytest.approx(statistics.fmean(samples), abs=1e-9)
    assert agent.local_mean == pytest.approx(agent.estimate)
    assert agent.optimistic_class == {"a"}


def test_the_interval_is_the_local_mean_plus_and_minus_the_radius() -> None:
    agent, paper = make(), make(algorithm="round-robin")
    gamma = split_risk(0.1, 3)
    usual = {agent: NormalMixture(0.5, 1000, gamma), paper: Laplace(0.5, gamma)}
    for one, bound in usual.items():
        assert one.bound == bound
        assert one.interval == (-math.inf, math.inf)
        one.perceive(0.25)
        assert one.interval == (0.25 - bound.radius(1), 0.25 + bound.radius(1))
    assert "count=1, estimate=0.25" in repr(agent)


def test_the_own_name_keeps_its_place_among_the_peers_or_comes_first() -> None:
    assert make("b").peers == ("a", "b", "c")
    assert make("z", "ab").peers == ("z", "a", "b")
    assert make("b", algorithm="round-robin").choose_peer() == "a"


def test_peers_are_asked_in_the_order_given_and_newcomers_last() -> None:
    agent = make("b", "cab", max_agents=4, algorithm="round-robin")
    agent.perceive(0.0)
    assert [agent.choose_peer() for _ in range(3)] == ["c", "a", "c"]
    agent.receive(Reply("new", 0.0, 1))
    assert [agent.choose_peer() for _ in range(3)] == ["a", "new", "c"]


def test_the_row_grows_when_a_peer_appears() -> None:
    agent = make(peers="", algorithm="restricted-round-robin")
    agent.perceive(0.0)
    assert list(agent.peers) == ["a"]
    assert agent.receive(Reply("b", 1.0, 3))
    agent.meet("c")
    agent.meet("c")
    assert list(agent.peers) == ["a", "b", "c"]
    assert agent.optimistic_class == {"a", "b", "c"}
    assert agent.estimate == pytest.approx(0.75)


def test_restricted_asks_only_peers_that_may_share_the_mean() -> None:
    agent = make(sigma=0.01)
    agent.perceive(0.0)
    agent.receive(Reply("b", 1.0, 100))
    assert agent.optimistic_class == {"a", "c"}
    assert [agent.choose_peer(), agent.choose_peer()] == ["c", "c"]
    agent.receive(Reply("c", -1.0, 100))
    assert agent.choose_peer() is None
    assert agent.estimate == 0.0


def test_a_stale_reply_is_ignored_and_a_repeated_one_is_not() -> None:
    agent = make()
    assert agent.receive(Reply("b", 0.5, 5))
    before = agent.snapshot()
    assert not agent.receive(Reply("b", 0.9, 4))
    assert agent.snapshot() == before
    assert agent.receive(Reply("b", 0.5, 5))


@pytest.mark.parametrize("sample", [math.nan, math.inf, -math.inf, None])
def test_a_refused_sample_leaves_the_agent_as_it_was(sample: Any) -> None:
    agent = make()
    agent.perceive(0.5)
    before = agent.snapshot()
    with pytest.raises(ValueError, match=f"sample must be a finite number; received {sample}"):
        agent.perceive(sample)
    assert agent.snapshot() == before


def test_refused_messages_leave_the_agent_as_it_was() -> None:
    agent = make()
    before = agent.snapshot()
    with pytest.raises(ValueError, match="'a' received a reply in its own name"):
        agent.receive(Reply("a", 0.0, 9))
    with pytest.raises(ValueError, match=r"over 3 agents .*received one more, 'd'.*max_agents"):
        agent.receive(Reply("d", 0.0, 9))
    with pytest.raises(ValueError, match="'a' received a query meant for 'b'"):
        agent.answer(Query("c", "b"))
    with pytest.raises(ValueError, match="non-empty string; received ''"):
        agent.meet("")
    assert agent.snapshot() == before


def test_a_count_beyond_measure_is_refused_and_leaves_the_agent_as_it_was() -> None:
    agent = make()
    before = agent.snapshot()
    with pytest.raises(ValueError, match="count"):
        agent.receive(Reply("b", 0.0, 10**400))
    assert agent.snapshot() == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sigma": 0}, "sigma must be greater than 0; received 0"),
        ({"sigma": math.nan}, "sigma must be a finite number; received nan"),
        ({"delta": 0}, r"delta .* in \(0, 1\); received 0"),
        ({"delta": 1.5}, r"delta .* in \(0, 1\); received 1.5"),
        ({"max_agents": 0}, "max_agents must be at least 1; received 0"),
        ({"max_agents": 2}, "over 2 agents .*received one more, 'c'"),
        ({"algorithm": "gossip"}, "unknown algorithm 'gossip'"),
        ({"eta": -0.5}, "eta must be 0 or greater; received -0.5"),
        ({"algorithm": "oracle"}, "classmates=None with 'known'"),
        ({"classmates": "ab"}, "classmates='ab' with 'paired'"),
        ({"algorithm": "round-robin", "classmates": "ab"}, "classmates='ab' with 'overlap'"),
        ({"sigma": None}, "either sigma=.* or bound=.*received sigma=None, bound=None"),
        ({"bound": Laplace(0.5, 0.05)}, "either sigma=.* or bound=.*received sigma=0.5, bound=Lap"),
        ({"sigma": None, "bound": 0.5}, "bound must be one from colme.bounds; received 0.5"),
        ({"peers": ["b", 3]}, "non-empty string; received 3"),
        ({"name": ""}, "non-empty string; received ''"),
    ],
)
def test_an_agent_refuses_to_be_made_wrong(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(**changes)


@pytest.mark.parametrize("algorithm", ["sharp", "restricted-round-robin", "eta-round-robin"])
def test_an_estimate_without_own_samples_is_nan_only_while_nothing_is_known(algorithm: str) -> None:
    agent = make(algorithm=algorithm)
    assert math.isnan(agent.estimate)
    agent.receive(Reply("b", 0.5, 4))
    assert agent.estimate == 0.5


def test_a_peer_ruled_out_by_the_joint_test_stays_out_whatever_it_says_later() -> None:
    for algorithm in ("sharp", JOINT_SIMPLE):
        agent = make(sigma=0.01, algorithm=algorithm, peers="ab", max_agents=2)
        for _ in range(50):
            agent.perceive(0.0)
        agent.receive(Reply("b", 1.0, 50))
        assert agent.optimistic_class == {"a"}
        agent.receive(Reply("b", 0.0, 5000))
        restored = Agent.restore(Snapshot.from_json(agent.snapshot().to_json()))
        for one in (agent, restored):
            assert one.optimistic_class == one.likely_class == {"a"}
            assert one.estimate == 0.0
    overlap = make(sigma=0.01, algorithm="round-robin", peers="ab", max_agents=2)
    overlap.perceive(0.0)
    overlap.receive(Reply("b", 1.0, 50))
    assert overlap.optimistic_class == {"a"}
    overlap.receive(Reply("b", 0.0, 5000))
    assert overlap.optimistic_class == {"a", "b"}


def test_own_samples_alone_can_rule_out_a_peer_for_good() -> None:
    agent = make(sigma=0.1, peers="ab", max_agents=2, algorithm=JOINT_SIMPLE)
    agent.receive(Reply("b", 1.0, 10_000))
    assert agent.optimistic_class == {"a", "b"}
    for _ in range(30):
        agent.perceive(0.0)
    assert agent.optimistic_class == {"a"}
    for _ in range(3000):
        agent.perceive(1.0)
    assert agent.optimistic_class == {"a"}


def test_agents_with_other_bounds_understand_each_other() -> None:
    samples = default_rng(6).normal([i % 2 for i in range(12)], 0.1, (150, 12)).clip(-1, 2)
    agents = fleet(12, "sharp", bounds=BOUNDS)
    for now in samples.tolist():
        step(agents, now)
    for i, agent in enumerate(agents.values()):
        same = {f"agent {j}" for j in range(i % 2, 12, 2)}
        assert agent.optimistic_class == agent.likely_class == same
        assert abs(agent.estimate - i % 2) < 0.015
