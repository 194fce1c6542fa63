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
from colme.bounds import (
    KINDS,
    Asymptotic,
    Betting,
    Bound,
    Discounted,
    EmpiricalBernstein,
    Laplace,
    NormalMixture,
    Restarted,
    Stitched,
    Student,
    Windowed,
    split_risk,
)

BOUNDS: list[Bound] = [
    Asymptotic(50, burn_in=4),
    Student(20),
    Betting(-1, 2, n_grid=20),
    EmpiricalBernstein(-1, 2),
    Laplace(0.2, 0.05),
    NormalMixture(0.2, 100),
    Stitched(0.2),
    Windowed(Laplace(0.2, 0.05), 40),
    Discounted(Laplace(0.2, 0.05), 0.9),
    Restarted(Laplace(0.2, 0.05)),
]
JOINT_SIMPLE = Algorithm("round-robin", "simple", "joint")


def make(name: str = "a", peers: str = "abc", **changes: Any) -> Agent:
    usual: dict[str, Any] = {"sigma": 0.5, "delta": 0.1, "max_agents": 3, "peers": peers}
    return Agent(name, **(usual | changes))


def fleet(
    n: int, algorithm: str | Algorithm, eta: float | None = None, bounds: list[Bound] | None = None
) -> dict[str, Agent]:
    names = [f"agent {i}" for i in range(n)]
    known = algorithm == "oracle"
    return {
        name: Agent(
            name,
            bound=(bounds or [Laplace(0.1, 0.05)])[i % len(bounds or [0])],
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
        ({"classmates": "ab"}, "classmates='ab' with 'joint'"),
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


@pytest.mark.parametrize("algorithm", ["sharp", "restricted-round-robin", "eta-round-robin"])
def test_an_estimate_without_own_samples_is_nan_only_while_nothing_is_known(algorithm: str) -> None:
    agent = make(algorithm=algorithm)
    assert math.isnan(agent.estimate)
    agent.receive(Reply("b", 0.5, 4))
    assert agent.estimate == 0.5


def test_every_kind_of_bound_is_tried_here() -> None:
    assert {type(bound).__name__ for bound in BOUNDS} == set(KINDS)


def told(agents: dict[str, Agent]) -> list[object]:
    """Return all that can be read of a fleet, to the last bit."""
    return [
        (agent.estimate, agent.optimistic_class, agent.likely_class, agent.interval, agent.count)
        for agent in agents.values()
    ]


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
        assert told(steady) == told(restarted)
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
    assert told(watched) == told(unwatched)


@pytest.mark.parametrize("bound", [Laplace(0.5, 0.05), NormalMixture(0.5, 100), Stitched(0.5)])
@pytest.mark.parametrize("algorithm", ["sharp", "soft-restricted-round-robin"])
def test_a_bare_reply_is_read_with_the_own_bound(bound: Any, algorithm: str) -> None:
    one, other = (make(sigma=None, bound=bound, algorithm=algorithm) for _ in range(2))
    own: Any = one.bound
    assert own == bound.at_risk(split_risk(0.1, 3))
    for agent in (one, other):
        for sample in (0.1, 0.4, 0.2, 0.3):
            agent.perceive(sample)
    for peer, mean, count in [("b", 0.3, 7), ("c", 9.0, 4), ("b", 0.5, 9)]:
        one.receive(Reply(peer, mean, count))
        other.receive(Reply(peer, mean, count, (count - 1) * 0.25, own.shape(count)))
    assert one.snapshot() == other.snapshot()
    assert one.estimate == other.estimate
    assert one.optimistic_class == other.optimistic_class == {"a", "b"}


@pytest.mark.parametrize("given", ["squares", "shape"])
def test_a_half_bare_reply_is_completed_and_what_it_says_is_kept(given: str) -> None:
    agent, said = make(), {"squares": 3.0, "shape": (0.5, 2.0, 1.0)}
    agent.receive(Reply("b", 0.0, 4, **{given: said[given]}))  # type: ignore[arg-type]
    kept = agent.snapshot().replies[1]
    assert getattr(kept, given) == said[given]
    own = NormalMixture(0.5, 1000, split_risk(0.1, 3))
    usual = {"squares": 3 * 0.25, "shape": own.shape(4)}
    missing = "shape" if given == "squares" else "squares"
    assert getattr(kept, missing) == usual[missing]


@pytest.mark.parametrize("bound", BOUNDS[:3], ids=lambda bound: type(bound).__name__)
@pytest.mark.parametrize("peer", ["b", "new"])
def test_a_bare_reply_is_refused_where_the_own_bound_cannot_stand_in(
    bound: Bound, peer: str
) -> None:
    agent = make(sigma=None, bound=bound, max_agents=4)
    agent.perceive(0.5)
    before = agent.snapshot()
    kind = type(bound).__name__
    with pytest.raises(ValueError, match=f"the reply of '{peer}' carries no evidence.*{kind}"):
        agent.receive(Reply(peer, 0.5, 3))
    assert agent.snapshot() == before
    assert agent.receive(Reply(peer, 0.0, 0))  # nothing to read
    assert agent.receive(Reply(peer, 0.5, 3, 12.0, (0.0, 2.0, 1.0)))


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
    agent = make(sigma=0.1, peers="ab", max_agents=2)
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
