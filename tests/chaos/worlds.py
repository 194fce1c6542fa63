"""What a fleet under test is fed, and what an undisturbed fleet makes of it."""

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import colme
from colme.live.wiring import Wiring
from colme.live.host import Host, Resident
from colme.live.node import Pace
from colme.live.settings import AgentSettings
from colme.live.sources import Iterating

SIGMA = 0.5
INTERVAL = 0.02
A_TICK = 5
"""Samples at each tick of an undisturbed fleet."""
N_CALM = 4
"""An undisturbed fleet is looked at when everybody could ask everybody so many times."""


@dataclass(frozen=True)
class World:
    """Two classes whose means are four standard deviations apart."""

    n_agents: int
    n_samples: int

    @property
    def names(self) -> tuple[str, ...]:
        """The agents' names."""
        return tuple(f"n{a:02}" for a in range(self.n_agents))

    @property
    def problem(self) -> colme.Problem:
        """Labels and true means."""
        half = self.n_agents // 2
        sizes = [half, self.n_agents - half]
        return colme.Problem.gaussian([0.0, 2.0], class_sizes=sizes, sigma=SIGMA, seed=0)

    @property
    def samples(self) -> NDArray[np.float64]:
        """Every sample that any agent is ever sent [time, agent]."""
        return self.problem.draw(self.n_samples, seed=7)[0]

    def slack(self, n: int) -> float:
        """Return a tenth of the standard error of a class's mean after n samples each.

        An undisturbed agent is about one standard error off the truth, whatever it does.  So an
        estimate that is at most this far from the undisturbed one is at most about 10 % worse,
        whether or not chance has brought the undisturbed one very near to the truth.
        """
        return 0.1 * SIGMA / math.sqrt(n * self.n_agents / 2)

    @property
    def settings(self) -> dict[str, Any]:
        """How all agents learn."""
        return {"sigma": SIGMA, "max_agents": self.n_agents}


class _Calm:
    """Samples that come a few at each tick, up to the n-th."""

    def __init__(self, samples: NDArray[np.float64]) -> None:
        self._samples = samples
        self._allowed = 0
        self._change = asyncio.Event()

    def allow(self, n: int) -> None:
        self._allowed = n
        self._change.set()

    def source(self, a: int) -> Iterating:
        async def make(n: int) -> AsyncIterator[float]:
            while True:
                while n < self._allowed:
                    yield float(self._samples[n, a])
                    n += 1
                    if n % A_TICK == 0:
                        await asyncio.sleep(INTERVAL)
                await self._change.wait()
                await asyncio.sleep(INTERVAL)

        return Iterating(make)


def undisturbed(world: World, stages: Sequence[int], folder: Path) -> dict[int, list[float]]:
    """Return the estimates of a fleet that nothing happens to, after so many samples each.

    Its nodes are those of the fleets under test, and so are network and stores; only that all live
    in this process, whose start they share.
    """
    return asyncio.run(_undisturbed(world, stages, folder))


async def _undisturbed(world: World, stages: Sequence[int], folder: Path) -> dict[int, list[float]]:
    calm, settings = _Calm(world.samples), AgentSettings(**world.settings)
    host = Host(
        "calm",
        settings,
        folder,
        Wiring("peer", ("127.0.0.1:0",)),
        Pace(interval=INTERVAL),
        sync=False,
    )
    residents = [Resident(name, calm.source(a)) for a, name in enumerate(world.names)]
    running = asyncio.create_task(host.run(residents))
    found = {}
    async with asyncio.timeout(60):
        for n in stages:
            calm.allow(n)
            while not all(report["count"] == n for report in _reports(host, world)):
                await asyncio.sleep(0.02)
            ticks = [report["messages"]["ticks"] for report in _reports(host, world)]
            enough = max(ticks) + N_CALM * world.n_agents
            while min(report["messages"]["ticks"] for report in _reports(host, world)) < enough:
                await asyncio.sleep(0.02)
            found[n] = [report["estimate"] for report in _reports(host, world)]
        host.stop()
        await running
    return found


def _reports(host: Host, world: World) -> list[dict[str, Any]]:
    nothing = {"count": 0, "messages": {"ticks": 0}}
    last = {report["agent"]: report for report in host.reports()}
    return [last.get(name, nothing) for name in world.names]
