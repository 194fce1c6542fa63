"""An agent in a fleet that nobody has counted: peers met one by one."""

import json
import math
from typing import Any

import numpy as np
import pytest
from agents import lone
from fleets import step
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy.stats import binomtest

from colme import ALGORITHMS, Agent, Algorithm, Query, Reply, Snapshot, rules
from colme.bounds import NormalMixture, spend_risk
from colme.model import Model
from colme.reply_view import view_of

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


def restored(agents: dict[str, Agent]) -> dict[str, Agent]:
    texts = [agent.snapshot().to_json() for agent in agents.values()]
    again = [Agent.restore(Snapshot.from_json(text)) for text in texts]
    return {agent.name: agent for agent in again}


@pytest.mark.parametrize("within", [None, 0.6])
@settings(max_examples=40)
@given(
    means=st.tuples(st.floats(-1, 1), st.floats(-1, 1)),
    counts=st.tuples(st.integers(1, 300), st.integers(1, 300)),
    j=st.integers(1, 10**6),
)
def test_a_reply_at_a_price_is_a_reply_read_at_less_risk(
    means: tuple[float, float], counts: tuple[int, int], j: int, within: float | None
) -> None:
    delta, bound = 0.1, NormalMixture(0.3, 50)
    base, least = -math.log(spend_risk(delta, 0)), -math.log(spend_risk(delta, j))
    own_reply, reply = (
        Reply("x", mean, count, 1.0, bound.shape(count))
        for mean, count in zip(means, counts, strict=True)
    )
    own, model = view_of(own_reply, base, Model.blank()), Model.blank()
    dear, direct = view_of(reply, base, model, least - base), view_of(reply, least, model)
    assert dear.radius == pytest.approx(direct.radius)
    for test in ("joint", "overlap"):
        algorithm = Algorithm("round-robin", "simple", test, 0.05, within=within)
        at_base, at_least = (
            rules.Choice.of(algorithm, math.exp(-log_risk)) for log_risk in (base, least)
        )
        for decide in (rules.belongs, rules.is_confirmed):
            before = decide is rules.belongs
            decided = {  # both decide alike but for the last bit
                decide(at_base, own, dear._replace(mean=dear.mean + off), before)
                for off in (-1e-9, 1e-9)
            }
            assert decide(at_least, own, direct, before) in decided


def test_the_first_peer_met_is_tested_at_the_largest_share_and_the_agent_at_half() -> None:
    agent = lone(max_agents=None, sigma=0.5)
    assert agent.bound.gamma == spend_risk(0.1, 0) == 0.1 / 16
    assert agent.snapshot().places == (0, 1, 2, 3, 4, 5)
    agent.meet("new")
    agent.meet("b")
    assert agent.snapshot().places == (0, 1, 2, 3, 4, 5, 6)
    assert agent.snapshot().n_met == 6


def far_enough(j: int) -> float:
    """Return from which mean on agent a excludes the j-th peer it has met."""
    names = [f"{i}" for i in range(1, j + 1)]
    low, high = 0.0, 9.0
    while high - low > 1e-9:
        agent = Agent("a", sigma=0.5, delta=0.1, algorithm=JOINT, peers=["a", *names])
        agent.perceive(*[0.0] * 50)
        agent.receive(Reply(names[-1], (low + high) / 2, 50))
        gone = names[-1] not in agent.optimistic_class
        low, high = (low, (low + high) / 2) if gone else ((low + high) / 2, high)
    return high


@pytest.mark.parametrize("j", [1, 2, 7])
def test_the_jth_peer_is_excluded_at_its_own_risk(j: int) -> None:
    spread, _, offset = NormalMixture(0.5, 1000, spend_risk(0.1, 0)).shape(50)
    level = -math.log(spend_risk(0.1, j)) + 2 * offset
    assert far_enough(j) == pytest.approx(math.sqrt(2 * 2 * spread * level), abs=1e-8)


def test_who_takes_anothers_entry_is_the_next_one_met() -> None:
    agent = lone(max_agents=None, room=6, algorithm=JOINT)
    agent.perceive(*[0.0, 0.1] * 100)
    agent.receive(Reply("c", 9.0, 300))
    assert agent.meet("new")
    assert agent.snapshot().places == (0, 1, 6, 3, 4, 5)
    agent.receive(Reply("new", 9.0, 300))
    assert agent.meet("c")  # forgotten, so met anew
    assert agent.snapshot().places == (0, 1, 7, 3, 4, 5)
    again = Agent.restore(agent.snapshot())
    assert again.snapshot() == agent.snapshot()
    again.receive(Reply("c", 9.0, 300))
    assert again.meet("newer")
    assert again.snapshot().n_met == 8


def excluding(runs: int, sigma: float, seed: int) -> int:
    """Return in how many runs an agent ever excludes one of eight that share its mean."""
    rng, n_excluding, n_peers = default_rng(seed), 0, 8
    for _ in range(runs):
        samples = rng.normal(0, 0.5, (40, n_peers + 1))
        means = samples.cumsum(axis=0) / np.arange(1, 41)[:, None]
        agent = Agent("a", bound=NormalMixture(sigma, 20), delta=0.99, algorithm=JOINT)
        for t in range(40):
            agent.perceive(samples[t, 0])
            peer = t % n_peers + 1
            agent.receive(Reply(str(peer), means[t, peer], t + 1))
        n_excluding += len(agent.optimistic_class) < n_peers + 1
    return n_excluding


def test_an_agent_that_meets_its_like_one_after_another_seldom_excludes_any() -> None:
    promised = 0.99 / 16
    assert binomtest(excluding(150, 0.5, 1), 150, promised, "greater").pvalue > 1e-3
    assert binomtest(excluding(60, 0.2, 2), 60, promised, "greater").pvalue < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_who_has_been_alone_for_long_pools_as_soon_as_it_has_heard_its_class(seed: int) -> None:
    rng = default_rng(seed)
    agents = fleet(12, sigma=0.5, max_agents=12, peers=())
    for agent in agents.values():
        agent.perceive(*rng.normal(0, 0.5, 1000).tolist())
    own, *others = agents.values()
    for peer in others:
        own.meet(peer.name)
    for _ in others:
        asked = own.choose_peer()
        assert asked is not None
        own.receive(agents[asked].answer(Query(own.name, asked)))
    mean_of_all = np.mean([agent.local_mean for agent in agents.values()])
    # A fit in the middle of the round knows only most of the class: it is close, not there.
    assert abs(own.estimate - mean_of_all) < 0.5 * abs(own.local_mean - mean_of_all)


@settings(max_examples=25, deadline=None)
@given(
    algorithm=st.sampled_from([*ALGORITHMS, JOINT]),
    cap=st.sampled_from([None, 1.0, 2.5]),
    ahead=st.integers(1, 30),
    restart=st.integers(0, 15),
    seed=st.integers(0, 100),
)
def test_a_restored_fleet_goes_on_to_the_last_bit(
    algorithm: str | Algorithm, cap: float | None, ahead: int, restart: int, seed: int
) -> None:
    rng = default_rng(seed)
    steady, again = (fleet(5, algorithm=algorithm, cap=cap) for _ in range(2))
    for t, now in enumerate(rng.normal([i % 2 for i in range(5)], 0.2, (16, 5)).tolist()):
        if t == restart:
            again = restored(again)
        for agents in (steady, again):
            step(agents, now)
            agents["agent 1"].perceive(*[now[1]] * ahead)  # is always ahead of the others
        assert readings(again) == readings(steady)


def test_an_old_snapshot_is_still_read() -> None:
    agent = lone()
    agent.perceive(0.1, 0.2)
    record = json.loads(agent.snapshot().to_json())
    for field in ("cap", "places", "n_met"):
        del record[field]
    del record["model"][0][-1]
    assert Agent.restore(Snapshot.from_json(json.dumps(record))).snapshot() == agent.snapshot()


@pytest.mark.parametrize(
    "change",
    [
        {"places": []},
        {"places": None},
        {"places": [0, 1, 2]},
        {"places": [0, 1, 2, 3, 4, 5, 6]},
        {"places": [1, 0, 2, 3, 4, 5]},
        {"places": [0, 1, 2, 3, 4, 4]},
        {"places": [0, 1, 2, 3, 4, 6]},
        {"places": [0, 1, 2, 3, 4, 5.5]},
        {"places": [0, 1, 2, 3, 4, -1]},
        {"n_met": 4},
        {"n_met": -1},
        {"n_met": None},
        {"n_met": 2**60},
        {"max_agents": 9},
        {"cap": 0.5},
        {"cap": "much"},
    ],
    ids=str,
)
def test_no_agent_rises_from_a_tampered_series(change: dict[str, Any]) -> None:
    agent = lone(max_agents=None, cap=2)
    record = json.loads(agent.snapshot().to_json())
    assert Agent.restore(Snapshot.from_json(json.dumps(record))).snapshot() == agent.snapshot()
    with pytest.raises(ValueError, match=r"."):
        Agent.restore(Snapshot.from_json(json.dumps(record | change)))
