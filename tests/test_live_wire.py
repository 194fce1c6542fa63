"""Every message survives the wire bit for bit; every other sequence of bytes is refused."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import FrozenInstanceError, dataclass, fields
from typing import Any

import msgspec
import pytest
from frames import FULL, framed, messages
from hypothesis import given, settings

from colme import Reply
from colme.live.wire import (
    MOST_BUNDLE_BYTES,
    MOST_BYTES,
    REASONS,
    Refused,
    SealedReply,
    WireQuery,
    WireReply,
    check_name,
    decode,
    encode,
)


def reason_of(payload: bytes) -> str:
    with pytest.raises(Refused) as refusal:
        decode(payload)
    return refusal.value.reason


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
    told = WireReply(0, 0, Reply("b", -0.0, 0, -0.0, (-0.0, 5e-324, -0.0)))
    back = decode(encode(told))
    assert isinstance(back, WireReply)
    assert repr(back) == repr(told)
    assert math.copysign(1, back.reply.mean) == -1


def test_a_frame_is_a_map_of_the_fields_of_its_message() -> None:
    body = {"sender": "a", "receiver": "bc", "nonce": 7, "as_of": 5}
    assert encode(WireQuery("a", "bc", 7, 5)) == framed(1, body)
    assert msgspec.msgpack.decode(encode(FULL)[8:]) == {
        "nonce": 7,
        "life": 9,
        "reply": vars(FULL.reply) | {"shape": [0.25, math.inf, 1.5]},
    }
    assert [field.name for field in fields(Reply)] == list(vars(FULL.reply))


def test_fields_that_are_not_known_here_are_ignored() -> None:
    """A newer sender may say more."""
    query = {"sender": "a", "receiver": "b", "nonce": 7, "colour": ["red"]}
    assert decode(framed(1, query)) == WireQuery("a", "b", 7)
    reply = vars(FULL.reply) | {"median": 0.2, "history": {"x": [1, None]}}
    assert decode(framed(2, {"nonce": 7, "life": 9, "reply": reply})) == FULL


def test_fields_that_an_older_sender_leaves_out_take_their_defaults() -> None:
    reply = {"sender": "b", "mean": 0.1, "count": 3}
    older = decode(framed(2, {"nonce": 7, "life": 9, "reply": reply}))
    assert older == WireReply(7, 9, Reply("b", 0.1, 3))
    for needed in reply:
        body = {"nonce": 7, "life": 9, "reply": {k: v for k, v in reply.items() if k != needed}}
        assert reason_of(framed(2, body)) == "values"


@dataclass(frozen=True)
class LongerReply(Reply):
    """What a later version may say."""

    median: float | None = None


@dataclass(frozen=True)
class LongerMessage:
    """What a later version may send."""

    nonce: int
    life: int
    reply: LongerReply


def test_a_new_field_of_a_reply_needs_no_change_of_the_wire() -> None:
    longer = LongerMessage(7, 9, LongerReply("b", 0.1, 3, median=0.2))
    body = msgspec.msgpack.encode(longer)
    assert msgspec.msgpack.decode(body, type=LongerMessage) == longer
    assert decode(framed(2, body)) == WireReply(7, 9, Reply("b", 0.1, 3))  # as heard today
    older = msgspec.msgpack.decode(encode(FULL)[8:], type=LongerMessage)
    assert older.reply.median is None


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


BAD: dict[str, Any] = {
    "no sender": WireQuery("", "b", 1),
    "receiver with a slash": WireQuery("a", "b/c", 1),
    "negative nonce": WireQuery("a", "b", -1),
    "nonce that is no whole number": WireQuery("a", "b", 1.5),  # type: ignore[arg-type]
    "negative as_of": WireQuery("a", "b", 1, -1),
    "as_of too large": WireQuery("a", "b", 1, 2**53 + 1),
    "negative nonce of a reply": WireReply(-1, 1, FULL.reply),
    "life too large": WireReply(1, 2**63, FULL.reply),
    "no payload": SealedReply(b"", b"b", b"c"),
    "text for bytes": SealedReply(b"a", b"b", 7),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("message", BAD.values(), ids=BAD.keys())
def test_no_wrong_message_survives_the_wire(message: Any) -> None:
    assert reason_of(encode(message)) == "values"


def test_a_reply_in_an_impossible_name_is_refused_when_it_is_made() -> None:
    with pytest.raises(ValueError, match="sender must be 1 to 64"):
        WireReply(1, 1, Reply("b c", 0.1, 3))


def test_messages_cannot_change() -> None:
    with pytest.raises(FrozenInstanceError):
        FULL.nonce = 8  # type: ignore[misc]


def test_the_largest_seal_fits_and_one_byte_more_does_not() -> None:
    free = MOST_BYTES - len(encode(SealedReply(b"a" * 300, b"b", b"c"))) + 300
    assert len(encode(SealedReply(b"a" * free, b"b", b"c"))) == MOST_BYTES
    with pytest.raises(ValueError, match=f"at most {MOST_BYTES} bytes; received {MOST_BYTES + 1}"):
        encode(SealedReply(b"a" * (free + 1), b"b", b"c"))


@pytest.mark.parametrize("version", [0, 1, 3, 255])
@pytest.mark.parametrize("rest", [b"", b"\x00", b"\xff" * 9000], ids=["bare", "short", "long"])
def test_another_version_is_refused_as_such_whatever_follows(version: int, rest: bytes) -> None:
    assert reason_of(b"CM" + bytes([version]) + rest) == "version"


def test_each_defect_has_its_reason() -> None:
    frame = encode(FULL)
    found = {
        "garbage": [b"", b"C", b"CM", b"MC\x02", b"\x00" * 50, b"{}"],
        "too long": [framed(3, b"x" * MOST_BYTES), framed(4, b"x" * MOST_BUNDLE_BYTES)],
        "length": [frame[:7]],
        "checksum": [frame[:-1], frame + b"b", frame[:20] + b"?" + frame[21:]],
        "kind": [framed(0, b""), framed(5, frame[8:]), framed(255, b"")],
        "values": [
            *(framed(kind, b"") for kind in (1, 2, 3, 4)),
            framed(2, frame[8:-1]),
            framed(2, frame[8:] + b"b"),
            framed(1, frame[8:]),
            framed(1, b"\x81\xa1x" + b"\x91" * 4000),  # nested deeper than anybody reads
        ],
    }
    for reason, payloads in found.items():
        assert [reason_of(payload) for payload in payloads] == [reason] * len(payloads)
    assert {*found, "version"} == set(REASONS)


def reply_body(**changes: Any) -> dict[str, Any]:
    """Return the body of a reply with some of its fields changed."""
    reply = vars(FULL.reply) | {"shape": [0.25, 2.0, 1.5]}
    body: dict[str, Any] = {"nonce": 7, "life": 9, "reply": reply}
    for name, value in changes.items():
        (body if name in body else reply)[name] = value
    return body


@pytest.mark.parametrize(
    "change",
    [
        {"nonce": "7"},
        {"life": 2**63},
        {"life": None},
        {"count": 2**53 + 1},
        {"count": 2**64 - 1},
        {"count": 3.5},
        {"count": True},
        {"epoch": 2**53 + 1},
        {"epoch": -1},
        {"mean": math.nan},
        {"mean": math.inf},
        {"mean": -math.inf},
        {"mean": 1e200},
        {"mean": "0.1"},
        {"squares": math.nan},
        {"squares": math.inf},
        {"squares": -1.0},
        {"shape": [-1.0, 2.0, 1.5]},
        {"shape": [math.nan, 2.0, 1.5]},
        {"shape": [0.25, 0.0, 1.5]},
        {"shape": [0.25, math.nan, 1.5]},
        {"shape": [0.25, 2.0, math.inf]},
        {"shape": [0.25, 2.0, math.nan]},
        {"shape": [0.25, 2.0]},
        {"shape": [0.25, 2.0, 1.5, 1.5]},
        {"reply": None},
        {"sender": ""},
        {"sender": " "},
        {"sender": "\x00"},
        {"sender": b"b"},
        {"sender": "é"},
        {"sender": "b" * 65},
        {"sender": "b\n"},
    ],
    ids=str,
)
def test_values_that_no_device_tells_are_refused(change: dict[str, Any]) -> None:
    assert decode(framed(2, reply_body()))
    assert reason_of(framed(2, reply_body(**change))) == "values"


@pytest.mark.parametrize("name", ["", "a/", "é", "a\n", "\na", "x" * 65, b"a", None])
@pytest.mark.parametrize("role", ["sender", "receiver"])
def test_names_that_no_agent_has_are_refused(name: Any, role: str) -> None:
    body = {"sender": "a", "receiver": "b", "nonce": 1} | {role: name}
    assert reason_of(framed(1, body)) == "values"


@pytest.mark.parametrize("part", ["payload", "certificate", "signature"])
def test_an_empty_part_of_a_seal_is_refused(part: str) -> None:
    body = {"payload": b"a", "certificate": b"b", "signature": b"c"} | {part: b""}
    assert reason_of(framed(3, body)) == "values"


def test_a_refusal_says_little_and_nothing_unprintable() -> None:
    refusal = Refused("odd", "\x1b[31m\n\u202e" + "x" * 10_000)
    assert refusal.reason == "odd"
    assert len(str(refusal)) <= 200
    assert str(refusal).isprintable()
    for twin in (copy.copy(refusal), pickle.loads(pickle.dumps(refusal))):
        assert (twin.reason, str(twin)) == (refusal.reason, str(refusal))
