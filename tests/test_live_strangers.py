"""Strangers, impostors and spoilt messages over real sessions: refused, counted, nothing else."""

from __future__ import annotations

import asyncio
import json
import socket
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zenoh
from commands import SOON, Command, free_address
from hosts import PATIENT, living, peer, until
from test_live_router import routing

from colme.live.addresses import split_address
from colme.live.keys import Authority, Identity
from colme.live.network import Link
from colme.live.node import Node
from colme.live.wire import Ask, Refused, Sealed, Told, decode, encode
from colme.live.wiring import Wiring
from colme.messages import Reply, Snapshot

CONTEXT = b"colme home"
"""What every seal of the fleet is made for."""
LONG, VERY_LONG = 5_000, 5_000_000


class Keys:
    """Identities of one fleet, and of two strangers that call themselves the same."""

    def __init__(self, folder: Path) -> None:
        home = Authority.create(folder / "home", "home")
        home.issue_all(["router", "hall", "attic", "mallory", "watcher"])
        Authority.create(folder / "false", "home").issue_all(["hall"])
        Authority.create(folder / "farm", "farm").issue_all(["mallory"])
        self.folder = folder

    def of(self, name: str, authority: str = "home") -> Identity:
        """Load somebody's keys."""
        return Identity.load(self.folder / authority / name)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return Keys(tmp_path_factory.mktemp("keys"))


class Attacker:
    """A session without any of our rules."""

    def __init__(self, session: zenoh.Session) -> None:
        self.session = session
        self._declared: list[object] = []  # what is not kept is taken back

    def pretend(self, name: str, answer: Callable[[zenoh.Query], None] | None = None) -> None:
        """Be here under a name, and answer questions to it."""
        key = f"colme/home/{name}"
        if answer is not None:
            self._declared.append(
                self.session.declare_queryable(f"{key}/ask", answer, complete=True)
            )
        self._declared.append(self.session.liveliness().declare_token(f"{key}/here"))


@contextmanager
def attacker(wiring: Wiring | dict[str, Any]) -> Iterator[Attacker]:
    """Open a session that is not ours to judge."""
    config = wiring.config("home") if isinstance(wiring, Wiring) else wiring
    with zenoh.open(zenoh.Config.from_json5(json.dumps(config))) as session:
        yield Attacker(session)


def told(count: int, sender: str = "hall", nonce: int = 0, mean: float = 9.0) -> bytes:
    """Return what somebody could say."""
    return encode(Told(nonce, 1, Reply(sender, mean, count, shape=(0.5, 0.5, 0.5))))


# Without a valid certificate


def turned_away(address: str, authority: Path, keys: Path | None) -> None:
    """Try to connect as a client, trusting an authority, with keys or without."""
    tls: dict[str, Any] = {"root_ca_certificate": str(authority / "ca.pem")}
    if keys is not None:
        own = {"certificate": "device.pem", "private_key": "device.key"}
        tls |= {f"connect_{word}": str(keys / name) for word, name in own.items()}
        tls["enable_mtls"] = True
    config = Wiring("client", connect=(address,)).config("home")
    config["connect"] |= {"endpoints": [f"tls/{address}"], "timeout_ms": 1000}
    config["transport"]["link"] = {"tls": tls}
    with pytest.raises(zenoh.ZError), attacker(config):
        raise AssertionError("a stranger came in")


def test_strangers_are_turned_away_and_counted_and_nothing_else_changes(
    tmp_path: Path, keys: Keys
) -> None:
    home, false, farm = (keys.folder / name for name in ("home", "false", "farm"))
    strangers = [
        (home, None),
        (home, false / "hall"),
        (false, false / "hall"),
        (farm, farm / "mallory"),
    ]
    addresses = {"router": free_address(), "hall": free_address()}
    flags = ["--fleet", "home", "--keys"]
    node = ["--id", "hall", "--state", "hall", "--sigma", "0.5", "--interval", "0.05"]
    with (
        Command(
            "router", *flags, str(home / "router"), "--listen", addresses["router"],
            "--every", "0.05", folder=tmp_path,
        ) as router,
        Command(
            "node", *flags, str(home / "hall"), "--listen", addresses["hall"], *node,
            folder=tmp_path,
        ) as hall,
    ):  # fmt: skip
        hall.feed(0.5, 0.7)
        before = hall.until(lambda one: one["samples"] == 2)
        router.until(lambda one: one["strangers"] == 0)
        with ThreadPoolExecutor(8) as threads:
            attempts = [
                threads.submit(turned_away, address, *stranger)
                for address in addresses.values()
                for stranger in strangers
            ]
            for address in addresses.values():
                with socket.create_connection(split_address(address)) as scanner:
                    scanner.sendall(b"GET / HTTP/1.1\r\n\r\n")
                    scanner.recv(100)
        for attempt in attempts:
            attempt.result()
        n_strangers = len(strangers) + 1
        counted = router.until(lambda one: one["strangers"] >= n_strangers)
        assert (counted["links"], counted["opened"]) == (0, 0)
        after = hall.until(lambda one: one["refused"].get("stranger", 0) >= n_strangers)
        changing = {"time", "messages", "refused"}
        assert {word: after[word] for word in after.keys() - changing} == {
            word: before[word] for word in before.keys() - changing
        }
        assert after["refused"].keys() == {"stranger"}
        assert after["messages"].keys() == {"ticks", "skipped"}
        with attacker(Wiring("client", connect=(addresses["router"],), keys=keys.of("attic"))):
            assert router.until(lambda one: one["links"] == 1)["opened"] == 1  # a member may
        logged = [one["message"] for one in router.logs]
        assert any("a stranger was turned away: peer sent no certificates" in one for one in logged)
        for command in (router, hall):
            code, seconds = command.stop()
            assert code == 0
            assert seconds < SOON


# A member that speaks in another's name


def test_through_a_router_nobody_speaks_in_another_s_name(tmp_path: Path, keys: Keys) -> None:
    meeting = free_address()

    def client(name: str) -> Wiring:
        return Wiring("client", connect=(meeting,), keys=keys.of(name))

    async def main() -> None:
        published: list[tuple[str, bytes]] = []
        asked: list[str] = []
        watcher = Link(client("watcher"), "home")
        watcher.follow(lambda name, payload: published.append((name, payload)))

        def lie(query: zenoh.Query) -> None:
            asked.append(str(query.key_expr))
            query.reply(query.key_expr, told(1000))

        async with (
            routing(meeting, keys=keys.folder / "home" / "router") as (_, reports),
            living(
                tmp_path, "hall", [0.5] * 5, wiring=client("hall"), identity=keys.of("hall")
            ) as hall,
            living(
                tmp_path, "attic", [0.5] * 5, wiring=client("attic"), identity=keys.of("attic")
            ) as attic,
        ):
            await watcher.open()
            with attacker(client("mallory")) as mallory:
                for name in ("hall", "ghost", "mallory"):
                    mallory.pretend(name, lie)
                await until(lambda: "mallory" in attic.station.membership.present)
                assert attic.station.membership.present == {"hall", "mallory"}
                await until(lambda: published)
                for name in ("hall", "ghost", "mallory"):
                    mallory.session.put(f"colme/home/{name}/snapshot", b"false")
                await until(lambda: ("mallory", b"false") in published)
                assert {name for name, payload in published if payload == b"false"} == {"mallory"}
                heard = attic.station.counts["heard"]
                await until(lambda: attic.station.counts["heard"] > heard + 5)
                await until(lambda: asked)
                assert set(asked) == {"colme/home/mallory/ask"}
            await until(lambda: attic.station.membership.present == {"hall"})
            assert reports[-1]["strangers"] == 0
            for node in (hall, attic):
                assert set(node.station.refused) <= {"unsealed"}  # what mallory says as itself
        await watcher.close()

    asyncio.run(main())


LIES: dict[str, Callable[[Keys, Told], bytes]] = {
    "impostor": lambda keys, true: encode(keys.of("mallory").seal(encode(true), CONTEXT)),
    "unsealed": lambda _, true: encode(true),
    "stranger": lambda keys, true: encode(keys.of("hall", "false").seal(encode(true), CONTEXT)),
    "forged": lambda keys, true: encode(
        replace(keys.of("hall").seal(b"something else", CONTEXT), payload=encode(true))
    ),
    "too long": lambda _, true: encode(true) + bytes(LONG),
    "checksum": lambda _, true: encode(true)[:-1],
    "garbage": lambda *_: b"hello",
}


@pytest.mark.parametrize("silent", [False, True], ids=["with hall", "without hall"])
def test_among_peers_a_lie_in_another_s_name_is_refused_and_the_truth_is_taken(
    tmp_path: Path, keys: Keys, silent: bool
) -> None:
    meeting = free_address()
    lies: list[str] = []

    def near(name: str, **where: Any) -> Wiring:
        return replace(peer(**where), keys=keys.of(name))

    def lie(query: zenoh.Query) -> None:
        assert query.payload is not None
        ask = decode(query.payload.to_bytes())
        assert isinstance(ask, Ask)
        true = Told(ask.nonce, 1, Reply("hall", 9.0, 1000, shape=(0.5, 0.5, 0.5)))
        lies.append(ask.sender)
        for make in LIES.values():
            query.reply(query.key_expr, make(keys, true))

    async def main() -> None:
        async with living(
            tmp_path,
            "attic",
            [0.5] * 5,
            wiring=near("attic", listen=meeting),
            pace=PATIENT,
            identity=keys.of("attic"),
        ) as attic:
            with attacker(near("mallory", connect=meeting)) as mallory:
                mallory.pretend("hall", lie)
                if silent:
                    await until(lambda: attic.station.counts["unanswered"] > 1)
                    reply = reply_of(attic, "hall")
                    assert (reply.count, attic.station.counts["heard"]) == (0, 0)
                else:
                    async with living(
                        tmp_path,
                        "hall",
                        [0.5] * 7,
                        wiring=near("hall", connect=meeting),
                        identity=keys.of("hall"),
                    ) as hall:
                        await until(lambda: attic.station.counts["heard"] > 3 and len(lies) > 3)
                        assert reply_of(attic, "hall").count == 7
                        assert hall.station.refused == {}
                await until(lambda: len(attic.station.refused) == len(LIES))
                assert attic.station.refused.keys() == LIES.keys()
                assert attic.station.agent.estimate == 0.5

    asyncio.run(main())


def reply_of(node: Node, name: str) -> Reply:
    (reply,) = (one for one in node.station.agent.snapshot().replies if one.sender == name)
    return reply


# What is no message


def framed(kind: int, body: bytes) -> bytes:
    """Return a frame whose checksum is right, whatever is in it."""
    head = b"CM\x01" + bytes([kind])
    return head + zlib.crc32(body, zlib.crc32(head)).to_bytes(4) + body


GOOD = encode(Ask("attic", "hall", nonce=7))
SPOILT: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "garbage"),
    "words": (b"who are you?", "garbage"),
    "long noise": (bytes(LONG), "too long"),
    "very long noise": (bytes(VERY_LONG), "too long"),
    "long tail": (GOOD + bytes(LONG), "too long"),
    "later version": (b"CM\x02" + GOOD[3:], "version"),
    "one bit": (GOOD[:-1] + bytes([GOOD[-1] ^ 1]), "checksum"),
    "cut": (GOOD[:-3], "checksum"),
    "head alone": (GOOD[:6], "length"),
    "kind": (framed(9, b"body"), "kind"),
    "short body": (framed(1, b"body"), "length"),
    "bad names": (framed(1, bytes(16) + b"\x01\x01**"), "values"),
    "bad numbers": (framed(2, b"\x00" + bytes(32) + b"\x04" + b"\xff" * 8 + b"hall"), "values"),
}
QUESTIONS = SPOILT | {
    "an answer": (told(3), "not a question"),
    "a seal": (encode(Sealed(b"a", b"b", b"c")), "not a question"),
    "for another": (encode(Ask("attic", "cellar", nonce=7)), "misdirected"),
    "of the future": (encode(Ask("attic", "hall", nonce=7, as_of=2**53)), "not in step"),
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
    state = json.loads(node.station.checkpoint())
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
        async with living(tmp_path, "hall", [0.5, 0.7], wiring=peer(listen=meeting)) as hall:
            await until(lambda: hall.station.agent.count == 2)
            await honest.open()

            def ask() -> asyncio.Future[bool]:
                return honest.ask("hall", GOOD, lambda said: b"hall" in said, timeout=5.0)

            while not await ask():
                await asyncio.sleep(0.01)
            before = remembered(hall)
            with attacker(Wiring("client", connect=(meeting,))) as mallory:
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
            assert hall.station.refused == expected
            assert remembered(hall) == before
            ticks = hall.station.counts["ticks"]
            await until(lambda: hall.station.counts["ticks"] > ticks + 2)
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
        assert isinstance(ask, Ask)
        asked.append(ask.nonce)
        if len(asked) == 1:
            for payload, _ in ANSWERS.values():
                query.reply(query.key_expr, payload)
        if honest:
            query.reply(query.key_expr, told(3, nonce=ask.nonce, mean=0.5))

    async def main() -> None:
        nonlocal honest
        async with living(
            tmp_path, "attic", [0.5, 0.7], wiring=peer(listen=meeting), pace=PATIENT
        ) as attic:
            await until(lambda: attic.station.agent.count == 2)
            with attacker(Wiring("client", connect=(meeting,))) as mallory:
                mallory.pretend("hall", answer)
                await until(lambda: "hall" in attic.station.agent.peers)
                before = remembered(attic)
                await until(lambda: attic.station.counts["unanswered"] > 0)
                assert attic.station.refused == reasons(ANSWERS)
                assert remembered(attic) == before
                honest = True
                await until(lambda: attic.station.counts["heard"] > 0)
                assert reply_of(attic, "hall").count == 3

    asyncio.run(main())


def test_a_name_that_no_agent_can_have_is_nobody(tmp_path: Path) -> None:
    meeting = free_address()

    async def main() -> None:
        async with living(tmp_path, "hall", [0.5], wiring=peer(listen=meeting)) as hall:
            with attacker(Wiring("client", connect=(meeting,))) as mallory:
                names = ["\u00e4" * 30, "x" * 5000, "a b", "hall", "fine"]
                for name in names:
                    mallory.pretend(name)
                await until(lambda: "fine" in hall.station.membership.present)
                ticks = hall.station.counts["ticks"]
                await until(lambda: hall.station.counts["ticks"] > ticks + 2)
                assert hall.station.membership.present == {"fine"}
                assert hall.station.refused == {"name": 3}

    asyncio.run(main())
