"""Nodes on a real network, with real stores."""

import asyncio
import json
import shutil
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import free_address
from hosts import OFTEN, PATIENCE, PATIENT, SETTINGS, hosting, living, peer, until, values
from numpy.typing import NDArray

import colme
from colme.live.host import Host, Resident
from colme.live.membership import Membership
from colme.live.network import Link
from colme.live.node import Node
from colme.live.pace import Pace
from colme.live.settings import AgentSettings
from colme.live.sources import Iterating
from colme.live.station import Station
from colme.live.store import Store
from colme.live.wire import Ask, Told, decode, encode
from colme.live.wiring import Wiring
from colme.messages import Query, Reply


def column(samples: NDArray[np.float64], a: int) -> Callable[[int], AsyncIterator[float]]:
    async def make(n: int) -> AsyncIterator[float]:
        for sample in samples[n:, a].tolist():
            yield sample

    return make


@pytest.mark.parametrize("algorithm", ["sharp", "aggressive-restricted-round-robin"])
def test_twenty_nodes_in_step_do_what_lockstep_does(tmp_path: Path, algorithm: str) -> None:
    horizon, n_agents = 60, 20
    problem = colme.Problem.gaussian([0.2, 0.8], n_agents=n_agents, sigma=0.3, seed=0)
    samples = problem.draw(horizon, seed=1)[0]
    names = tuple(str(a) for a in range(n_agents))
    settings = AgentSettings(sigma=0.3, delta=0.01, algorithm=algorithm, max_agents=n_agents)
    estimates = np.full((horizon, n_agents), np.nan)
    address = free_address()

    async def run() -> None:
        hosts = []
        for a, name in enumerate(names):
            listen, connect = ((address,), ()) if a == 0 else (("127.0.0.1:0",), (address,))
            wiring = Wiring("peer", listen, connect)
            hosts.append(
                Host("test", settings, tmp_path / name, wiring, Pace(in_step=True), sync=False)
            )

        def emit(report: dict[str, Any]) -> None:
            estimates[report["count"] - 1, int(report["agent"])] = report["estimate"]
            if not np.isnan(estimates[-1]).any():
                for host in hosts:
                    host.stop()

        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            for a, host in enumerate(hosts):
                resident = Resident(names[a], Iterating(column(samples, a)), names)
                group.create_task(host.run([resident], emit))

    asyncio.run(run())
    slow = colme.lockstep(samples, algorithm, sigma=0.3, delta=0.01)
    assert slow.estimates is not None
    np.testing.assert_allclose(estimates, slow.estimates[0], rtol=1e-12, atol=1e-12)


# Nodes that run freely


def reply_of(node: Node, peer: str) -> Reply:
    (reply,) = (one for one in node.station.agent.snapshot().replies if one.sender == peer)
    return reply


def heard(node: Node, peer: str, count: int, epoch: int = 0) -> Callable[[], bool]:
    """Return whether a node has heard of so many samples of a peer."""

    def holds() -> bool:
        if peer not in node.station.agent.peers:
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
            living(tmp_path, "a", streams["a"], wiring=peer(listen=meeting), **more) as a,
            living(tmp_path, "b", streams["b"], wiring=peer(connect=meeting), **more) as b,
        ):
            await until(heard(a, "b", 50))
            await until(heard(b, "a", 30))
            await until(lambda: "delay" in a.report())
            report = a.report()
            assert (report["known"], report["present"], report["class_size"]) == (1, 1, 2)
            assert 0 < report["delay"]["p50"] <= report["delay"]["p99"]
            for node, other in ((a, "b"), (b, "a")):
                agent = plain[node.name]
                agent.meet(other)
                agent.receive(plain[other].answer(Query(agent.name, other)))
                assert node.station.agent.estimate == pytest.approx(agent.estimate, rel=1e-12)
                assert node.station.agent.estimate == pytest.approx((0.4 * 30 + 0.6 * 50) / 80)
                assert not node.station.refused

    asyncio.run(main())


def test_a_node_that_was_stopped_goes_on_and_peers_remember_each_other(tmp_path: Path) -> None:
    meeting = free_address()
    here, there = peer(listen=meeting), peer(connect=meeting)

    async def main() -> None:
        async with living(tmp_path, "a", [0.4] * 10, wiring=here) as a:
            async with living(tmp_path, "b", [0.6] * 5, wiring=there) as b:
                await until(heard(a, "b", 5))
                await until(heard(b, "a", 10))
                life = b.station.life
            before = b.station.checkpoint()
            # who has left stays in memory, with its age
            await until(lambda: a.report()["present"] == 0)
            assert a.report()["known"] == 1
            assert heard(a, "b", 5)()
            assert a.station.agent.optimistic_class == {"a", "b"}
            age = a.station.membership.age("b", time.time())
            assert age is not None
            await until(lambda: (a.station.membership.age("b", time.time()) or 0) > age)
            # who returns continues
            async with living(tmp_path, "b", [0.6] * 7, wiring=there) as b:
                assert b.station.life == life
                assert b.station.agent.count >= 5
                assert b.station.agent.peers == ("b", "a")
                await until(heard(a, "b", 7))
                assert b.station.position == "7"
            again = json.loads(b.station.checkpoint())
            assert json.loads(before)["membership"].keys() == again["membership"].keys()
            # who has lost its disk begins a new life, which is a new epoch of the same peer
            shutil.rmtree(tmp_path / "b")
            async with living(tmp_path, "b", [0.1] * 2, wiring=there) as b:
                assert b.station.life != life
                await until(heard(a, "b", 2, epoch=1))
            assert not a.station.refused

    asyncio.run(main())


def test_nothing_is_different_after_a_restart(tmp_path: Path) -> None:
    async def main() -> None:
        async with living(tmp_path, "a", [0.1, 0.2, 0.4]) as a:
            a.note("b", True)
            await until(lambda: a.station.agent.count == 3 and "b" in a.station.agent.peers)
        before = a.station
        async with living(tmp_path, "a", [0.1, 0.2, 0.4]) as a:
            after = a.station
            assert after.life == before.life
            assert after.checkpoint() == before.checkpoint()
            assert (after.position, after.n_samples) == ("3", 3)
            assert after.report(at=5.0) == before.report(at=5.0) | {
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
    {"cap": 7.0},
    {"restart": True},
    {"trusting": True},
]


def test_settings_under_which_the_past_would_mean_something_else_are_refused(
    tmp_path: Path,
) -> None:
    async def past() -> object:
        store = Store.open(tmp_path / "a", "home")
        found = store.adopt("a")
        await store.close()
        return found

    async def main() -> None:
        async with living(tmp_path, "a", [0.1, 0.2]) as a:
            await until(lambda: a.station.agent.count == 2)
        before = await past()
        for change in CHANGED:
            settings = AgentSettings.make(SETTINGS.model_dump() | change)
            with pytest.raises(ValueError, match=r"'a' has lived with .* as a new life"):
                async with living(tmp_path, "a", [0.1, 0.2, 0.3], settings=settings):
                    raise AssertionError(f"{change} was accepted")
        assert await past() == before
        allowed = AgentSettings.make(SETTINGS.model_dump() | {"rate": 5.0, "burst": 3})
        async with living(tmp_path, "a", [0.1, 0.2, 0.3], settings=allowed) as a:
            await until(lambda: a.station.agent.count == 3)

    asyncio.run(main())


def test_one_agent_more_than_the_risk_was_split_over_is_counted(tmp_path: Path) -> None:
    settings, meeting = AgentSettings(sigma=0.5, max_agents=2), free_address()

    async def main() -> None:
        async with (
            living(tmp_path, "a", [0.1], wiring=peer(listen=meeting), settings=settings) as a,
            living(tmp_path, "b", [0.1], wiring=peer(connect=meeting), settings=settings),
            living(tmp_path, "c", [0.1], wiring=peer(connect=meeting), settings=settings),
        ):
            await until(lambda: a.report()["present"] == 2 and a.station.refused["no room"])
            assert a.report()["known"] == 1
            await until(heard(a, a.station.agent.peers[1], 1))
            assert set(a.station.refused) == {"no room"}

    asyncio.run(main())


def test_a_row_with_little_room_ends_with_those_who_share_the_mean(tmp_path: Path) -> None:
    settings, meeting = AgentSettings(sigma=0.5, room=2), free_address()

    async def main() -> None:
        async with (
            living(tmp_path, "a", [0.0] * 99, wiring=peer(listen=meeting), settings=settings) as a,
            living(tmp_path, "far", [5.0] * 99, wiring=peer(connect=meeting), settings=settings),
        ):
            await until(lambda: a.station.agent.optimistic_class == {"a"} and a.report()["known"])
            async with living(
                tmp_path, "near", [0.0] * 99, wiring=peer(connect=meeting), settings=settings
            ):
                await until(lambda: a.station.agent.peers == ("a", "near"))
                await until(heard(a, "near", 99))
                assert a.report()["present"] == 2

    asyncio.run(main())


def test_the_end_of_a_source_ends_a_node_only_if_so_wished(tmp_path: Path) -> None:
    async def main() -> None:
        snapshots: list[dict[str, Any]] = []
        ending = Host(
            "home", SETTINGS, tmp_path / "a", peer(), Pace(0.05, stop_at_end=True), sync=False
        )
        await asyncio.wait_for(
            ending.run([Resident("a", values([0.1, 0.3], ends=True))], snapshots.append), 20
        )
        assert (snapshots[-1]["samples"], snapshots[-1]["mean"]) == (2, pytest.approx(0.2))
        resident = Resident("b", values([0.1, 0.3], ends=True))
        async with hosting(tmp_path / "b", resident) as going_on:
            node = going_on.nodes["b"]
            await until(lambda: node.station.agent.count == 2)
            ticks = node.station.counts["ticks"]
            await until(lambda: node.station.counts["ticks"] > ticks + 3)

    asyncio.run(main())


def test_a_source_that_fails_is_reported_and_the_node_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(n: int) -> AsyncIterator[float]:
        yield 0.5
        raise OSError("the cable is cut")

    async def main() -> None:
        async with hosting(tmp_path, Resident("a", Iterating(broken))) as host:
            node = host.nodes["a"]
            await until(lambda: node.station.counts["ticks"] > 3)
            assert node.station.agent.count == 1

    asyncio.run(main())
    assert "a lost its source: the cable is cut" in caplog.text


def test_a_node_can_be_stopped_while_it_waits_for_an_answer(tmp_path: Path) -> None:
    meeting = free_address()

    async def main() -> float:
        asked = asyncio.Event()
        silent = Link(peer(connect=meeting), "home")
        silent.serve("mute", lambda _: asked.set())
        silent.announce("mute")
        async with living(tmp_path, "a", [0.1], wiring=peer(listen=meeting), pace=PATIENT):
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
            await until(lambda: a.station.counts["ticks"] > 0)
            skipped = a.station.counts["skipped"]
            time.sleep(0.5)  # the loop is busy with something else
            await until(lambda: a.station.counts["skipped"] >= skipped + 8)
            ticks, begin = a.station.counts["ticks"], time.monotonic()
            await asyncio.sleep(0.1)
            at_most = 2 + (time.monotonic() - begin) / OFTEN.interval
            assert a.station.counts["ticks"] - ticks <= at_most

    asyncio.run(main())


@pytest.mark.parametrize(("interval", "timeout"), [(0.01, 0.1), (1.0, 0.9), (60.0, 2.0)])
def test_an_answer_is_waited_for_less_than_a_tick_but_not_forever(
    interval: float, timeout: float
) -> None:
    assert Pace(interval).timeout == pytest.approx(timeout)


# Questions about samples to come


def test_only_agents_in_step_let_a_question_for_samples_to_come_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("colme.live.node._WAITING", 3)
    meeting = free_address()
    arrived: asyncio.Queue[float] = asyncio.Queue()

    async def trickle(n: int) -> AsyncIterator[float]:
        while True:
            yield await arrived.get()

    async def main() -> None:
        link = Link(peer(listen=meeting), "home")
        await link.open()
        taken: list[bytes] = []

        def take(told: bytes) -> bool:
            taken.append(told)
            return True

        def ask(name: str, as_of: int) -> asyncio.Future[bool]:
            question = encode(Ask("me", name, nonce=1, as_of=as_of))
            return link.ask(name, question, take, timeout=20.0)

        async with (
            living(tmp_path, "free", [0.1], wiring=peer(connect=meeting)) as free,
            hosting(
                tmp_path / "step",
                Resident("step", Iterating(trickle)),
                wiring=peer(connect=meeting),
                pace=Pace(in_step=True),
            ),
        ):
            await until(lambda: free.station.agent.count == 1)
            while not await ask("step", 0):
                await asyncio.sleep(0.01)
            while not await ask("free", 1):
                await asyncio.sleep(0.01)
            taken.clear()
            assert not await ask("free", 2)
            assert free.station.refused == {"not in step": 1}
            waiting = [ask("step", 1) for _ in range(5)]
            assert [await one for one in waiting[:2]] == [False, False]  # the oldest are dropped
            arrived.put_nowait(0.5)
            assert [await one for one in waiting[2:]] == [True, True, True]
            counts = [decode(told) for told in taken]
            assert [one.reply.count for one in counts if isinstance(one, Told)] == [1, 1, 1]
        await link.close()

    asyncio.run(main())


def test_a_long_life_is_written_down_anew_now_and_then(tmp_path: Path) -> None:
    lengths = []

    async def main() -> None:
        store = Store.open(tmp_path, "home", sync=False)
        station = Station(
            SETTINGS.agent("a"), "home", store.adopt("a").life, Membership(1.0), in_step=True
        )

        def emit(_: dict[str, Any]) -> None:
            lengths.append(store.journal_length("a"))

        link = Link(peer(), "home")
        pace = Pace(in_step=True, stop_at_end=True)
        node = Node(station, store, values([0.5] * 600, ends=True), link, pace, emit)
        await node.run()
        await store.close()
        again = Store.open(tmp_path, "home")
        past = again.adopt("a")
        await again.close()
        assert past.checkpoint == station.checkpoint()
        assert past.events == ()

    asyncio.run(main())
    assert max(lengths) < 500
    assert len(lengths) > 600
