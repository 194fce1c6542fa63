"""What others said, passed on: news for who asks, and nothing that its owner has not said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from frames import framed, names
from hypothesis import given
from hypothesis import strategies as st
from node_cores import core, exchange, fleet_of, fold, lie, live_through, save

from colme import Agent, Problem, Reply
from colme.live.journal import unpack
from colme.live.keys import Authority, Identity
from colme.live.node_core import NodeCore
from colme.live.relays import HeldFrames, NameBits
from colme.live.wire import (
    MOST_BUNDLE_BYTES,
    MOST_BYTES,
    MOST_RELAYS,
    Refused,
    ReplyBundle,
    SealedReply,
    WireQuery,
    WireReply,
    decode,
    encode,
)

Frames = list[bytes]


def known(one: NodeCore, peer: str) -> Reply:
    """Return what a core knows of a peer."""
    (reply,) = (reply for reply in one.agent.snapshot().replies if reply.sender == peer)
    return reply


class Trio:
    """`a` asks `c`, which has heard `b` and relays what `relay` makes of that."""

    def __init__(self, relays: int = 4, authority: Authority | None = None) -> None:
        seals: dict[str, object] = dict.fromkeys("abc")
        if authority is not None:
            folders = authority.issue_all(list("abc"))
            seals = {folder.name: Identity.load(folder) for folder in folders}
        self.relay: Callable[[Frames], Frames] = list
        self.a = core("a", relays=relays, seal=seals["a"])
        self.b = core("b", seal=seals["b"])
        self.c = core("c", seal=seals["c"], relay_filter=self._relay)
        self.a.appear("b", "c")
        self.c.appear("a", "b")
        fold(self.a, 0.4)
        fold(self.b, 0.4, 0.6, 0.5)
        fold(self.c, 0.7)
        assert exchange(self.c, self.b, now=0.0)

    def _relay(self, frames: Frames) -> Frames:
        return self.relay(frames)

    def ask(self, now: float = 0.0) -> bool:
        """Let `a` ask `c`."""
        return exchange(self.a, self.c, now)


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


# Relayers that lie


def test_a_changed_bit_of_a_relayed_frame_is_refused_and_counted(trio: Trio) -> None:
    before, kept = trio.a.agent.snapshot().replies, []
    trio.relay = lambda frames: [kept.append(frames[0])] and frames
    trio.c.answer(trio.c.read_query(trio.a.query_to("c")))
    (frame,) = kept
    for place in range(len(frame)):
        changed = bytearray(frame)
        changed[place] ^= 1 << place % 8
        trio.relay = lambda _, spoilt=bytes(changed): [spoilt]  # type: ignore[misc]
        assert trio.ask()
        assert sum(trio.a.refused.values()) == place + 1
    assert all(reason.startswith("relay: ") for reason in trio.a.refused)
    assert [one for one in trio.a.agent.snapshot().replies if one.sender == "b"] == [
        one for one in before if one.sender == "b"
    ]
    assert trio.a.counts["relayed"] == 0


def forged(told: bytes, **changes: object) -> bytes:
    """Return a sealed frame whose payload was changed, with a right checksum."""
    sealed = decode(told)
    assert isinstance(sealed, SealedReply)
    return encode(replace(sealed, payload=lie(sealed.payload, **changes)))


def test_with_keys_nothing_can_be_invented(tmp_path: Path) -> None:
    trio = Trio(authority=Authority.create(tmp_path / "keys", "home"))
    said = encode(WireReply(7, 1, Reply("b", 9.0, 50, 1.0, (0.1, 1.0, 1.0))))
    assert trio.c.seal is not None
    in_own_name = encode(trio.c.seal.seal(said, b"colme home"))
    cases: dict[str, Callable[[Frames], Frames]] = {
        "relay: forged": lambda frames: [forged(frames[0], mean=9.0, count=50)],
        "relay: unsealed": lambda _: [said],
        "relay: impostor": lambda _: [in_own_name],
        "relay: stranger": lambda _: [encode(SealedReply(said, b"nobody", b"signed"))],
    }
    for reason, trio.relay in cases.items():
        assert trio.ask()
        assert trio.a.refused[reason] == 1
        assert known(trio.a, "b").count == 0
    assert len(trio.a.refused) == len(cases)


def reply_frame(sender: str, mean: float = 0.5, count: int = 50, life: int = 1) -> bytes:
    said = Reply(sender, mean, count, squares=0.25 * count, shape=(0.25 / count, 1.0, 1.0))
    return encode(WireReply(7, life, said))


@pytest.mark.parametrize(
    ("frames", "reason"),
    [
        ([reply_frame("a")], "relay: misdirected"),
        ([reply_frame("c")], "relay: misdirected"),
        ([reply_frame("b"), reply_frame("b", count=60)], "relay: misdirected"),
        ([b""], "relay: garbage"),
        ([b"CM\2"], "relay: length"),
        ([encode(WireQuery("b", "a", 7))], "relay: not an answer"),
        ([encode(ReplyBundle(reply_frame("b"), ()))], "relay: not an answer"),
        ([framed(2, b"\x80")], "relay: values"),
        ([framed(3, bytes(MOST_BYTES))], "relay: too long"),
        ([reply_frame("x")] * 9, "relay: too many"),
    ],
)
def test_a_bad_frame_is_counted_and_the_reply_that_carries_it_counts(
    frames: Frames, reason: str
) -> None:
    trio = Trio()
    trio.relay = lambda _: frames
    assert trio.ask()
    assert trio.a.refused == {reason: 1}
    assert known(trio.a, "c").count == 1
    assert known(trio.a, "b").count == (50 if len(frames) == 2 else 0)


def test_strangers_and_old_news_change_nothing_and_are_no_offence() -> None:
    trio = Trio()
    trio.relay = lambda frames: [reply_frame("x"), *frames]
    assert trio.ask()
    (relayed,) = (unpack(event).relayed for event in save(trio.a)[-1:])  # type: ignore[union-attr]
    assert [one.reply.sender for one in relayed] == ["b"]
    assert "x" not in trio.a.agent.peers
    fold(trio.b, 0.3, 0.7)
    assert exchange(trio.a, trio.b, now=1.0)
    assert trio.ask(now=2.0)  # c still holds what b said before
    assert known(trio.a, "b").count == 5
    assert not trio.a.refused
    trio.relay = lambda _: []
    assert trio.ask(now=3.0)
    assert not trio.a.refused


def test_what_cannot_follow_is_refused_like_a_reply_of_its_own() -> None:
    trio = Trio()
    assert exchange(trio.a, trio.b, now=0.0)
    trio.relay = lambda frames: [lie(frames[0], mean=0.9, count=4)]
    assert trio.ask(now=1.0)
    trio.relay = lambda frames: [lie(frames[0], count=300)]
    assert trio.ask(now=1.0)  # the rate counts from what b itself said
    assert trio.a.refused == {"relay: contradiction": 1, "relay: too fast": 1}
    assert known(trio.a, "b").count == 3
    fold(trio.b, 0.45)
    assert exchange(trio.a, trio.b, now=2.0)


def test_only_a_peer_itself_begins_another_life() -> None:
    trio = Trio()
    assert trio.ask()
    reborn = core("b", life=2)
    fold(reborn, 0.6)
    assert exchange(trio.a, reborn, now=1.0)
    assert known(trio.a, "b").epoch == 1
    assert trio.ask(now=2.0)  # c still holds the life before
    assert trio.a.refused == {"relay: old life": 1}
    d = core("d", relays=4)
    d.appear("b", "c")
    assert exchange(d, reborn, now=3.0)
    assert exchange(d, trio.c, now=4.0)  # a life that d never heard of, and may be over
    assert d.refused == {"relay: other life": 1}
    assert exchange(trio.c, reborn, now=5.0)
    fold(reborn, 0.5)
    assert exchange(d, reborn, now=6.0)
    assert exchange(d, trio.c, now=7.0)
    assert d.refused == {"relay: other life": 1}
    assert (known(d, "b").epoch, known(d, "b").count) == (0, 2)


# Crashes


@pytest.mark.parametrize("kept", ["journal", "checkpoint"])
def test_a_crash_leads_to_the_same_agent(kept: str) -> None:
    problem = Problem.gaussian([0.0, 3.0], class_sizes=[3, 3], sigma=0.5, seed=0)
    samples, fleet_names = problem.draw(40, seed=1)[0], list("abcdef")
    fleet = fleet_of(fleet_names, relays=3)
    checkpoint, events = fleet["a"].checkpoint(), list(fleet["a"].unsaved)
    for t, row in enumerate(samples.tolist()):
        for one, sample in zip(fleet.values(), row, strict=True):
            one.fold([sample], str(t + 1))
            chosen = one.next_query(float(t))
            if chosen is not None:
                assert exchange(one, fleet[chosen[0]], float(t))
            happened = save(one)
            if one.agent.name == "a":
                events += happened
        if kept == "checkpoint" and t == 20:
            checkpoint, events = fleet["a"].checkpoint(), []
    before = fleet["a"]
    assert before.counts["relayed"] > 20
    again = core("a", relays=3)
    again.resume(checkpoint, events)
    assert again.checkpoint() == before.checkpoint()
    assert again.agent.query_to("b") == before.agent.query_to("b")
    # its frames are gone: it relays nothing until it hears again
    query = WireQuery("b", "a", nonce=7, relays=3)
    assert isinstance(decode(before.answer(query) or b""), ReplyBundle)
    assert isinstance(decode(again.answer(query) or b""), WireReply)


# How fast news travels


PROBLEM = Problem.gaussian([0.0, 1.0], class_sizes=[8, 8], sigma=0.5, seed=0)
NAMES = [f"{n:02d}" for n in range(16)]


def test_cores_relay_what_plain_agents_relay() -> None:
    samples = PROBLEM.draw(20, seed=3)[0]
    fleet = fleet_of(NAMES, relays=4, max_agents=16)
    live_through(fleet, samples)
    agents = {name: Agent(name, sigma=0.5, delta=0.01, max_agents=16, relays=4) for name in NAMES}
    for agent in agents.values():
        for name in NAMES:
            agent.meet(name)
    for row in samples.tolist():
        for agent, sample in zip(agents.values(), row, strict=True):
            agent.perceive(sample)
        for agent in agents.values():
            peer = agents[agent.choose_peer() or ""]
            query = agent.query_to(peer.name)
            agent.receive(peer.answer(query), peer.relayed(query))
    for name, agent in agents.items():
        assert fleet[name].agent.snapshot().replies == agent.snapshot().replies


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
    for peer in peers:
        one.agent.receive(Reply(peer, 0.5, 3))
    held = HeldFrames()
    held.keep({peer: bytes(MOST_BYTES) for peer in peers}, one.agent)
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
