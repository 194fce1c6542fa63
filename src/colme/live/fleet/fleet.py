"""A demonstration fleet: many agents in several processes of this machine.

Lives here: starting it, watching it, hurting it, ending it.  Must not know what is shown of it.
"""

from __future__ import annotations

import asyncio
import shutil
import signal
import tempfile
from pathlib import Path
from typing import Any, Literal, Self

from colme.live.fleet.layout import Layout, ProcessSpec
from colme.live.fleet.process import Process
from colme.live.fleet.settings import FleetSettings
from colme.live.fleet.tally import Tally
from colme.live.fleet.watching import Watcher

__all__ = ["Fleet"]

_PATIENCE = 1.5
"""Seconds that agents are given to end before they are killed."""
_ROUTER_PATIENCE = 0.4
"""Seconds that the router is given after them."""

Place = int | Literal["router"]


class Fleet:
    """Processes with agents, a router if one is needed, and a watcher of them all.

    Used as ``async with Fleet(settings) as fleet``, or with `start` and `stop`.  Processes that
    were killed can be started again, and so can the whole fleet, if it has a folder of its own.

    Parameters
    ----------
    settings
        What the fleet is told.

    Attributes
    ----------
    tally
        What is known of it, against the truth.

    Examples
    --------
    >>> from colme.problem import Problem
    >>> fleet = Fleet(FleetSettings(Problem.gaussian([0.2, 0.8], n_agents=5, sigma=0.5)))
    >>> fleet.alive, fleet.snapshots
    ((), {})
    """

    def __init__(self, settings: FleetSettings) -> None:
        self.settings = settings
        self.tally = Tally(settings)
        self.layout: Layout | None = None
        self._temporary: Path | None = None
        self._processes: dict[Place, Process] = {}
        self._watcher: Watcher | None = None
        self._opening: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Start everything; agents find each other in a second or so."""
        layout = self.layout = await asyncio.to_thread(Layout, self.settings, self._folder())
        if layout.router is not None:
            self._processes["router"] = Process(layout.router, layout.folder / "router.log")
        for k, spec in enumerate(layout.processes):
            self._processes[k] = Process(spec, layout.folder / f"process-{k}.log")
        for process in self._processes.values():
            await process.start()
        self._watcher = Watcher(layout.watcher, self.settings.name, self.tally.take)
        self._opening = asyncio.create_task(self._watcher.open())

    async def stop(self) -> None:
        """End everything, within two seconds, and leave nothing behind but a folder of its own."""
        agents = [one for place, one in self._processes.items() if place != "router"]
        await asyncio.gather(*(process.end(_PATIENCE) for process in agents))
        if "router" in self._processes:
            await self._processes["router"].end(_ROUTER_PATIENCE)
        if self._opening is not None and self._watcher is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
            await self._watcher.close()
        self._processes, self._opening = {}, None
        if self._temporary is not None:
            await asyncio.to_thread(shutil.rmtree, self._temporary, ignore_errors=True)
            self._temporary = None

    @property
    def alive(self) -> tuple[Place, ...]:
        """The processes that run, by their numbers from 0 on, and "router"."""
        return tuple(place for place, process in self._processes.items() if process.is_alive)

    @property
    def pids(self) -> dict[Place, int]:
        """The numbers by which the system knows the processes that run."""
        found = {place: process.number for place, process in self._processes.items()}
        return {place: number for place, number in found.items() if number is not None}

    @property
    def present(self) -> frozenset[str]:
        """The names of the agents that are there."""
        return frozenset() if self._watcher is None else frozenset(self._watcher.present)

    @property
    def snapshots(self) -> dict[str, dict[str, Any]]:
        """The latest snapshot of each agent, by name."""
        return {} if self._watcher is None else self._watcher.snapshots

    @property
    def meeting_point(self) -> tuple[str, Path | None]:
        """Where others can connect to watch the fleet, and the keys for it, if it needs any."""
        if self.layout is None:
            raise ValueError("a fleet can be watched once it is started")
        return self.layout.watcher.connect[0], self.layout.watcher_keys

    @property
    def is_finished(self) -> bool:
        """Whether all agents have taken all their steps, and it was heard of those that live."""
        agents = [(place, one) for place, one in self._processes.items() if place != "router"]
        if not agents or not all(one.finished.is_set() for _, one in agents):
            return False
        return all(map(self._has_told, (one.spec for _, one in agents if one.is_alive)))

    def _has_told(self, spec: ProcessSpec) -> bool:
        """Return whether the agents of a process need tell no more, or can still do so."""
        names = [spec.names[agent] for host in spec.hosts for agent in host.agents]
        if spec.in_step:  # agents in step say what they know once more when they end
            return self.present.issuperset(names)
        steps = spec.steps or 0
        return all(name in self.snapshots for name in names) and all(
            self.snapshots[name]["samples"] >= steps for name in names
        )

    def check(self) -> None:
        """Raise ValueError, with its reason, if a process has ended by itself."""
        for place, process in self._processes.items():
            failure = process.failure
            if failure is not None:
                name = place if place == "router" else f"process {place}"
                raise ValueError(f"{name} of the fleet has ended: {failure}")

    def report(self) -> dict[str, Any]:
        """Return how the fleet fares, ready for JSON."""
        report = self.tally.report()
        return report | {"present": len(self.present), "alive": list(self.alive)}

    def send(self, place: Place, number: signal.Signals) -> None:
        """Send a signal to a process: SIGSTOP and SIGCONT freeze and thaw it."""
        self._at(place).send(number)

    async def kill(self, place: Place) -> None:
        """Kill a process at once, as kill -9 does, and wait until it is gone."""
        self.send(place, signal.SIGKILL)
        await self._at(place).wait()

    async def restart(self, place: Place) -> None:
        """Start a process that was killed again, with all that it has kept."""
        await self._at(place).start()

    def _at(self, place: Place) -> Process:
        if place not in self._processes:
            known = ", ".join(str(one) for one in self._processes) or "none: the fleet is stopped"
            raise ValueError(f"no process {place!r} in this fleet; there are {known}")
        return self._processes[place]

    def _folder(self) -> Path:
        if self.settings.state is not None:
            return self.settings.state
        self._temporary = Path(tempfile.mkdtemp(prefix="colme-fleet-"))
        return self._temporary
