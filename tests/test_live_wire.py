"""Every message survives the wire bit for bit; every other sequence of bytes is refused."""

from __future__ import annotations

import copy
import math
import pickle
import random
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colme import Reply
from colme.live.wire import (
    MOST_BYTES,
    REASONS,
    VERSION,
    Ask,
    Refused,
    Sealed,
    Told,
    check_name,
    decode,
    encode,
)

FULL = Told(7, 9, Reply("b", 0.1, 3, 0.5, (0.25, math.inf, 1.5), 2))
KINDS = {Ask: 1, Told: 2, Sealed: 3}


def framed(kind: int, body: bytes, version: int = VERSION) -> bytes:
    """Return a frame with the right checksum, whatever its body."""
    head = b"CM" + bytes([version, kind])
    return head + struct.pack(">I", zlib.crc32(head + body)) + body


def reason_of(payload: bytes) -> str:
    with pytest.raises(Refused) as refusal:
        decode(payload)
    return refusal.value.reason


letters = "ABCXYZabcxyz0123456789"
names = st.builds(str.__add__, st.sampled_from(letters), st.text(letters + "._-", max_size=63))
numbers = st.floats(-1e150, 1e150)
shapes = st.tuples(
    st.one_of(st.just(math.inf), st.floats(0)),
    st.one_of(st.just(math.inf), st.floats(0, exclude_min=True)),
    st.floats(allow_nan=False, allow_infinity=False),
)
wide, long, counts = (st.integers(0, most) for most in (2**64 - 1, 2**63 - 1, 2**53))
asks = st.builds(Ask, names, names, wide, counts)
squares = st.one_of(st.none(), st.floats(0, allow_infinity=False))
replies = st.builds(Reply, names, numbers, counts, squares, st.one_of(st.none(), shapes), counts)
tolds = st.builds(Told, wide, long, replies)
parts = st.binary(min_size=1, max_size=500)
sealeds = st.builds(Sealed, parts, parts, parts)
messages = st.one_of(asks, tolds, sealeds)


@settings(max_examples=500)
@given(messages)
def test_a_message_survives_the_wire_bit_for_bit(message: Any) -> None:
    frame = encode(message)
    back = decode(frame)
    assert back == message
    assert repr(back) == repr(message)  # tells -0.0 from 0.0
    assert encode(back) == frame
    assert len(frame) <= MOST_BYTES


def test_a_zero_keeps_its_sign() -> None:
    told = Told(0, 0, Reply("b", -0.0, 0, -0.0, (-0.0, 5e-324, -0.0)))
    back = decode(encode(told))
    assert isinstance(back, Told)
    assert repr(back) == repr(told)
    assert math.copysign(1, back.reply.mean) == -1


def test_the_frame_of_an_ask_is_what_it_was_on_the_first_day() -> None:
    head = bytes.fromhex("434d01019faad2da")
    body = struct.pack(">QQBB", 7, 5, 1, 2) + b"abc"
    assert encode(Ask("a", "bc", 7, 5)) == head + body == framed(1, body)


def test_the_frame_of_what_is_told_is_what_it_was_on_the_first_day() -> None:
    body = struct.pack(">BQQQQBddddd", 3, 7, 9, 3, 2, 1, 0.1, 0.5, 0.25, math.inf, 1.5) + b"b"
    assert encode(FULL) == framed(2, body)
    body = struct.pack(">BQQQQBd", 0, 7, 9, 3, 2, 1, 0.1) + b"b"
    assert encode(Told(7, 9, Reply("b", 0.1, 3, epoch=2))) == framed(2, body)


def test_the_frame_of_what_is_sealed_is_what_it_was_on_the_first_day() -> None:
    body = struct.pack(">HHH", 1, 2, 3) + b"abbccc"
    assert encode(Sealed(b"a", b"bb", b"ccc")) == framed(3, body)


@pytest.mark.parametrize("name", ["a", "7", "kitchen-2", "A.b_c-D", "x" * 64])
def test_a_name_of_plain_characters_is_a_name(name: str) -> None:
    assert check_name("agent", name) == name


@pytest.mark.parametrize(
    "name",
    ["", "x" * 65, ".a", "-a", "_a", "a b", "a/b", "a*", "é", "a\n", "\na", "٣", None, 3, b"a"],
    ids=repr,
)
def test_any_other_name_is_refused_with_the_rule(name: Any) -> None:
    with pytest.raises(ValueError, match="fleet must be 1 to 64 of the characters A-Z") as error:
        check_name("fleet", name)
    assert len(str(error.value)) <= 200
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Ask("", "b", 1),
        lambda: Ask("a", "b/c", 1),
        lambda: Ask("a", "b", -1),
        lambda: Ask("a", "b", 2**64),
        lambda: Ask("a", "b", 1.5),  # type: ignore[arg-type]
        lambda: Ask("a", "b", 1, -1),
        lambda: Ask("a", "b", 1, 2**53 + 1),
        lambda: Told(-1, 1, FULL.reply),
        lambda: Told(1, 2**63, FULL.reply),
        lambda: Told(1, 1, Reply("b c", 0.1, 3)),
        lambda: Told(1, 1, None),  # type: ignore[arg-type]
        lambda: Sealed(b"", b"b", b"c"),
        lambda: Sealed(b"a", b"b", "c"),  # type: ignore[arg-type]
        lambda: Sealed(b"a", b"b", b"c" * MOST_BYTES),
    ],
)
def test_no_message_is_born_wrong(make: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"must|at most"):
        make()


def test_messages_cannot_change() -> None:
    with pytest.raises(FrozenInstanceError):
        FULL.nonce = 8  # type: ignore[misc]


def test_the_largest_seal_fits_and_one_byte_more_does_not() -> None:
    most = MOST_BYTES - 8 - 6
    assert len(encode(Sealed(b"a" * (most - 2), b"b", b"c"))) == MOST_BYTES
    with pytest.raises(ValueError, match=f"at most {most} bytes in all; received {most + 1}"):
        Sealed(b"a" * (most - 1), b"b", b"c")


@pytest.mark.parametrize("version", [0, 2, 255])
@pytest.mark.parametrize("rest", [b"", b"\x00", b"\xff" * 9000], ids=["bare", "short", "long"])
def test_another_version_is_refused_as_such_whatever_follows(version: int, rest: bytes) -> None:
    assert reason_of(b"CM" + bytes([version]) + rest) == "version"


def test_each_defect_has_its_reason() -> None:
    frame = encode(FULL)
    found = {
        "garbage": [b"", b"C", b"CM", b"MC\x01", b"\x00" * 50, b"{}"],
        "too long": [framed(3, b"x" * MOST_BYTES)],
        "length": [
            frame[:7],
            framed(1, b""),
            framed(2, b""),
            framed(3, b""),
            framed(2, frame[8:-1]),
            framed(2, frame[8:] + b"b"),
            framed(1, struct.pack(">QQBB", 1, 0, 1, 9) + b"ab"),
            framed(3, struct.pack(">HHH", 1, 1, 65535) + b"abc"),
        ],
        "checksum": [frame[:-1], frame + b"b", frame[:20] + b"?" + frame[21:]],
        "kind": [framed(0, b""), framed(4, frame[8:]), framed(255, b"")],
    }
    for reason, payloads in found.items():
        assert [reason_of(payload) for payload in payloads] == [reason] * len(payloads)
    assert {*found, "version", "values"} == set(REASONS)


def told_body(**changes: Any) -> bytes:
    facts = {"flags": 3, "nonce": 7, "life": 9, "count": 3, "epoch": 2, "length": 1}
    shape = {"mean": 0.1, "squares": 0.5, "spread": 0.25, "slope": 2.0, "offset": 1.5}
    *numbers, sender = (facts | shape | {"sender": b"b"} | changes).values()
    return bytes(struct.pack(">BQQQQBddddd", *numbers) + sender)


@pytest.mark.parametrize(
    "change",
    [
        {"flags": 4},
        {"life": 2**63},
        {"count": 2**53 + 1},
        {"count": 2**64 - 1},
        {"epoch": 2**53 + 1},
        {"mean": math.nan},
        {"mean": math.inf},
        {"mean": -math.inf},
        {"mean": 1e200},
        {"squares": math.nan},
        {"squares": math.inf},
        {"squares": -1.0},
        {"spread": -1.0},
        {"spread": math.nan},
        {"slope": 0.0},
        {"slope": math.nan},
        {"offset": math.inf},
        {"offset": math.nan},
        {"length": 0, "sender": b""},
        {"sender": b" "},
        {"sender": b"\x00"},
        {"sender": b"\xff"},
        {"length": 2, "sender": "é".encode()},
        {"length": 65, "sender": b"b" * 65},
    ],
    ids=str,
)
def test_values_that_no_device_tells_are_refused(change: dict[str, Any]) -> None:
    assert decode(framed(2, told_body()))
    assert reason_of(framed(2, told_body(**change))) == "values"


@pytest.mark.parametrize(
    "names", [(0, 2, b"ab"), (1, 1, b"a/"), (1, 1, b"\xffb"), (2, 1, "éb".encode())]
)
def test_names_that_no_agent_has_are_refused(names: tuple[int, int, bytes]) -> None:
    body = struct.pack(">QQBB", 1, 0, *names[:2]) + names[2]
    assert reason_of(framed(1, body)) == "values"


def test_an_empty_part_of_a_seal_is_refused() -> None:
    assert reason_of(framed(3, struct.pack(">HHH", 1, 0, 1) + b"ab")) == "values"


def test_a_refusal_says_little_and_nothing_unprintable() -> None:
    refusal = Refused("odd", "\x1b[31m\n\u202e" + "x" * 10_000)
    assert refusal.reason == "odd"
    assert len(str(refusal)) <= 200
    assert str(refusal).isprintable()
    for twin in (copy.copy(refusal), pickle.loads(pickle.dumps(refusal))):
        assert (twin.reason, str(twin)) == (refusal.reason, str(refusal))


Attack = Callable[[random.Random, bytes, bytes], Iterator[bytes]]


def noise(rng: random.Random, first: bytes, second: bytes) -> Iterator[bytes]:
    """Any bytes; half of them begin as a frame does."""
    for k in range(160):
        start = (b"CM\x01", b"")[k % 2]
        yield start + rng.randbytes(rng.randrange(120))


def flipped(rng: random.Random, first: bytes, second: bytes) -> Iterator[bytes]:
    """One bit changed: of a short frame each once."""
    bits = range(8 * len(first))
    for bit in bits if len(bits) <= 800 else rng.sample(bits, 800):
        changed = bytearray(first)
        changed[bit // 8] ^= 1 << bit % 8
        yield bytes(changed)


def resized(rng: random.Random, first: bytes, second: bytes) -> Iterator[bytes]:
    """Cut off or continued, sometimes beyond the limit: of a short frame each length once."""
    for length in rng.sample(range(len(first)), min(len(first), 80)):
        yield first[:length]
    for _ in range(100):
        yield first + rng.randbytes(rng.choice((1, 2, 8, 100)))
    yield first + bytes(MOST_BYTES)


def spliced(rng: random.Random, first: bytes, second: bytes) -> Iterator[bytes]:
    """The beginning of one frame and the end of another."""
    for _ in range(160):
        yield first[: rng.randrange(len(first) + 1)] + second[rng.randrange(len(second) + 1) :]


def rewritten(rng: random.Random, first: bytes, second: bytes) -> Iterator[bytes]:
    """Other bytes within the body, and a checksum that is right."""
    for _ in range(160):
        body = bytearray(first[8:])
        for _ in range(rng.randrange(1, 4)):
            body[rng.randrange(min(len(body), 96))] = rng.choice((0, 255, rng.randrange(256)))
        yield framed(rng.choice((first[3], 1, 2, 3)), bytes(body))


def resized_within(rng: random.Random, first: bytes, second: bytes) -> Iterator[bytes]:
    """A body of another length, of a short one each, and a checksum that is right."""
    body = first[8:]
    for length in rng.sample(range(len(body)), min(len(body), 80)):
        yield framed(first[3], body[:length])
    for _ in range(100):
        yield framed(first[3], body + rng.randbytes(rng.choice((1, 2, 8, 100))))


ATTACKS: dict[Attack, int] = {
    noise: 125,
    flipped: 120,
    resized: 150,
    spliced: 125,
    rewritten: 125,
    resized_within: 150,
}
"""What is done to frames, and to how many drawn pairs of them."""
CLUMSY = (flipped, resized, spliced)
"""Attacks that leave the checksum as it was."""
CASES = 100_000 / len(ATTACKS)
"""Different payloads for each attack: a hundred thousand in all."""


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_whatever_arrives_is_a_message_or_refused(attack: Attack) -> None:
    tried: set[bytes] = set()

    @settings(max_examples=ATTACKS[attack])
    @given(messages, messages)
    def try_some(one: Any, other: Any) -> None:
        frames = encode(one), encode(other)
        for payload in attack(random.Random(b"".join(frames)), *frames):
            tried.add(payload)
            outcome = judged(payload)
            if attack in CLUMSY and payload not in frames:
                assert outcome != "message"

    try_some()
    assert len(tried) >= CASES


def judged(payload: bytes) -> str:
    """Return "message", or why the payload is refused; fail if anything else happens."""
    try:
        message = decode(payload)
    except Refused as refusal:
        text, reason = str(refusal), refusal.reason
        good = reason in REASONS and len(text) <= 200 and text.isprintable()
        return reason if good else pytest.fail(f"{reason}: {text}")
    assert payload[3] == KINDS[type(message)]
    assert encode(message) == payload
    return "message"


def test_rewritten_bodies_with_a_right_checksum_are_sometimes_messages() -> None:
    outcomes = {
        judged(payload)
        for seed in range(20)
        for payload in rewritten(random.Random(seed), encode(FULL), b"")
    }
    assert {"message", "values", "length"} <= outcomes
