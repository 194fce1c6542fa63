"""Hosts and nodes within a test's own event loop, on real sessions and real stores."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from colme.live.host import Host, Resident
from colme.live.keys import Identity
from colme.live.node import Node
from colme.live.pace import Pace
from colme.live.settings import AgentSettings
from colme.live.sources import Iterating
from colme.live.wiring import Wiring

PATIENCE = 30.0
"""Seconds until a test gives up waiting; a busy machine needs a few."""
OFTEN = Pace(interval=0.05)


class Patient(Pace):
    """A pace at which answers are waited for very long."""

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


def values(samples: Sequence[float], ends: bool = False) -> Iterating:
    """Return a source of samples that can be resumed, and then waits or ends."""

    async def make(n: int) -> AsyncIterator[float]:
        for sample in samples[n:]:
            yield sample
        if not ends:
            await asyncio.Event().wait()

    return Iterating(make)


def peer(listen: str | None = None, connect: str | None = None) -> Wiring:
    """Return how a peer without keys is connected."""
    here = ("127.0.0.1:0",) if listen is None else (listen,)
    return Wiring("peer", here, () if connect is None else (connect,))


@asynccontextmanager
async def hosting(
    state: Path,
    *residents: Resident,
    wiring: Wiring | None = None,
    settings: AgentSettings = SETTINGS,
    pace: Pace = OFTEN,
    identity: Identity | None = None,
    fleet: str = "home",
    emit: Callable[[dict[str, Any]], None] | None = None,
) -> AsyncIterator[Host]:
    """Run a host, and stop it at the end."""
    wiring = peer() if wiring is None else wiring
    host = Host(fleet, settings, state, wiring, pace, identity=identity, sync=False)
    running = asyncio.create_task(host.run(residents, emit))
    try:
        await until(lambda: host.nodes or running.done())
        if running.done():
            running.result()
        yield host
    finally:
        host.stop()
        await asyncio.wait_for(running, PATIENCE)


@asynccontextmanager
async def living(
    folder: Path, name: str, samples: Sequence[float] = (), **more: Any
) -> AsyncIterator[Node]:
    """Run a host with one node, its state in a folder of its name, and give the node."""
    async with hosting(folder / name, Resident(name, values(samples)), **more) as host:
        yield host.nodes[name]
