"""Messages that are none, over real sessions: refused, counted, nothing else."""

from __future__ import annotations

import asyncio
import json
import math
import struct
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zenoh
from attackers import attacker, reply_of, told
from commands import free_address
from hosts import PATIENT, living, peer, until

from colme.live.connection_config import ConnectionConfig
from colme.live.network import Link
from colme.live.node import Node
from colme.live.wire import VERSION, Refused, SealedReply, WireQuery, decode, encode
from colme.messages import Snapshot

LONG, VERY_LONG = 5_000, 5_000_000


def framed(kind: int, body: bytes) -> bytes:
    """Return a frame whose checksum is right, whatever is in it."""
    head = b"CM" + bytes([VERSION, kind])
    return head + zlib.crc32(body, zlib.crc32(head)).to_bytes(4) + body


NINE, MINUS_INFINITY = (struct.pack(">d", value) for value in (9.0, -math.inf))
GOOD = encode(WireQuery("attic", "hall", nonce=7))
SPOILT: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "garbage"),
    "words": (b"who are you?", "garbage"),
    "long noise": (bytes(LONG), "too long"),
    "very long noise": (bytes(VERY_LONG), "too long"),
    "long tail": (GOOD + bytes(LONG), "too long"),
    "later version": (b"CM\x03" + GOOD[3:], "version"),
    "one bit": (GOOD[:-1] + bytes([GOOD[-1] ^ 1]), "checksum"),
    "cut": (GOOD[:-3], "checksum"),
    "head alone": (GOOD[:6], "length"),
    "kind": (framed(9, b"body"), "kind"),
    "short body": (framed(1, b"body"), "values"),
    "bad names": (framed(1, GOOD[8:].replace(b"attic", b"att*c")), "values"),
    "bad numbers": (framed(2, told(3)[8:].replace(NINE, MINUS_INFINITY)), "values"),
}
QUESTIONS = SPOILT | {
    "an answer": (told(3), "not a question"),
    "a seal": (encode(SealedReply(b"a", b"b", b"c")), "not a question"),
    "for another": (encode(WireQuery("attic", "cellar", nonce=7)), "misdirected"),
    "of the future": (encode(WireQuery("attic", "hall", nonce=7, as_of=2**53)), "not in step"),
}
ANSWERS = SPOILT | {
    "a question": (GOOD, "not an answer"),
    "of another": (told(3, "cellar"), "impostor"),
    "to nothing": (told(3, nonce=5), "unasked"),
}


def reasons(cases: dict[str, tuple[bytes, str]]) -> dict[str, int]:
    """Return how often each reason must be counted."""
    expected = [reason for _, reason in cases.values()]
    return {reason: expected.count(reason) for reason in expected}


def remembered(node: Node) -> tuple[Snapshot, dict[str, Any]]:
    """Return all that a node would write down, but for whose turn it is to be asked."""
    state = json.loads(node.core.checkpoint())
    return replace(Snapshot.from_json(state.pop("agent")), turn=(0, 0, 0)), state


def test_the_cases_are_what_they_say() -> None:
    for payload, reason in SPOILT.values():
        with pytest.raises(Refused) as refused:
            decode(payload)
        assert refused.value.reason == reason or len(payload) >= LONG


def test_questions_that_are_none_change_nothing_and_others_are_answered(tmp_path: Path) -> None:
    meeting = free_address()

    async def main() -> None:
        honest = Link(peer(connect=meeting), "home")
        async with living(tmp_path, "hall", [0.5, 0.7], connection=peer(listen=meeting)) as hall:
            await until(lambda: hall.core.agent.count == 2)
            await honest.open()

            def ask() -> asyncio.Future[bool]:
                return honest.ask("hall", GOOD, lambda said: b"hall" in said, timeout=5.0)

            while not await ask():
                await asyncio.sleep(0.01)
            before = remembered(hall)
            with attacker(ConnectionConfig("client", connect=(meeting,))) as mallory:
                for payload, _ in QUESTIONS.values():
                    answers = mallory.session.get(
                        "colme/home/hall/ask", payload=payload, timeout=10.0
                    )
                    told = await asyncio.to_thread(list, answers)
                    assert [answer.ok for answer in told] == []
                    assert await ask()
                no_payload = mallory.session.get("colme/home/hall/ask", timeout=10.0)
                assert await asyncio.to_thread(list, no_payload) == []
            expected = reasons(QUESTIONS)
            expected["garbage"] += 1
            assert hall.core.refused == expected
            assert remembered(hall) == before
            ticks = hall.core.counts["ticks"]
            await until(lambda: hall.core.counts["ticks"] > ticks + 2)
        await honest.close()

    asyncio.run(main())


def test_answers_that_are_none_change_nothing_and_a_good_one_is_still_taken(
    tmp_path: Path,
) -> None:
    meeting = free_address()
    honest = False
    asked: list[int] = []

    def answer(query: zenoh.Query) -> None:
        assert query.payload is not None
        ask = decode(query.payload.to_bytes())
        assert isinstance(ask, WireQuery)
        asked.append(ask.nonce)
        if len(asked) == 1:
            for payload, _ in ANSWERS.values():
                query.reply(query.key_expr, payload)
        if honest:
            query.reply(query.key_expr, told(3, nonce=ask.nonce, mean=0.5))

    async def main() -> None:
        nonlocal honest
        async with living(
            tmp_path, "attic", [0.5, 0.7], connection=peer(listen=meeting), schedule=PATIENT
        ) as attic:
            await until(lambda: attic.core.agent.count == 2)
            with attacker(ConnectionConfig("client", connect=(meeting,))) as mallory:
                mallory.pretend("hall", answer)
                await until(lambda: "hall" in attic.core.agent.peers)
                before = remembered(attic)
                await until(lambda: attic.core.counts["unanswered"] > 0)
                assert attic.core.refused == reasons(ANSWERS)
                assert remembered(attic) == before
                honest = True
                await until(lambda: attic.core.counts["heard"] > 0)
                assert reply_of(attic, "hall").count == 3

    asyncio.run(main())


def test_a_name_that_no_agent_can_have_is_nobody(tmp_path: Path) -> None:
    meeting = free_address()

    async def main() -> None:
        async with living(tmp_path, "hall", [0.5], connection=peer(listen=meeting)) as hall:
            with attacker(ConnectionConfig("client", connect=(meeting,))) as mallory:
                names = ["\u00e4" * 30, "x" * 5000, "a b", "hall", "fine"]
                for name in names:
                    mallory.pretend(name)
                await until(lambda: "fine" in hall.core.membership.present)
                ticks = hall.core.counts["ticks"]
                await until(lambda: hall.core.counts["ticks"] > ticks + 2)
                assert hall.core.membership.present == {"fine"}
                assert hall.core.refused == {"name": 3}

    asyncio.run(main())
