"""Hosts and nodes within a test's own event loop, on real sessions and real stores."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from colme.live.connection_config import ConnectionConfig
from colme.live.host import Host, HostedAgent
from colme.live.keys import Identity
from colme.live.node import Node
from colme.live.node_report import node_report
from colme.live.schedule import Schedule
from colme.live.settings import AgentSettings
from colme.live.sources import IteratorSource, SampleSource

PATIENCE = 30.0
"""Seconds until a test gives up waiting; a busy machine needs a few."""
OFTEN = Schedule(interval=0.05)


class Patient(Schedule):
    """A schedule by which replies are waited for very long."""

    @property
    def timeout(self) -> float:
        """How long an answer is waited for, in seconds."""
        return 20.0


PATIENT = Patient(interval=0.05)
SETTINGS = AgentSettings(sigma=0.5, delta=0.01)


async def until(holds: Callable[[], object]) -> None:
    """Wait until something holds, and fail if that takes too long."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it has not come to hold in time"
        await asyncio.sleep(0.005)


def values(samples: Sequence[float], ends: bool = False) -> IteratorSource:
    """Return a source of samples that can be resumed, and then waits or ends."""

    async def make(n: int) -> AsyncIterator[float]:
        for sample in samples[n:]:
            yield sample
        if not ends:
            await asyncio.Event().wait()

    return IteratorSource(make)


def peer(listen: str | None = None, connect: str | None = None) -> ConnectionConfig:
    """Return how a peer without keys is connected."""
    here = ("127.0.0.1:0",) if listen is None else (listen,)
    return ConnectionConfig("peer", here, () if connect is None else (connect,))


def hosted(
    name: str, source: SampleSource, settings: AgentSettings = SETTINGS, peers: tuple[str, ...] = ()
) -> HostedAgent:
    """Return an agent for a host."""
    agent = settings.agent(name, peers)
    return HostedAgent(agent, source, settings.reply_checks(agent))


def report_of(node: Node) -> dict[str, Any]:
    """Return what a node would report now."""
    return node_report(node.core, time.time(), node._delays)


@asynccontextmanager
async def hosting(
    state: Path,
    *agents: HostedAgent,
    connection: ConnectionConfig | None = None,
    schedule: Schedule = OFTEN,
    identity: Identity | None = None,
    fleet: str = "home",
    emit: Callable[[dict[str, Any]], None] | None = None,
) -> AsyncIterator[Host]:
    """Run a host, and stop it at the end."""
    connection = peer() if connection is None else connection
    host = Host(fleet, state, connection, schedule, identity=identity, sync=False)
    running = asyncio.create_task(host.run(agents, emit))
    try:
        # A peer that does not listen yet would turn away whoever connects just once.
        waits = connection.mode == "peer"
        await until(
            lambda: running.done() or (host.nodes and not (waits and host._link._session is None))
        )
        if running.done():
            running.result()
        yield host
    finally:
        host.stop()
        await asyncio.wait_for(running, PATIENCE)


@asynccontextmanager
async def living(
    folder: Path,
    name: str,
    samples: Sequence[float] = (),
    settings: AgentSettings = SETTINGS,
    **more: Any,
) -> AsyncIterator[Node]:
    """Run a host with one node, its state in a folder of its name, and give the node."""
    agent = hosted(name, values(samples), settings)
    async with hosting(folder / name, agent, **more) as host:
        yield host.nodes[name]
