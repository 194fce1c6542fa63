"""Nodes in step, as agents in lockstep are, and the length of journals."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import free_address
from hosts import (
    SETTINGS,
    hosted,
    hosting,
    living,
    peer,
    until,
    values,
)
from numpy.typing import NDArray

import colme
from colme.live.connection_config import ConnectionConfig
from colme.live.host import Host
from colme.live.membership import Membership
from colme.live.network import Link
from colme.live.node import Node
from colme.live.node_core import NodeCore
from colme.live.schedule import Schedule
from colme.live.settings import AgentSettings
from colme.live.sources import IteratorSource
from colme.live.store import Store
from colme.live.wire import WireQuery, WireReply, decode, encode


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
            connection = ConnectionConfig("peer", listen, connect)
            hosts.append(
                Host(
                    "test",
                    tmp_path / name,
                    connection,
                    Schedule(in_step=True),
                    sync=False,
                )
            )

        def emit(report: dict[str, Any]) -> None:
            estimates[report["count"] - 1, int(report["agent"])] = report["estimate"]
            if not np.isnan(estimates[-1]).any():
                for host in hosts:
                    host.stop()

        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            for a, host in enumerate(hosts):
                resident = hosted(names[a], IteratorSource(column(samples, a)), settings, names)
                group.create_task(host.run([resident], emit))

    asyncio.run(run())
    slow = colme.lockstep(samples, algorithm, sigma=0.3, delta=0.01)
    assert slow.estimates is not None
    np.testing.assert_allclose(estimates, slow.estimates[0], rtol=1e-12, atol=1e-12)


def test_only_agents_in_step_let_a_question_for_samples_to_come_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("colme.live.node._HELD", 3)
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
            question = encode(WireQuery("me", name, nonce=1, as_of=as_of))
            return link.ask(name, question, take, timeout=20.0)

        async with (
            living(tmp_path, "free", [0.1], connection=peer(connect=meeting)) as free,
            hosting(
                tmp_path / "step",
                hosted("step", IteratorSource(trickle)),
                connection=peer(connect=meeting),
                schedule=Schedule(in_step=True),
            ),
        ):
            await until(lambda: free.core.agent.count == 1)
            while not await ask("step", 0):
                await asyncio.sleep(0.01)
            while not await ask("free", 1):
                await asyncio.sleep(0.01)
            taken.clear()
            assert not await ask("free", 2)
            assert free.core.refused == {"not in step": 1}
            waiting = [ask("step", 1) for _ in range(5)]
            assert [await one for one in waiting[:2]] == [False, False]  # the oldest are dropped
            arrived.put_nowait(0.5)
            assert [await one for one in waiting[2:]] == [True, True, True]
            counts = [decode(told) for told in taken]
            assert [one.reply.count for one in counts if isinstance(one, WireReply)] == [1, 1, 1]
        await link.close()

    asyncio.run(main())


def test_a_long_life_is_written_down_anew_now_and_then(tmp_path: Path) -> None:
    lengths = []

    async def main() -> None:
        store = Store(tmp_path, "home", sync=False)
        core = NodeCore(
            SETTINGS.agent("a"), "home", store.register("a").life, Membership(1.0), in_step=True
        )

        def emit(_: dict[str, Any]) -> None:
            lengths.append(store.journal_length("a"))

        link = Link(peer(), "home")
        schedule = Schedule(in_step=True, stop_at_end=True)
        node = Node(core, store, values([0.5] * 600, ends=True), link, schedule, emit)
        await node.run()
        await store.close()
        again = Store(tmp_path, "home")
        past = again.register("a")
        await again.close()
        assert past.checkpoint == core.checkpoint()
        assert past.events == ()

    asyncio.run(main())
    assert max(lengths) < 500
    assert len(lengths) > 600
