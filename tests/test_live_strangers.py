"""Strangers and impostors over real sessions: refused, counted, nothing else."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zenoh
from attackers import Keys, attacker, reply_of, told
from commands import SOON, Command, free_address
from hosts import PATIENT, living, peer, until
from test_live_router import routing

from colme.live.addresses import split_address
from colme.live.connection_config import ConnectionConfig
from colme.live.network import Link
from colme.live.wire import WireQuery, WireReply, decode, encode
from colme.messages import Reply

CONTEXT = b"colme home"
"""What every seal of the fleet is made for."""
LONG, VERY_LONG = 5_000, 5_000_000


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return Keys(tmp_path_factory.mktemp("keys"))


def turned_away(address: str, authority: Path, keys: Path | None) -> None:
    """Try to connect as a client, trusting an authority, with keys or without."""
    tls: dict[str, Any] = {"root_ca_certificate": str(authority / "ca.pem")}
    if keys is not None:
        own = {"certificate": "device.pem", "private_key": "device.key"}
        tls |= {f"connect_{word}": str(keys / name) for word, name in own.items()}
        tls["enable_mtls"] = True
    config = ConnectionConfig("client", connect=(address,)).config("home")
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
        with attacker(
            ConnectionConfig("client", connect=(addresses["router"],), keys=keys.folder_of("attic"))
        ):
            assert router.until(lambda one: one["links"] == 1)["opened"] == 1  # a member may
        logged = [one["message"] for one in router.logs]
        assert any(
            "without a valid certificate was refused: peer sent no certificates" in one
            for one in logged
        )
        for command in (router, hall):
            code, seconds = command.stop()
            assert code == 0
            assert seconds < SOON


def test_through_a_router_nobody_speaks_in_another_s_name(tmp_path: Path, keys: Keys) -> None:
    meeting = free_address()

    def client(name: str) -> ConnectionConfig:
        return ConnectionConfig("client", connect=(meeting,), keys=keys.folder_of(name))

    async def main() -> None:
        published: list[tuple[str, bytes]] = []
        asked: list[str] = []
        watcher = Link(client("watcher"), "home")
        watcher.follow(lambda name, payload: published.append((name, payload)))

        def lie(query: zenoh.Query) -> None:
            asked.append(str(query.key_expr))
            query.reply(query.key_expr, told(1000))

        async with (
            routing(meeting, keys=keys.folder_of("router")) as (_, reports),
            living(
                tmp_path, "hall", [0.5] * 5, connection=client("hall"), identity=keys.of("hall")
            ) as hall,
            living(
                tmp_path, "attic", [0.5] * 5, connection=client("attic"), identity=keys.of("attic")
            ) as attic,
        ):
            await watcher.open()
            with attacker(client("mallory")) as mallory:
                for name in ("hall", "ghost", "mallory"):
                    mallory.pretend(name, lie)
                await until(lambda: "mallory" in attic.core.membership.present)
                assert attic.core.membership.present == {"hall", "mallory"}
                await until(lambda: published)
                for name in ("hall", "ghost", "mallory"):
                    mallory.session.put(f"colme/home/{name}/snapshot", b"false")
                await until(lambda: ("mallory", b"false") in published)
                assert {name for name, payload in published if payload == b"false"} == {"mallory"}
                heard = attic.core.counts["heard"]
                await until(lambda: attic.core.counts["heard"] > heard + 5)
                await until(lambda: asked)
                assert set(asked) == {"colme/home/mallory/ask"}
            await until(lambda: attic.core.membership.present == {"hall"})
            assert reports[-1]["strangers"] == 0
            for node in (hall, attic):
                assert set(node.core.refused) <= {"unsealed"}  # what mallory says as itself
        await watcher.close()

    asyncio.run(main())


LIES: dict[str, Callable[[Keys, WireReply], bytes]] = {
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

    def near(name: str, **where: Any) -> ConnectionConfig:
        return replace(peer(**where), keys=keys.folder_of(name))

    def lie(query: zenoh.Query) -> None:
        assert query.payload is not None
        ask = decode(query.payload.to_bytes())
        assert isinstance(ask, WireQuery)
        true = WireReply(ask.nonce, 1, Reply("hall", 9.0, 1000, shape=(0.5, 0.5, 0.5)))
        lies.append(ask.sender)
        for make in LIES.values():
            query.reply(query.key_expr, make(keys, true))

    async def main() -> None:
        async with living(
            tmp_path,
            "attic",
            [0.5] * 5,
            connection=near("attic", listen=meeting),
            schedule=PATIENT,
            identity=keys.of("attic"),
        ) as attic:
            with attacker(near("mallory", connect=meeting)) as mallory:
                mallory.pretend("hall", lie)
                if silent:
                    await until(lambda: attic.core.counts["unanswered"] > 1)
                    reply = reply_of(attic, "hall")
                    assert (reply.count, attic.core.counts["heard"]) == (0, 0)
                else:
                    async with living(
                        tmp_path,
                        "hall",
                        [0.5] * 7,
                        connection=near("hall", connect=meeting),
                        identity=keys.of("hall"),
                    ) as hall:
                        await until(lambda: attic.core.counts["heard"] > 3 and len(lies) > 3)
                        assert reply_of(attic, "hall").count == 7
                        assert hall.core.refused == {}
                await until(lambda: len(attic.core.refused) == len(LIES))
                assert attic.core.refused.keys() == LIES.keys()
                assert attic.core.agent.estimate == 0.5

    asyncio.run(main())
