"""One process of a demonstration fleet: `python -m colme.live.fleet.child`.

Lives here: what it does with what it is told on standard input, and when it ends.  Must not know
what happens in other processes.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

from colme.live.aside import leave
from colme.live.fleet.layout import HostSpec, ProcessSpec
from colme.live.fleet.liars import tongue_of
from colme.live.fleet.world import Stream
from colme.live.host import Host, Resident
from colme.live.keys import Identity
from colme.live.logs import start_logging
from colme.live.pace import Pace
from colme.live.router import Router, RouterSettings
from colme.live.signals import stop_on_signals
from colme.live.sources import Iterating

__all__ = ["Household", "main"]

log = logging.getLogger("colme.live")

_GARBAGE = 50_000
"""Objects made before garbage is looked for: hundreds of agents hold very many that are none."""
_PATIENCE = 2
"""Seconds after which the system ends a process that was asked to end and has not."""


class Household:
    """The hosts of one process, and whether their agents have taken all their samples.

    Parameters
    ----------
    spec
        What the process is told.
    finished
        Called once, when the last agent has taken its last step.

    Examples
    --------
    >>> Household.__name__
    'Household'
    """

    def __init__(self, spec: ProcessSpec, finished: Callable[[], None]) -> None:
        self._spec, self._finished = spec, finished
        self._problem = spec.world.problem()
        self._busy = {spec.names[agent] for host in spec.hosts for agent in host.agents}
        self._running: list[Host | Router] = []

    async def run(self) -> None:
        """Live until stopped; if one host fails, all end."""
        lives = [self._open(host) for host in self._spec.hosts]
        tasks = [asyncio.create_task(life()) for life in lives]
        try:
            await asyncio.gather(*tasks)
        finally:
            self.stop()
            await asyncio.gather(*tasks, return_exceptions=True)

    def stop(self) -> None:
        """Let all hosts end soon."""
        for host in self._running:
            host.stop()

    def _open(self, host: HostSpec) -> Callable[[], Any]:
        """Return how a host lives."""
        spec = self._spec
        if host.mode == "router":
            told = RouterSettings(fleet=spec.fleet, listen=host.listen, keys=host.keys)
            router = Router(told)
            self._running.append(router)
            return router.run
        one = Host(
            spec.fleet,
            spec.learning,
            host.state,
            host.wiring(),
            Pace(spec.interval, spec.every, spec.in_step),
            identity=None if host.keys is None else Identity.load(host.keys),
            sync=spec.sync,
        )
        self._running.append(one)
        residents = [self._resident(agent) for agent in host.agents]
        return lambda: one.run(residents, self._note)

    def _resident(self, agent: int) -> Resident:
        spec, means = self._spec, self._problem.true_means
        tongue = None
        if agent in spec.liars:
            low, high = float(means.min()) - spec.shift, float(means.max()) + spec.shift
            tongue = tongue_of(
                spec.lie, spec.shift, min(low, high), max(low, high), spec.world.seed, agent
            )
        return Resident(
            spec.names[agent],
            Iterating(self._samples(agent)),
            spec.names if spec.in_step else (),
            tongue=tongue,
        )

    def _samples(self, agent: int) -> Callable[[int], AsyncIterator[float]]:
        spec = self._spec
        stream = Stream(self._problem, spec.world.seed, agent, spec.interval, spec.steps)

        def after(n: int) -> AsyncIterator[float]:
            if spec.steps is not None and n >= spec.steps:
                self._done(spec.names[agent])
            return stream.after(n)

        return after

    def _note(self, report: dict[str, Any]) -> None:
        if self._spec.steps is not None and report["samples"] >= self._spec.steps:
            self._done(report["agent"])

    def _done(self, name: str) -> None:
        if name in self._busy:
            self._busy.remove(name)
            if not self._busy:
                self._finished()


def main() -> int:
    """Be one process of a fleet, until told to end or until nobody is left who could tell.

    The first line of standard input says what to do; when that closes, whoever started the process
    has gone.

    Examples
    --------
    >>> main.__name__
    'main'
    """
    start_logging("warning")
    gc.set_threshold(_GARBAGE, 50, 1000)
    try:
        spec = ProcessSpec.model_validate_json(sys.stdin.buffer.readline())
        asyncio.run(_live(spec))
    except (ValueError, OSError) as error:
        log.error("%s", error)  # noqa: TRY400 - the text says it all
        return 2
    return 0


async def _live(spec: ProcessSpec) -> None:
    loop, household = asyncio.get_running_loop(), Household(spec, _tell_finished)

    def stop() -> None:
        signal.alarm(_PATIENCE)
        household.stop()

    def hear() -> None:
        if not os.read(0, 4096):
            loop.remove_reader(0)
            stop()

    stop_on_signals(stop)
    loop.add_reader(0, hear)
    await household.run()


def _tell_finished() -> None:
    os.write(1, json.dumps({"finished": True}).encode() + b"\n")


if __name__ == "__main__":
    code = main()
    leave(code)
    sys.exit(code)
