"""What others said, passed on: news for who asks, and nothing that its owner has not said."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from commands import free_address
from frames import framed, names
from hosts import living, peer, until
from hypothesis import given
from hypothesis import strategies as st
from node_cores import core, exchange, fleet_of, fold, live_through, save
from relay_trio import Frames, Trio, known

from colme import Agent, Problem, Reply
from colme.live.keys import Authority
from colme.live.relays import HeldFrames, NameBits
from colme.live.settings import AgentSettings
from colme.live.wire import (
    MOST_BUNDLE_BYTES,
    MOST_BYTES,
    MOST_RELAYS,
    Refused,
    ReplyBundle,
    WireQuery,
    WireReply,
    decode,
    encode,
)


@pytest.fixture(params=["believed", "sealed"])
def trio(request: pytest.FixtureRequest, tmp_path: Path) -> Trio:
    keys = Authority.create(tmp_path / "keys", "home") if request.param == "sealed" else None
    return Trio(authority=keys)


def test_what_a_peer_said_to_another_is_heard_from_that_one(trio: Trio) -> None:
    sent: Frames = []

    def remember(frames: Frames) -> Frames:
        sent.extend(frames)
        return frames

    trio.relay = remember
    assert trio.ask()
    assert known(trio.a, "b") == known(trio.c, "b")
    assert (known(trio.a, "b").count, known(trio.a, "c").count) == (3, 1)
    assert not trio.a.refused
    assert (trio.a.counts["heard"], trio.a.counts["relayed"]) == (1, 1)
    # b is known to have that life, and not to be there
    status = trio.a.membership.status("b")
    assert (list(status.lives), status.heard) == ([1], None)
    # what was relayed can be relayed again, as it came
    d = core("d", relays=4, seal=trio.a.seal)
    d.appear("a", "b")
    bundle = decode(trio.a.answer(trio.a.read_query(d.query_to("a"))) or b"")
    assert isinstance(bundle, ReplyBundle)
    assert set(bundle.relayed) > set(sent)


def test_who_asks_for_no_relays_gets_none_and_accepts_none() -> None:
    trio = Trio(relays=0)
    query = trio.a.query_to("c")
    assert len(query) == len(encode(WireQuery("a", "c", 2**62)))
    reply = trio.c.answer(trio.c.read_query(query))
    assert reply is not None
    assert isinstance(decode(reply), WireReply)
    assert not trio.a.receive("c", encode(ReplyBundle(reply, (reply,))), 0.0, 0.0)
    assert trio.a.refused == {"not an answer": 1}
    assert (trio.a.longest_reply, core("a", relays=1).longest_reply) == (
        MOST_BYTES,
        MOST_BUNDLE_BYTES,
    )
    assert trio.a.receive("c", reply, 0.0, 0.0)
    assert known(trio.a, "b").count == 0


class OldQuery(msgspec.Struct):
    """A query as nodes before read it."""

    sender: str
    receiver: str
    nonce: int
    as_of: int = 0


def test_nodes_of_before_ask_and_are_asked_as_ever() -> None:
    trio = Trio()
    asked = msgspec.msgpack.decode(trio.a.query_to("c")[8:], type=OldQuery)
    assert (asked.sender, asked.receiver, asked.as_of) == ("a", "c", 0)
    alone = framed(1, {"sender": "a", "receiver": "c", "nonce": asked.nonce, "as_of": 0})
    reply = trio.c.answer(trio.c.read_query(alone))
    assert reply is not None
    assert isinstance(decode(reply), WireReply)
    assert trio.a.receive("c", reply, 0.0, 0.0)
    assert not trio.a.refused


# Crashes


@pytest.mark.parametrize("kept", ["journal", "checkpoint"])
def test_a_crash_leads_to_the_same_agent(kept: str) -> None:
    problem = Problem.gaussian([0.0, 3.0], class_sizes=[3, 3], sigma=0.5, seed=0)
    samples, fleet_names = problem.draw(40, seed=1)[0], list("abcdef")
    fleet = fleet_of(fleet_names, relays=3)
    checkpoints = {name: one.checkpoint() for name, one in fleet.items()}
    events = {name: list(one.unsaved) for name, one in fleet.items()}
    for t, row in enumerate(samples.tolist()):
        for (name, one), sample in zip(fleet.items(), row, strict=True):
            one.fold([sample], str(t + 1))
            chosen = one.next_query(float(t))
            if chosen is not None:
                assert exchange(one, fleet[chosen[0]], float(t))
            events[name] += save(one)
            if kept == "checkpoint" and t == 5:
                checkpoints[name], events[name] = one.checkpoint(), []
    assert all(one.counts["relayed"] > 5 for one in fleet.values())
    query = WireQuery("x", "a", nonce=7, relays=3)
    for name, before in fleet.items():
        again = core(name, relays=3)
        again.resume(checkpoints[name], events[name])
        assert json.loads(again.checkpoint()) == json.loads(before.checkpoint())
        # its frames are gone: it relays nothing until it hears again
        assert isinstance(decode(before.answer(query) or b""), ReplyBundle)
        assert isinstance(decode(again.answer(query) or b""), WireReply)


# How fast news travels


PROBLEM = Problem.gaussian([0.0, 1.0], class_sizes=[8, 8], sigma=0.5, seed=0)
NAMES = [f"{n:02d}" for n in range(16)]


def test_cores_relay_what_plain_agents_relay() -> None:
    samples = PROBLEM.draw(20, seed=3)[0]
    fleet = fleet_of(NAMES, relays=4, max_agents=16)
    live_through(fleet, samples)
    rounds = [[*NAMES[i:], *NAMES[:i]] for i in range(len(NAMES))]  # each from its own name on
    agents = {
        row[0]: Agent(row[0], sigma=0.5, delta=0.01, max_agents=16, relays=4, peers=row)
        for row in rounds
    }
    for row in samples.tolist():
        for agent, sample in zip(agents.values(), row, strict=True):
            agent.perceive(sample)
        for agent in agents.values():
            peer = agents[agent.choose_peer() or ""]
            query = agent.query_to(peer.name)
            agent.receive(peer.answer(query), peer.relayed(query))
    for name, agent in agents.items():
        assert set(fleet[name].agent.snapshot().replies) == set(agent.snapshot().replies)
    # cores name their peers from their own name on: all ask others, and most relays are news
    assert sum(one.counts["relayed"] for one in fleet.values()) > 2 * 16 * 20


def test_with_relays_news_is_younger_and_classes_are_found_sooner() -> None:
    samples, ages, sizes, errors = PROBLEM.draw(40, seed=3)[0], [], [], []
    own_class = {name: n < 8 for n, name in enumerate(NAMES)}
    for relays in (0, 4):
        fleet = fleet_of(NAMES, relays=relays, max_agents=16)
        live_through(fleet, samples)
        assert not any(one.refused for one in fleet.values())
        counts = [
            reply.count
            for name, one in fleet.items()
            for reply in one.agent.snapshot().replies
            if reply.sender != name and own_class[reply.sender] == own_class[name]
        ]
        ages.append(40 - np.mean(counts))
        sizes.append(np.mean([len(one.agent.optimistic_class) for one in fleet.values()]))
        estimates = np.array([one.agent.estimate for one in fleet.values()])
        errors.append(np.abs(estimates - PROBLEM.true_means).mean())
    assert ages[1] < 0.5 * ages[0]
    assert sizes[1] < sizes[0]
    assert errors[1] < errors[0]


# Whose news is wanted


@given(st.sets(names, max_size=40), names)
def test_bits_hold_every_name_that_was_given(some: set[str], other: str) -> None:
    wanted = NameBits.of(some)
    assert len(wanted.bits) == 32
    assert all(name in wanted for name in some)
    assert other in NameBits()
    assert not some <= {other} or other in wanted or not some


def test_peers_that_are_excluded_are_not_asked_for() -> None:
    trio = Trio()
    everybody = trio.a.query_to("c")
    assert trio.c.read_query(everybody).wanted == b""
    fold(trio.a, *[0.4] * 60)
    far = core("b", life=9)
    fold(far, *[9.0] * 60)
    assert exchange(trio.a, far, now=100.0)
    assert "b" not in trio.a.agent.optimistic_class
    query = trio.c.read_query(trio.a.query_to("c"))
    assert len(query.wanted) == 32
    assert "b" not in NameBits(query.wanted)
    assert "c" in NameBits(query.wanted)
    assert isinstance(decode(trio.c.answer(query) or b""), WireReply)


# Limits


def test_a_bundle_stays_below_its_limit_whatever_is_held() -> None:
    one = core("a")
    peers = [f"p{n}" for n in range(60)]
    one.appear(*peers)
    for name in peers:
        one.agent.receive(Reply(name, 0.5, 3))
    held = HeldFrames()
    held.keep(dict.fromkeys(peers, bytes(MOST_BYTES)), one.agent)
    query = WireQuery("b", "a", nonce=7, relays=2**53)
    bundle = decode(held.bundle(b"own", query, one.agent))
    assert isinstance(bundle, ReplyBundle)
    assert len(bundle.relayed) == MOST_BUNDLE_BYTES // (MOST_BYTES + 5)
    held.keep(dict.fromkeys(peers, b"frame"), one.agent)
    bundle = decode(held.bundle(b"own", query, one.agent))
    assert isinstance(bundle, ReplyBundle)
    assert len(bundle.relayed) == MOST_RELAYS
    held.keep({f"q{n}": b"frame" for n in range(1000)}, one.agent)
    assert len(held._frames) <= len(one.agent.peers)


def test_a_bundle_that_is_too_long_is_refused_before_it_is_read() -> None:
    trio = Trio()
    trio.a.query_to("c")
    assert not trio.a.receive("c", framed(4, bytes(MOST_BUNDLE_BYTES)), 0.0, 0.0)
    assert trio.a.refused == {"too long": 1}
    with pytest.raises(ValueError, match=f"at most {MOST_BUNDLE_BYTES} bytes"):
        encode(ReplyBundle(b"own", (bytes(MOST_BUNDLE_BYTES),)))
    with pytest.raises(Refused, match="Expected `bytes`"):
        decode(framed(4, {"own": b"x", "relayed": [1]}))
    assert trio.ask()


def test_agents_in_step_relay_nothing() -> None:
    with pytest.raises(ValueError, match=r"in step ask about the past.*leave out relays"):
        core("a", in_step=True, relays=2)


def test_over_real_sessions_a_node_hears_of_one_that_it_never_asked(tmp_path: Path) -> None:
    settings, meeting = AgentSettings(sigma=0.5, relays=4), free_address()

    async def main() -> None:
        here, there = peer(listen=meeting), peer(connect=meeting)
        async with living(tmp_path, "c", [0.4], settings, connection=here) as c:
            async with living(tmp_path, "b", [0.5] * 3, settings, connection=there) as b:
                await until(lambda: "b" in c.core.agent.peers and known(c.core, "b").count == 3)
                life = b.core.life
            await until(lambda: not c.core.membership.present)
            async with living(tmp_path, "a", [0.5], settings, connection=there) as a:
                a.core.agent.meet("b")  # as if it had been there before
                await until(lambda: known(a.core, "b").count == 3)
                assert list(a.core.membership.status("b").lives) == [life]
                assert not a.core.refused
                assert not c.core.refused

    asyncio.run(main())
