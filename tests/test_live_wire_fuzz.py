"""Whatever bytes arrive: a message, or a refusal with a reason, and nothing else."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from frames import FULL, KINDS, framed, messages
from hypothesis import given, settings

from colme.live.wire import MOST_BUNDLE_BYTES, REASONS, Refused, decode, encode

Attack = Callable[[random.Random, bytes, bytes], Iterator[bytes]]


def noise(rng: random.Random, first: bytes, second: bytes) -> Iterator[bytes]:
    """Any bytes; half of them begin as a frame does."""
    for k in range(160):
        start = (b"CM\x02", b"")[k % 2]
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
    yield first + bytes(MOST_BUNDLE_BYTES)


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
        yield framed(rng.choice((first[3], 1, 2, 3, 4)), bytes(body))


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
    assert decode(encode(message)) == message
    return "message"


def test_rewritten_bodies_with_a_right_checksum_are_sometimes_messages() -> None:
    outcomes = {
        judged(payload)
        for seed in range(20)
        for payload in rewritten(random.Random(seed), encode(FULL), b"")
    }
    assert {"message", "values"} <= outcomes
