"""Keys let the devices of a fleet in and keep all others out, on a real link."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zenoh

from colme.live.keys import Authority, Identity

PATIENCE_MS = 10_000


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority.create(tmp_path / "keys", "lab")


@pytest.fixture
def pair(authority: Authority) -> tuple[Identity, Identity]:
    a, b = (Identity.load(folder) for folder in authority.issue_all(["a", "b"]))
    return a, b


def settings(identity: Identity | None, ca: Path, mode: str) -> dict[str, Any]:
    tls: dict[str, Any] = {"root_ca_certificate": str(ca), "enable_mtls": True}
    if identity is not None:
        for side in ("listen", "connect"):
            tls[f"{side}_private_key"] = str(identity.folder / "device.key")
            tls[f"{side}_certificate"] = str(identity.folder / "device.pem")
    link = {"tls": tls | {"verify_name_on_connect": True}}
    return {
        "mode": mode,
        "scouting": {"multicast": {"enabled": False}},
        "transport": {"shared_memory": {"enabled": False}, "link": link},
    }


def client(
    identity: Identity | None, ca: Path, endpoint: str, patience_ms: int = PATIENCE_MS
) -> zenoh.Session:
    connect = {"endpoints": [endpoint], "timeout_ms": patience_ms, "exit_on_failure": True}
    config = settings(identity, ca, "client") | {"connect": connect}
    return zenoh.open(zenoh.Config.from_json5(json.dumps(config)))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def router(authority: Authority) -> Iterator[dict[str, str]]:
    """Give the endpoints of a running router, by host."""
    identity = Identity.load(authority.issue("router", hosts=["127.0.0.2"]))
    hosts = ("127.0.0.1", "127.0.0.2", "127.0.0.3", "localhost")
    endpoints = {host: f"tls/{host}:{free_port()}" for host in hosts}
    listen = {"endpoints": list(endpoints.values())}
    config = settings(identity, identity.folder / "ca.pem", "router") | {"listen": listen}
    with zenoh.open(zenoh.Config.from_json5(json.dumps(config))):
        yield endpoints


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
def test_a_device_is_let_in_by_its_router(
    pair: tuple[Identity, Identity], router: dict[str, str], host: str
) -> None:
    a, b = pair
    with (
        client(a, a.folder / "ca.pem", router[host]) as teller,
        client(b, b.folder / "ca.pem", router[host]) as asker,
    ):
        _ = teller.declare_queryable("lab/a", lambda query: query.reply("lab/a", b"here"))
        answers: list[bytes] = []
        end = time.monotonic() + PATIENCE_MS / 1000
        while not answers and time.monotonic() < end:  # b is yet to hear that there is an a
            answers = [reply.ok.payload.to_bytes() for reply in asker.get("lab/a") if reply.ok]
        assert answers == [b"here"]


def test_strangers_are_turned_away(
    pair: tuple[Identity, Identity], router: dict[str, str], tmp_path: Path
) -> None:
    stranger = Identity.load(Authority.create(tmp_path / "foreign", "lab").issue("a"))
    member, ours = pair[0], pair[0].folder / "ca.pem"
    door = router["127.0.0.1"]
    with client(member, ours, door):
        pass
    for who, ca, endpoint in (
        (stranger, ours, door),
        (stranger, stranger.folder / "ca.pem", door),  # nor does it know the router
        (None, ours, door),
        (member, ours, router["127.0.0.3"]),  # an address that the router was not issued
    ):
        with pytest.raises(zenoh.ZError, match="Unable to connect"):
            client(who, ca, endpoint, patience_ms=500)
