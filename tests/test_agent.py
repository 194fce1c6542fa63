"""One agent: its verbs, its refusals, and its life after a restart."""

import json
import math
import statistics
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from colme import ALGORITHMS, Agent, Algorithm, Query, Reply, Snapshot
from colme.bounds import Laplace, split_risk


def make(name: str = "a", peers: str = "abc", **changes: Any) -> Agent:
    usual: dict[str, Any] = {"sigma": 0.5, "delta": 0.1, "max_agents": 3, "peers": peers}
    return Agent(name, **(usual | changes))


def fleet(n: int, algorithm: str | Algorithm, eta: float | None = None) -> dict[str, Agent]:
    names = [f"agent {i}" for i in range(n)]
    known = algorithm == "oracle"
    return {
        name: Agent(
            name,
            sigma=0.1,
            delta=0.1,
            max_agents=n,
            algorithm=algorithm,
            eta=eta,
            peers=names,
            classmates=names[i % 2 :: 2] if known else None,
        )
        for i, name in enumerate(names)
    }


def step(agents: dict[str, Agent], samples: list[float]) -> list[float]:
    """Let all perceive, then all ask; return the estimates."""
    for agent, sample in zip(agents.values(), samples, strict=True):
        agent.perceive(sample)
    for agent in agents.values():
        peer = agent.choose_peer()
        if peer is not None:
            agent.receive(agents[peer].answer(Query(agent.name, peer)))
    return [agent.estimate for agent in agents.values()]


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
    agent = make()
    assert agent.interval == (-math.inf, math.inf)
    agent.perceive(0.25)
    radius = Laplace(0.5, split_risk(0.1, 3)).radius(1)
    assert agent.interval == (0.25 - radius, 0.25 + radius)
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
    agent = make(peers="")
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
        ({"classmates": "ab"}, "classmates='ab' with 'overlap'"),
        ({"peers": ["b", 3]}, "non-empty string; received 3"),
        ({"name": ""}, "non-empty string; received ''"),
    ],
)
def test_an_agent_refuses_to_be_made_wrong(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(**changes)


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


@pytest.mark.parametrize("algorithm", ["restricted-round-robin", "eta-round-robin"])
def test_an_estimate_without_own_samples_is_nan_only_while_nothing_is_known(algorithm: str) -> None:
    agent = make(algorithm=algorithm)
    assert math.isnan(agent.estimate)
    agent.receive(Reply("b", 0.5, 4))
    assert agent.estimate == 0.5
