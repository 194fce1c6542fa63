"""A demonstration fleet: many agents in several processes of this machine.

Lives here: starting it, watching it, killing parts of it, ending it.  Must not know what is shown
of it.
"""

from __future__ import annotations

import asyncio
import shutil
import signal
import tempfile
from pathlib import Path
from typing import Any, Literal, Self

from colme.live.fleet.child_process import ChildProcess
from colme.live.fleet.fleet_layout import FleetLayout, ProcessSpec
from colme.live.fleet.fleet_progress import FleetProgress
from colme.live.fleet.fleet_settings import FleetSettings
from colme.live.fleet.watcher import Watcher

_PATIENCE = 1.5
"""Seconds that agents have to end before they are killed."""
_ROUTER_PATIENCE = 0.4
"""Seconds that the router has after them."""

ProcessName = int | Literal["router"]
"""A process of agents by its number from 0 on, or the router."""


class LocalFleet:
    """Processes with agents, a router if one is needed, and a watcher of all agents.

    Used as ``async with LocalFleet(settings) as fleet``, or with `start` and `stop`.  Processes
    that were killed can be started again, and so can the whole fleet, if it has a folder.

    Parameters
    ----------
    settings
        The settings of the fleet.

    Attributes
    ----------
    progress
        How well it learns, compared with the truth.

    Examples
    --------
    >>> from colme.problem import Problem
    >>> problem = Problem.gaussian([0.2, 0.8], n_agents=5, sigma=0.5)
    >>> fleet = LocalFleet(FleetSettings(problem=problem))
    >>> fleet.alive, fleet.snapshots
    ((), {})
    """

    def __init__(self, settings: FleetSettings) -> None:
        self.settings = settings
        self.progress = FleetProgress(settings)
        self.layout: FleetLayout | None = None
        self._temporary: Path | None = None
        self._processes: dict[ProcessName, ChildProcess] = {}
        self._watcher: Watcher | None = None

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
        """Start everything; agents find each other within about a second."""
        folder = self.settings.state
        if folder is None:
            folder = self._temporary = Path(tempfile.mkdtemp(prefix="colme-fleet-"))
        layout = self.layout = await asyncio.to_thread(FleetLayout, self.settings, folder)
        if layout.router is not None:
            self._processes["router"] = ChildProcess(layout.router, layout.folder / "router.log")
        for k, spec in enumerate(layout.processes):
            self._processes[k] = ChildProcess(spec, layout.folder / f"process-{k}.log")
        for process in self._processes.values():
            await process.start()
        self._watcher = Watcher(layout.watcher, self.settings.fleet, self.progress.take)
        self._watcher.start()

    async def stop(self) -> None:
        """End everything within two seconds; only the folder of the settings, if any, remains."""
        agents = [one for name, one in self._processes.items() if name != "router"]
        await asyncio.gather(*(process.end(_PATIENCE) for process in agents))
        if "router" in self._processes:
            await self._processes["router"].end(_ROUTER_PATIENCE)
        if self._processes and self._watcher is not None:
            await self._watcher.close()
        self._processes = {}
        if self._temporary is not None:
            await asyncio.to_thread(shutil.rmtree, self._temporary, ignore_errors=True)
            self._temporary = None

    @property
    def alive(self) -> tuple[ProcessName, ...]:
        """The names of the processes that run."""
        return tuple(name for name, process in self._processes.items() if process.is_alive)

    @property
    def pids(self) -> dict[ProcessName, int]:
        """The process numbers of the system, of the processes that run."""
        found = {name: process.pid for name, process in self._processes.items()}
        return {name: pid for name, pid in found.items() if pid is not None}

    @property
    def present(self) -> frozenset[str]:
        """The names of the agents that are present."""
        return frozenset() if self._watcher is None else frozenset(self._watcher.present)

    @property
    def snapshots(self) -> dict[str, dict[str, Any]]:
        """The latest snapshot of each agent, by name."""
        return {} if self._watcher is None else self._watcher.snapshots

    @property
    def meeting_point(self) -> tuple[str, Path | None]:
        """The address to watch the fleet at, and the folder of keys for it, if it needs any."""
        if self.layout is None:
            raise ValueError("a fleet can be watched once it is started")
        return self.layout.watcher.connect[0], self.layout.watcher.keys

    @property
    def is_finished(self) -> bool:
        """Whether all agents have taken all their steps, and those that run have reported it."""
        agents = [one for name, one in self._processes.items() if name != "router"]
        if not agents or not all(one.finished.is_set() for one in agents):
            return False
        return all(map(self._has_reported, (one.spec for one in agents if one.is_alive)))

    def _has_reported(self, spec: ProcessSpec) -> bool:
        """Return whether the agents of a process have reported all steps, or still can."""
        names = [self.settings.names[agent] for agent in spec.agents]
        if self.settings.in_step:  # agents in step report once more when they end
            return self.present.issuperset(names)
        steps, nothing = self.settings.steps or 0, {"samples": -1}
        return all(self.snapshots.get(name, nothing)["samples"] >= steps for name in names)

    def check(self) -> None:
        """Raise ValueError, with its reason, if a process has ended by itself."""
        for name, process in self._processes.items():
            failure = process.failure
            if failure is not None:
                shown = name if name == "router" else f"process {name}"
                raise ValueError(f"{shown} of the fleet has ended: {failure}")

    def report(self) -> dict[str, Any]:
        """Return how well the fleet learns, ready for JSON."""
        return self.progress.report() | {"present": len(self.present), "alive": list(self.alive)}

    def send(self, name: ProcessName, number: signal.Signals) -> None:
        """Send a signal to a process: SIGSTOP and SIGCONT freeze and thaw it."""
        self._process(name).send(number)

    async def kill(self, name: ProcessName) -> None:
        """Kill a process at once, as kill -9 does, and wait until it has ended."""
        self.send(name, signal.SIGKILL)
        await self._process(name).wait()

    async def restart(self, name: ProcessName) -> None:
        """Start a process again that was killed, with all that it has stored."""
        await self._process(name).start()

    def _process(self, name: ProcessName) -> ChildProcess:
        if name not in self._processes:
            known = ", ".join(str(one) for one in self._processes) or "none: the fleet is stopped"
            raise ValueError(f"no process {name!r} in this fleet; there are {known}")
        return self._processes[name]
