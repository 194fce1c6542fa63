"""Nodes that run freely on a real network, with real stores."""

import asyncio
import json
import shutil
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from commands import free_address
from hosts import (
    OFTEN,
    PATIENCE,
    PATIENT,
    SETTINGS,
    hosted,
    hosting,
    living,
    peer,
    report_of,
    until,
    values,
)

from colme.live.host import Host
from colme.live.network import Link
from colme.live.node import Node
from colme.live.node_report import node_report
from colme.live.schedule import Schedule
from colme.live.settings import AgentSettings
from colme.live.sources import IteratorSource
from colme.live.store import Store
from colme.messages import Query, Reply


def reply_of(node: Node, peer: str) -> Reply:
    (reply,) = (one for one in node.core.agent.snapshot().replies if one.sender == peer)
    return reply


def heard(node: Node, peer: str, count: int, epoch: int = 0) -> Callable[[], bool]:
    """Return whether a node has heard of so many samples of a peer."""

    def holds() -> bool:
        if peer not in node.core.agent.peers:
            return False
        reply = reply_of(node, peer)
        return (reply.count, reply.epoch) == (count, epoch)

    return holds


def test_two_nodes_find_each_other_and_pool(tmp_path: Path) -> None:
    settings = AgentSettings(sigma=0.5, max_agents=2, algorithm="restricted-round-robin")
    streams = {"a": [0.4] * 30, "b": [0.6] * 50}
    plain = {name: settings.agent(name) for name in streams}
    for name, agent in plain.items():
        agent.perceive(*streams[name])
    meeting = free_address()

    async def main() -> None:
        more: dict[str, Any] = {"settings": settings}
        async with (
            living(tmp_path, "a", streams["a"], connection=peer(listen=meeting), **more) as a,
            living(tmp_path, "b", streams["b"], connection=peer(connect=meeting), **more) as b,
        ):
            await until(heard(a, "b", 50))
            await until(heard(b, "a", 30))
            await until(lambda: "delay" in report_of(a))
            report = report_of(a)
            assert (report["known"], report["present"], report["class_size"]) == (1, 1, 2)
            assert 0 < report["delay"]["p50"] <= report["delay"]["p99"]
            for node, other in ((a, "b"), (b, "a")):
                agent = plain[node.name]
                agent.meet(other)
                agent.receive(plain[other].answer(Query(agent.name, other)))
                assert node.core.agent.estimate == pytest.approx(agent.estimate, rel=1e-12)
                assert node.core.agent.estimate == pytest.approx((0.4 * 30 + 0.6 * 50) / 80)
                assert not node.core.refused

    asyncio.run(main())


def test_a_node_that_was_stopped_goes_on_and_peers_remember_each_other(tmp_path: Path) -> None:
    meeting = free_address()
    here, there = peer(listen=meeting), peer(connect=meeting)

    async def main() -> None:
        async with living(tmp_path, "a", [0.4] * 10, connection=here) as a:
            async with living(tmp_path, "b", [0.6] * 5, connection=there) as b:
                await until(heard(a, "b", 5))
                await until(heard(b, "a", 10))
                life = b.core.life
            before = b.core.checkpoint()
            # who has left stays in memory, with its age
            await until(lambda: report_of(a)["present"] == 0)
            assert report_of(a)["known"] == 1
            assert heard(a, "b", 5)()
            assert a.core.agent.optimistic_class == {"a", "b"}
            heard_at = a.core.membership.status("b").heard
            assert heard_at is not None
            assert heard_at <= time.time()
            assert heard_at == a.core.membership.status("b").heard
            # who returns continues
            async with living(tmp_path, "b", [0.6] * 7, connection=there) as b:
                assert b.core.life == life
                assert b.core.agent.count >= 5
                assert b.core.agent.peers == ("b", "a")
                await until(heard(a, "b", 7))
                assert b.core.position == "7"
            again = json.loads(b.core.checkpoint())
            assert json.loads(before)["membership"].keys() == again["membership"].keys()
            # who has lost its disk begins a new life, which is a new epoch of the same peer
            shutil.rmtree(tmp_path / "b")
            async with living(tmp_path, "b", [0.1] * 2, connection=there) as b:
                assert b.core.life != life
                await until(heard(a, "b", 2, epoch=1))
            assert not a.core.refused

    asyncio.run(main())


def test_nothing_is_different_after_a_restart(tmp_path: Path) -> None:
    async def main() -> None:
        async with living(tmp_path, "a", [0.1, 0.2, 0.4]) as a:
            a.note("b", True)
            await until(lambda: a.core.agent.count == 3 and "b" in a.core.agent.peers)
        before = a.core
        async with living(tmp_path, "a", [0.1, 0.2, 0.4]) as a:
            after = a.core
            assert after.life == before.life
            assert after.checkpoint() == before.checkpoint()
            assert (after.position, after.n_samples) == ("3", 3)
            assert node_report(after, at=5.0) == node_report(before, at=5.0) | {
                "present": 0,
                "messages": dict(after.counts),
            }

    asyncio.run(main())


CHANGED: list[dict[str, Any]] = [
    {"sigma": 0.7},
    {"sigma": None, "estimated": True},
    {"delta": 0.02},
    {"algorithm": "local"},
    {"max_agents": 5},
    {"room": 5},
    {"relays": 4},
    {"cap": 7.0},
    {"restart": True},
    {"trusting": True},
]


def test_settings_under_which_the_past_would_mean_something_else_are_refused(
    tmp_path: Path,
) -> None:
    async def past() -> object:
        store = Store(tmp_path / "a", "home")
        found = store.register("a")
        await store.close()
        return found

    async def main() -> None:
        async with living(tmp_path, "a", [0.1, 0.2]) as a:
            await until(lambda: a.core.agent.count == 2)
        before = await past()
        for change in CHANGED:
            settings = AgentSettings.make(SETTINGS.model_dump() | change)
            with pytest.raises(ValueError, match=r"'a' has lived with .* as a new life"):
                async with living(tmp_path, "a", [0.1, 0.2, 0.3], settings=settings):
                    raise AssertionError(f"{change} was accepted")
        assert await past() == before
        allowed = AgentSettings.make(SETTINGS.model_dump() | {"rate": 5.0, "burst": 3})
        async with living(tmp_path, "a", [0.1, 0.2, 0.3], settings=allowed) as a:
            await until(lambda: a.core.agent.count == 3)

    asyncio.run(main())


def test_one_agent_more_than_the_risk_was_split_over_is_counted(tmp_path: Path) -> None:
    settings, meeting = AgentSettings(sigma=0.5, max_agents=2), free_address()

    async def main() -> None:
        async with (
            living(tmp_path, "a", [0.1], connection=peer(listen=meeting), settings=settings) as a,
            living(tmp_path, "b", [0.1], connection=peer(connect=meeting), settings=settings),
            living(tmp_path, "c", [0.1], connection=peer(connect=meeting), settings=settings),
        ):
            await until(lambda: report_of(a)["present"] == 2 and a.core.refused["no room"])
            assert report_of(a)["known"] == 1
            await until(heard(a, a.core.agent.peers[1], 1))
            assert set(a.core.refused) == {"no room"}

    asyncio.run(main())


def test_a_row_with_little_room_ends_with_those_who_share_the_mean(tmp_path: Path) -> None:
    settings, meeting = AgentSettings(sigma=0.5, room=2), free_address()

    async def main() -> None:
        async with (
            living(
                tmp_path, "a", [0.0] * 99, connection=peer(listen=meeting), settings=settings
            ) as a,
            living(
                tmp_path, "far", [5.0] * 99, connection=peer(connect=meeting), settings=settings
            ),
        ):
            await until(lambda: a.core.agent.optimistic_class == {"a"} and report_of(a)["known"])
            async with living(
                tmp_path, "near", [0.0] * 99, connection=peer(connect=meeting), settings=settings
            ):
                await until(lambda: a.core.agent.peers == ("a", "near"))
                await until(heard(a, "near", 99))
                assert report_of(a)["present"] == 2

    asyncio.run(main())


def test_the_end_of_a_source_ends_a_node_only_if_so_wished(tmp_path: Path) -> None:
    async def main() -> None:
        snapshots: list[dict[str, Any]] = []
        ending = Host("home", tmp_path / "a", peer(), Schedule(0.05, stop_at_end=True), sync=False)
        await asyncio.wait_for(
            ending.run([hosted("a", values([0.1, 0.3], ends=True))], snapshots.append), 20
        )
        assert (snapshots[-1]["samples"], snapshots[-1]["mean"]) == (2, pytest.approx(0.2))
        resident = hosted("b", values([0.1, 0.3], ends=True))
        async with hosting(tmp_path / "b", resident) as going_on:
            node = going_on.nodes["b"]
            await until(lambda: node.core.agent.count == 2)
            ticks = node.core.counts["ticks"]
            await until(lambda: node.core.counts["ticks"] > ticks + 3)

    asyncio.run(main())


def test_a_source_that_fails_is_reported_and_the_node_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(n: int) -> AsyncIterator[float]:
        yield 0.5
        raise OSError("the cable is cut")

    async def main() -> None:
        async with hosting(tmp_path, hosted("a", IteratorSource(broken))) as host:
            node = host.nodes["a"]
            await until(lambda: node.core.counts["ticks"] > 3)
            assert node.core.agent.count == 1

    asyncio.run(main())
    assert "a lost its source: the cable is cut" in caplog.text


def test_a_node_can_be_stopped_while_it_waits_for_an_answer(tmp_path: Path) -> None:
    meeting = free_address()

    async def main() -> float:
        asked = asyncio.Event()
        silent = Link(peer(connect=meeting), "home")
        silent.serve("mute", lambda _: asked.set())
        silent.announce("mute")
        async with living(tmp_path, "a", [0.1], connection=peer(listen=meeting), schedule=PATIENT):
            await silent.open()
            await asyncio.wait_for(asked.wait(), PATIENCE)
            begin = time.monotonic()
        seconds = time.monotonic() - begin
        await silent.close()
        return seconds

    assert asyncio.run(main()) < 2.0


def test_ticks_that_could_not_be_had_are_counted_and_not_made_up_for(tmp_path: Path) -> None:
    async def main() -> None:
        async with living(tmp_path, "a") as a:
            await until(lambda: a.core.counts["ticks"] > 0)
            skipped = a.core.counts["skipped"]
            time.sleep(0.5)  # the loop is busy with something else
            await until(lambda: a.core.counts["skipped"] >= skipped + 8)
            ticks, begin = a.core.counts["ticks"], time.monotonic()
            await asyncio.sleep(0.1)
            at_most = 2 + (time.monotonic() - begin) / OFTEN.interval
            assert a.core.counts["ticks"] - ticks <= at_most

    asyncio.run(main())


@pytest.mark.parametrize(("interval", "timeout"), [(0.01, 0.1), (1.0, 0.9), (60.0, 2.0)])
def test_an_answer_is_waited_for_less_than_a_tick_but_not_forever(
    interval: float, timeout: float
) -> None:
    assert Schedule(interval).timeout == pytest.approx(timeout)
