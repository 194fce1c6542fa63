"""An agent whose stream, peers and memory change: batches, epochs, room, care."""

import math
from dataclasses import replace
from typing import Any

import pytest

from colme import Agent, Algorithm, Query, Reply, Snapshot
from colme.bounds import Bound, EmpiricalBernstein, Laplace, Restarted


def said(peer: str, mean: float, count: int, epoch: int = 0) -> Reply:
    return Reply(peer, mean, count, 0.04 * count, Laplace(0.2, 0.05).shape(count), epoch)


def lone(**changes: Any) -> Agent:
    keep: dict[str, Any] = {"sigma": 0.2, "delta": 0.01, "max_agents": 9, "peers": "abcd"}
    agent = Agent("a", **(keep | changes))
    agent.perceive(*[0.0, 0.1] * 100)
    return agent


def test_many_samples_at_once_are_the_same_samples_one_by_one() -> None:
    one, many = lone(), lone()
    for sample in (0.3, 0.4, 0.5):
        one.perceive(sample)
    many.perceive(0.3, 0.4, 0.5)
    # Of its past an agent keeps the means that its peers may have heard: one for each step.
    assert len(one.snapshot().past) == len(many.snapshot().past) + 2
    assert replace(one.snapshot(), past=()) == replace(many.snapshot(), past=())
    many.perceive()
    assert replace(one.snapshot(), past=()) == replace(many.snapshot(), past=())


def test_of_many_samples_none_is_folded_if_one_is_bad() -> None:
    refused: list[tuple[Bound, float]] = [
        (Laplace(0.2, 0.05), math.nan),
        (EmpiricalBernstein(0, 1), 2.0),
    ]
    for bound, bad in refused:
        agent = Agent("a", bound=bound, delta=0.01, max_agents=2)
        agent.perceive(0.5)
        before = agent.snapshot()
        with pytest.raises(ValueError, match=r"received"):
            agent.perceive(0.1, 0.2, bad)
        assert agent.snapshot() == before


def test_a_peer_that_begins_anew_is_heard_with_fewer_samples_and_is_a_member_again() -> None:
    agent = lone()
    agent.receive(said("b", 5.0, 300))
    assert "b" not in agent.optimistic_class
    assert not agent.receive(said("b", 0.0, 3))  # older than what is known
    assert "b" not in agent.optimistic_class
    assert agent.receive(said("b", 0.0, 3, epoch=1))
    assert "b" in agent.optimistic_class
    before = agent.snapshot()
    with pytest.raises(ValueError, match=r"'b' is in epoch 1, and its reply says 0"):
        agent.receive(said("b", 0.0, 900))
    assert agent.snapshot() == before
    assert Agent.restore(before).optimistic_class == agent.optimistic_class


def test_an_agent_that_begins_anew_forgets_whom_it_had_ruled_out() -> None:
    agent = lone(bound=Restarted(Laplace(0.2, 0.05)), sigma=None)
    agent.receive(said("b", 5.0, 300))
    assert "b" not in agent.optimistic_class
    while agent.answer(Query("b", "a")).epoch == 0:
        agent.perceive(5.0)
    assert "b" in agent.optimistic_class
    assert agent.count == 1


def test_excluded_peers_are_asked_now_and_then_where_things_may_change() -> None:
    for revisit, asked_again in ((3, True), (0, False)):
        agent = lone(bound=Restarted(Laplace(0.2, 0.05), revisit=revisit), sigma=None)
        agent.receive(said("b", 5.0, 300))
        agent.receive(said("c", 5.0, 300))
        asked = [agent.choose_peer() for _ in range(12)]
        assert ("b" in asked and "c" in asked) == asked_again
        assert asked.count("d") == (8 if asked_again else 12)
        again = Agent.restore(agent.snapshot())
        assert [again.choose_peer() for _ in range(7)] == [agent.choose_peer() for _ in range(7)]


def test_a_full_row_takes_in_a_peer_in_place_of_an_excluded_one() -> None:
    agent = lone(room=4, algorithm=Algorithm("restricted-round-robin", "simple", "joint"))
    assert not agent.meet("e")
    assert not agent.receive(said("e", 0.0, 10))
    agent.receive(said("c", 5.0, 300))
    assert agent.meet("e")
    assert agent.peers == ("a", "b", "e", "d")
    assert agent.meet("b")
    assert agent.receive(said("e", 0.0, 10))
    assert not agent.meet("c")
    assert Agent.restore(agent.snapshot()).peers == agent.peers
    with pytest.raises(ValueError, match="room for 3 agents, itself included; received 4"):
        lone(room=3)


def test_where_a_model_weighs_an_unlikely_peer_makes_room_too() -> None:
    agent = lone(room=4)
    agent.receive(said("c", 0.12, 300))  # some four standard errors off, and not excluded
    assert "c" in agent.optimistic_class
    assert agent.meet("e")
    assert agent.peers == ("a", "b", "e", "d")


def test_a_careful_agent_keeps_what_was_shown_through_a_snapshot() -> None:
    agent = lone(within=0.5)
    alone = agent.estimate
    agent.receive(said("b", 0.2, 2))
    assert agent.estimate == alone
    assert agent.snapshot().shown == ("a",)
    agent.receive(said("b", 0.06, 3000))
    assert agent.snapshot().shown == ("a", "b")
    again = Agent.restore(Snapshot.from_json(agent.snapshot().to_json()))
    assert again.estimate == agent.estimate
