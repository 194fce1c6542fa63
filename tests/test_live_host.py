"""Hosts: several nodes that share a store and a link, what they publish, and how they end."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from pathlib import Path
from typing import Any

import pytest
from commands import free_address
from hosts import OFTEN, hosted, hosting, living, peer, report_of, until, values

from colme.live.host import Host
from colme.live.keys import Authority
from colme.live.network import Link
from colme.live.run_node import run_node
from colme.live.settings import NodeSettings
from colme.live.sources import SocketSource
from colme.live.store import Store, StoreBusy


def settings_of(folder: Path, **more: Any) -> NodeSettings:
    told = {"fleet": "home", "id": "a", "state": folder, "sigma": 0.5, "interval": 0.02}
    return NodeSettings.make(told | more)


async def is_free(state: Path) -> bool:
    """Return whether nobody holds a store."""
    try:
        await Store(state, "home").close()
    except StoreBusy:
        return False
    return True


def test_nodes_of_one_host_hear_each_other_and_report_one_by_one(tmp_path: Path) -> None:
    snapshots: list[dict[str, Any]] = []

    async def main() -> None:
        agents = [hosted(name, values([0.5] * (3 + i))) for i, name in enumerate("abc")]
        async with hosting(tmp_path, *agents, emit=snapshots.append) as host:
            assert list(host.nodes) == ["a", "b", "c"]
            await until(
                lambda: all(
                    report_of(node)["present"] == 2 and node.core.counts["heard"] > 2
                    for node in host.nodes.values()
                )
            )
            host.count_stranger("peer sent no certificates")
            for node in host.nodes.values():
                assert node.core.refused == {"stranger": 1}
            assert {one["agent"] for one in host.reports()} == set("abc")
            assert len({one["life"] for one in host.reports()}) == 3
        assert await is_free(tmp_path)
        last = {one["agent"]: one["samples"] for one in host.reports()}
        assert last == {"a": 3, "b": 4, "c": 5}

    asyncio.run(main())
    assert {one["agent"] for one in snapshots} == set("abc")


def test_snapshots_are_published_as_they_are_emitted(tmp_path: Path) -> None:
    meeting = free_address()
    emitted: list[dict[str, Any]] = []
    followed: list[tuple[str, dict[str, Any]]] = []

    async def main() -> None:
        link = Link(peer(listen=meeting), "home")
        link.follow(lambda name, payload: followed.append((name, json.loads(payload))))
        await link.open()
        more: dict[str, Any] = {"connection": peer(connect=meeting), "emit": emitted.append}
        async with living(tmp_path, "a", [0.5], **more):
            await until(lambda: len(followed) > 3)
        await link.close()

    asyncio.run(main())
    assert all(name == "a" for name, _ in followed)
    assert all(snapshot in emitted for _, snapshot in followed)


def test_each_resident_needs_a_name_of_its_own(tmp_path: Path) -> None:
    async def main() -> None:
        twins = [hosted("a", values([])), hosted("a", values([]))]
        with pytest.raises(ValueError, match="agent 'a' is here already"):
            async with hosting(tmp_path, *twins):
                raise AssertionError("both were taken")
        assert await is_free(tmp_path)

    asyncio.run(main())


def test_a_host_told_to_stop_before_it_runs_ends_at_once(tmp_path: Path) -> None:
    async def main() -> None:
        host = Host("home", tmp_path, peer(), OFTEN)
        host.stop()
        await asyncio.wait_for(host.run([hosted("a", values([0.5]))]), 20)
        assert await is_free(tmp_path)

    asyncio.run(main())


def test_an_address_in_use_ends_a_host_before_it_takes_a_sample(tmp_path: Path) -> None:
    async def main() -> None:
        meeting = free_address()
        async with living(tmp_path, "a", [0.5], connection=peer(listen=meeting)) as a:
            late = Host("home", tmp_path / "b", peer(listen=meeting), OFTEN)
            with pytest.raises(OSError, match=rf"cannot open the network \({meeting}\): .+"):
                await late.run([hosted("b", values([0.5]))])
            assert await is_free(tmp_path / "b")
            ticks = a.core.counts["ticks"]
            await until(lambda: a.core.counts["ticks"] > ticks)
        store = Store(tmp_path / "b", "home")
        assert store.register("b").events == ()
        await store.close()

    asyncio.run(main())


def test_keys_of_somebody_else_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    authority = Authority.create(tmp_path / "keys", "home")
    authority.issue_all(["a", "b"])

    async def main() -> None:
        for told in ({"id": "b"}, {"fleet": "farm"}):
            settings = settings_of(tmp_path / "state", keys=tmp_path / "keys" / "a", **told)
            with pytest.raises(ValueError, match="are those of 'a' in the fleet 'home'; received"):
                await run_node(settings)

    asyncio.run(main())
    assert not (tmp_path / "state").exists()


def test_what_fails_at_the_start_leaves_the_store_and_the_source_free(tmp_path: Path) -> None:
    device = tmp_path / "socket"
    settings = settings_of(tmp_path / "state", source=f"unix:{device}")

    def started(_: Host) -> None:
        assert device.exists()
        raise OSError("the page cannot be served")

    async def main() -> None:
        with pytest.raises(OSError, match="the page cannot be served"):
            await run_node(settings, started=started)
        assert await is_free(tmp_path / "state")
        assert not device.exists()

    asyncio.run(main())


def test_a_source_that_somebody_else_listens_at_is_known_before_anything_is_made(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        other = SocketSource(f"unix:{tmp_path / 'socket'}")
        await other.bind()
        settings = settings_of(tmp_path / "state", source=f"unix:{tmp_path / 'socket'}")
        with pytest.raises(OSError, match="another process listens there"):
            await run_node(settings)
        await other.close()

    asyncio.run(main())
    assert not (tmp_path / "state").exists()


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # of the library's sockets
def test_a_broker_that_is_not_there_holds_nobody_up(tmp_path: Path) -> None:
    snapshots: list[dict[str, Any]] = []

    async def main() -> float:
        hosts: list[Host] = []
        settings = settings_of(tmp_path, source=f"mqtt://{free_address()}/rooms/a")
        running = asyncio.create_task(
            run_node(settings, emit=snapshots.append, started=hosts.append)
        )
        await until(lambda: len(snapshots) > 3)
        begin = time.monotonic()
        hosts[0].stop()
        await running
        return time.monotonic() - begin

    assert asyncio.run(main()) < 2.0
    gc.collect()  # so that no other test is blamed for what the library leaves open
    assert snapshots[-1]["agent"] == "a"
