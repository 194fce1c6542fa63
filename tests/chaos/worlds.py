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
from colme.live.connection_config import ConnectionConfig
from colme.live.host import Host, HostedAgent
from colme.live.schedule import Schedule
from colme.live.settings import AgentSettings
from colme.live.sources import IteratorSource

SIGMA = 0.5
INTERVAL = 0.01
A_TICK = 20
"""Samples at each tick of an undisturbed fleet."""
N_CALM = 3
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
        samples: NDArray[np.float64] = self.problem.draw(self.n_samples, seed=7)[0]
        return samples

    @property
    def settings(self) -> dict[str, Any]:
        """How all agents learn."""
        return {"sigma": SIGMA, "max_agents": self.n_agents}

    def slack(self, n: int) -> float:
        """Return a tenth of the standard error of a class's mean after n samples each.

        Nobody in an undisturbed fleet can be expected to be less than one standard error off the
        truth.  So an estimate at most this far from the undisturbed one is at most 10 % worse than
        that is expected to be, and this holds also when chance has brought the undisturbed one
        very near to the truth, where a ratio of errors would say nothing.
        """
        return 0.1 * SIGMA / math.sqrt(n * (self.n_agents // 2))


def undisturbed(world: World, counts: Sequence[int], folder: Path) -> dict[int, list[float]]:
    """Return the estimates of a fleet that nothing happens to, after so many samples each.

    Its nodes are those of the fleets under test, and so are network and stores; only that all live
    in this process, which saves their start.
    """
    return asyncio.run(_undisturbed(world, counts, folder))


async def _undisturbed(world: World, counts: Sequence[int], folder: Path) -> dict[int, list[float]]:
    calm, settings = _Calm(world.samples), AgentSettings(**world.settings)
    connection = ConnectionConfig("peer", ("127.0.0.1:0",))
    host = Host("calm", folder, connection, Schedule(INTERVAL), sync=False)
    agents = [settings.agent(name) for name in world.names]
    hosted = [
        HostedAgent(agent, calm.source(a), settings.reply_checks(agent))
        for a, agent in enumerate(agents)
    ]
    running = asyncio.create_task(host.run(hosted))
    found = {}
    async with asyncio.timeout(120):
        for n in counts:
            calm.allow(n)
            while min(_all(host, world, "count")) < n:
                await asyncio.sleep(INTERVAL)
            calm_by = max(_all(host, world, "ticks")) + N_CALM * world.n_agents
            while min(_all(host, world, "ticks")) < calm_by:
                await asyncio.sleep(INTERVAL)
            found[n] = _all(host, world, "estimate")
        host.stop()
        await running
    return found


class _Calm:
    """Samples that come a few at each tick, up to the n-th."""

    def __init__(self, samples: NDArray[np.float64]) -> None:
        self._samples, self._allowed = samples, 0

    def allow(self, n: int) -> None:
        self._allowed = n

    def source(self, a: int) -> IteratorSource:
        async def make(n: int) -> AsyncIterator[float]:
            while True:
                while n < self._allowed:
                    yield float(self._samples[n, a])
                    n += 1
                    if n % A_TICK == 0:
                        await asyncio.sleep(INTERVAL)
                await asyncio.sleep(INTERVAL)

        return IteratorSource(make)


def _all(host: Host, world: World, what: str) -> list[float]:
    """Return one figure of every node, in the order of the agents; 0 if it has said nothing."""
    last = {report["agent"]: report | report["messages"] for report in host.reports()}
    return [last[name][what] if name in last else 0.0 for name in world.names]
