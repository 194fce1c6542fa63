"""Who relays can be silent; it cannot change or invent what others said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from frames import framed
from node_cores import core, exchange, fold, lie, live_through, save
from relay_trio import Frames, Trio, known

from colme import Problem, Reply
from colme.live.journal import unpack
from colme.live.keys import Authority
from colme.live.relays import RelayFilter
from colme.live.wire import (
    MOST_BYTES,
    ReplyBundle,
    SealedReply,
    WireQuery,
    WireReply,
    decode,
    encode,
)


@pytest.fixture(params=["believed", "sealed"])
def trio(request: pytest.FixtureRequest, tmp_path: Path) -> Trio:
    keys = Authority.create(tmp_path / "keys", "home") if request.param == "sealed" else None
    return Trio(authority=keys)


def test_a_changed_bit_of_a_relayed_frame_is_refused_and_counted(trio: Trio) -> None:
    before = trio.a.agent.snapshot().replies
    bundle = decode(trio.c.answer(trio.c.read_query(trio.a.query_to("c"))) or b"")
    assert isinstance(bundle, ReplyBundle)
    (frame,) = bundle.relayed
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
    trio.relay = lambda _: [encode(WireReply(7, 2, Reply("b", 0.5, 9, epoch=2**53)))]
    assert trio.ask(now=2.5)  # one epoch more than there are
    assert trio.a.refused == {"relay: old life": 1, "relay: values": 1}
    trio.relay = list
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


PROBLEM = Problem.gaussian([0.0, 1.0], class_sizes=[10, 10], sigma=0.5, seed=0)
NAMES = [f"{n:02d}" for n in range(20)]


def spoil(frames: Frames) -> Frames:
    return [frame[:20] + bytes([frame[20] ^ 1]) + frame[21:] for frame in frames]


def withhold(frames: Frames) -> Frames:
    return []


LIARS: dict[str, RelayFilter] = {"03": spoil, "13": spoil, "07": withhold, "17": withhold}


def mean_error(relays: int, liars: dict[str, RelayFilter]) -> float:
    """Return the error of those who relay honestly, after 60 steps, in two runs."""
    errors = []
    for seed in (1, 2):
        fleet = {
            name: core(name, life, relays=relays, max_agents=20, relay_filter=liars.get(name))
            for life, name in enumerate(NAMES)
        }
        for one in fleet.values():
            one.appear(*(name for name in NAMES if name != one.agent.name))
        live_through(fleet, PROBLEM.draw(60, seed=seed)[0])
        assert {reason for one in fleet.values() for reason in one.refused} <= {"relay: checksum"}
        assert any(one.refused for one in fleet.values()) == bool(liars)
        errors += [
            abs(one.agent.estimate - mean)
            for one, mean in zip(fleet.values(), PROBLEM.true_means, strict=True)
            if one.agent.name not in LIARS
        ]
    return float(np.mean(errors))


def test_a_fifth_that_withholds_or_spoils_what_it_relays_costs_little() -> None:
    without, honest, disturbed = mean_error(0, {}), mean_error(4, {}), mean_error(4, LIARS)
    assert disturbed < 1.1 * honest
    assert disturbed < without
