"""What a crash takes from a node core, and what peers may know: nothing that was not stored."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from node_cores import core, exchange, fold, lie, save

from colme.live.node_core import NodeCore


@given(st.lists(st.sampled_from("fffasmc"), max_size=40), st.integers(0, 10**6))
def test_a_crash_at_any_moment_loses_only_what_was_not_safe(script: list[str], seed: int) -> None:
    rng = random.Random(seed)
    others = {name: core(name, life) for life, name in enumerate("bcd")}
    for other in others.values():
        fold(other, rng.gauss(0, 1))
    a = core("a")
    checkpoint: bytes | None = a.checkpoint()
    journal: list[bytes] = []
    for act in script:
        if act == "f":
            a.fold([rng.gauss(0, 1) for _ in range(rng.randint(1, 3))], str(rng.random()))
        elif act == "a":
            a.appear(rng.choice("bcd"))
            chosen = a.next_query(now=0.0)
            if chosen is not None:
                other = others[chosen[0]]
                fold(other, rng.gauss(0, 1))
                told = other.answer(other.read_query(chosen[1]))
                assert told is not None
                assert a.receive(chosen[0], told, now=0.0, at=5.0)
        elif act == "s":
            journal += save(a)
        elif act == "m":
            a.add_peer()
        elif not a.unsaved:
            checkpoint, journal = a.checkpoint(), []
    lost = len(a.unsaved)
    again = core("a")
    again.resume(checkpoint, journal)
    if lost:  # what was not safe is not known to peers either
        again.resume(None, a.unsaved)
    assert again.checkpoint() == a.checkpoint()
    assert (again.agent.count, again.position) == (a.agent.count, a.position)


def test_a_device_that_lost_its_disk_is_a_new_epoch_not_a_contradiction() -> None:
    a, b = core("a"), core("b", life=1)
    fold(b, *[0.5] * 50)
    assert exchange(a, b, now=0.0)
    reborn = core("b", life=2)
    fold(reborn, 4.0)
    assert exchange(a, reborn, now=1.0)
    assert not a.refused
    (reply,) = (one for one in a.agent.snapshot().replies if one.sender == "b")
    assert (reply.count, reply.epoch) == (1, 1)
    assert not exchange(a, b, now=2.0)  # a copy of the old disk
    assert a.refused == {"old life": 1}


def heard_count(asker: NodeCore, peer: str) -> int:
    (count,) = (one.count for one in asker.agent.snapshot().replies if one.sender == peer)
    return count


def test_peers_hear_nothing_while_any_event_is_unsaved() -> None:
    a, b = core("a"), core("b")
    b.fold([0.5], "1")
    b.fold([0.7], "2")
    b.saved(1)
    assert exchange(a, b, now=0.0)
    assert heard_count(a, "b") == 0
    b.saved(1)
    assert exchange(a, b, now=1.0)
    assert heard_count(a, "b") == 2


@pytest.mark.parametrize("is_in_checkpoint", [True, False], ids=["checkpoint", "journal"])
def test_a_restarted_node_still_checks_replies_against_those_before(is_in_checkpoint: bool) -> None:
    a, b = core("a"), core("b")
    beginning = a.checkpoint()
    fold(b, *[0.4, 0.6] * 10)
    a.appear("b")
    assert exchange(a, b, now=0.0)
    again = core("a")
    if is_in_checkpoint:
        again.resume(a.checkpoint(), [])
    else:
        again.resume(beginning, a.unsaved)
    reply = b.answer(b.read_query(again.query_to("b")))
    assert reply is not None
    assert not again.receive("b", lie(reply, mean=0.9), now=0.0, at=1.0)
    assert again.refused == {"contradiction": 1}
    assert again.receive("b", reply, now=0.0, at=1.0)
