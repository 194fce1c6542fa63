"""Routers: what they are told, how nodes meet at them, and what they count."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from commands import free_address
from hosts import PATIENCE, living, report_of, until

from colme.live.connection_config import ConnectionConfig
from colme.live.keys import Authority
from colme.live.router import Router, RouterSettings


@asynccontextmanager
async def routing(listen: str, **more: Any) -> AsyncIterator[tuple[Router, list[dict[str, Any]]]]:
    """Run a router; give it and what it has reported."""
    reports: list[dict[str, Any]] = []
    router = Router(RouterSettings(fleet="home", listen=(listen,), every=0.02, **more))
    running = asyncio.create_task(router.run(reports.append))
    try:
        await until(lambda: reports or running.done())
        yield router, reports
    finally:
        router.stop()
        await asyncio.wait_for(running, PATIENCE)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({}, "fleet: Field required"),
        ({"fleet": "my home"}, "fleet: a name must be 1 to 64"),
        ({"fleet": "home", "listen": []}, "listen"),
        ({"fleet": "home", "listen": ["0.0.0.0:7447"]}, "need keys"),
        ({"fleet": "home", "connect": ["elsewhere:7447"]}, "need keys"),
        ({"fleet": "home", "every": 0}, "every"),
        ({"fleet": "home", "members": ["a"]}, "members: Extra inputs are not permitted"),
    ],
)
def test_what_makes_no_sense_is_refused(told: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RouterSettings.make(told)


def test_with_keys_only_members_speak_and_only_in_their_fleet(tmp_path: Path) -> None:
    authority = Authority.create(tmp_path / "keys", "home")
    authority.issue_all(["router", "a", "b"])
    settings = RouterSettings(fleet="home", keys=tmp_path / "keys" / "router")
    assert settings.connection().members == ("router", "a", "b")
    anywhere = RouterSettings(fleet="home", listen=("0.0.0.0:7447",), keys=tmp_path / "keys" / "a")
    assert anywhere.connection().config("home")["listen"]["endpoints"] == ["tls/0.0.0.0:7447"]
    with pytest.raises(ValueError, match="of the fleet 'home'; received 'farm': name that fleet"):
        RouterSettings(fleet="farm", keys=tmp_path / "keys" / "router").connection()
    with pytest.raises(ValueError, match="missing"):
        RouterSettings(fleet="home", keys=tmp_path).connection()


def test_clients_wait_for_a_router_meet_at_it_and_are_counted(tmp_path: Path) -> None:
    meeting = free_address()

    async def main() -> None:
        client = ConnectionConfig("client", connect=(meeting,))
        async with (
            living(tmp_path, "a", [0.5] * 3, connection=client) as a,
            living(tmp_path, "b", [0.5] * 4, connection=client) as b,
        ):
            await until(lambda: a.core.agent.count == 3 and b.core.counts["ticks"] > 2)
            assert report_of(a)["present"] == 0
            async with routing(meeting) as (router, reports):
                await until(lambda: report_of(a)["present"] == report_of(b)["present"] == 1)
                await until(lambda: a.core.counts["heard"] and b.core.counts["heard"])
                await until(lambda: reports[-1]["links"] == 2)
                router.count_stranger("peer sent no certificates")
                assert router.report() == {
                    "fleet": "home",
                    "links": 2,
                    "opened": 2,
                    "closed": 0,
                    "strangers": 1,
                }
            await until(lambda: report_of(a)["present"] == 0)
            ticks = a.core.counts["ticks"]
            await until(lambda: a.core.counts["ticks"] > ticks + 2)

    asyncio.run(main())


def test_a_router_that_comes_back_is_found_again(tmp_path: Path) -> None:
    meeting = free_address()

    async def main() -> None:
        client = ConnectionConfig("client", connect=(meeting,))
        async with routing(meeting):
            a_and_b = living(tmp_path, "a", [0.5], connection=client)
            a = await a_and_b.__aenter__()
            await until(lambda: a.core.counts["ticks"] > 2)
        async with (
            living(tmp_path, "b", [0.5], connection=client) as b,
            routing(meeting) as (_, last),
        ):
            await until(lambda: report_of(b)["present"] == report_of(a)["present"] == 1)
            await until(lambda: last[-1]["links"] == 2)
            await a_and_b.__aexit__(None, None, None)
            await until(lambda: last[-1]["links"] == 1)
            assert (last[-1]["opened"], last[-1]["closed"]) == (2, 1)

    asyncio.run(main())


def test_an_address_in_use_is_told(tmp_path: Path) -> None:
    meeting = free_address()

    async def main() -> None:
        async with routing(meeting):
            second = Router(RouterSettings(fleet="home", listen=(meeting,)))
            with pytest.raises(OSError, match=rf"cannot open the network \({meeting}\): .+"):
                await second.run()

    asyncio.run(main())
