"""One process of a demonstration fleet: `python -m colme.live.fleet.process_runner`.

Lives here: running what standard input describes, and when to end.  Must not know what happens in
other processes.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from typing import Any

from colme.live.background import exit_if_busy
from colme.live.fleet.false_replies import reply_filter
from colme.live.fleet.fleet_layout import HostSpec, ProcessSpec
from colme.live.fleet.fleet_problem import AgentStream
from colme.live.host import Host, HostedAgent
from colme.live.keys import Identity
from colme.live.logs import start_logging
from colme.live.router import Router, RouterSettings
from colme.live.signals import stop_on_signals
from colme.live.sources import IteratorSource

log = logging.getLogger("colme.live")

_GARBAGE = 50_000
"""Objects made before garbage is collected: hundreds of agents hold many that are not garbage."""
_PATIENCE = 2
"""Seconds after which the system ends a process that was asked to end and has not."""


class ProcessRunner:
    """The hosts of one process, and whether their agents have taken all their samples.

    Parameters
    ----------
    spec
        What the process does.
    on_finished
        Called once, when the last agent has taken its last step.

    Examples
    --------
    >>> from pathlib import Path
    >>> from colme.live.connection_config import ConnectionConfig
    >>> from colme.live.fleet import FleetSettings
    >>> from colme.problem import Problem
    >>> settings = FleetSettings(problem=Problem.gaussian([0.2], n_agents=3, sigma=0.5))
    >>> connection = ConnectionConfig("router", listen=("127.0.0.1:0",))
    >>> router = HostSpec(agents=(), state=Path(), connection=connection)
    >>> async def main() -> None:
    ...     runner = ProcessRunner(ProcessSpec(settings=settings, hosts=(router,)), print)
    ...     asyncio.get_running_loop().call_later(0.01, runner.stop)
    ...     await runner.run()
    >>> asyncio.run(main())
    """

    def __init__(self, spec: ProcessSpec, on_finished: Callable[[], object]) -> None:
        self._spec, self._settings = spec, spec.settings
        self._on_finished = on_finished
        self._busy = {self._settings.names[agent] for agent in spec.agents}
        self._running: list[Host | Router] = []

    async def run(self) -> None:
        """Run until stopped; if one host fails, all end."""
        tasks = [asyncio.create_task(run) for run in map(self._open, self._spec.hosts)]
        try:
            await asyncio.gather(*tasks)
        finally:
            self.stop()
            await asyncio.gather(*tasks, return_exceptions=True)

    def stop(self) -> None:
        """Let all hosts end soon."""
        for host in self._running:
            host.stop()

    def _open(self, spec: HostSpec) -> Coroutine[Any, Any, None]:
        settings, way = self._settings, spec.connection
        if way.mode == "router":
            router = Router(RouterSettings(fleet=settings.fleet, listen=way.listen, keys=way.keys))
            self._running.append(router)
            return router.run()
        identity = None if way.keys is None else Identity.load(way.keys)
        host = Host(
            settings.fleet,
            spec.state,
            way,
            settings.schedule,
            identity=identity,
            sync=settings.sync,
        )
        self._running.append(host)
        return host.run([self._hosted(agent) for agent in spec.agents], self._note)

    def _hosted(self, number: int) -> HostedAgent:
        settings, name = self._settings, self._settings.names[number]
        agent = settings.agent(name, settings.names if settings.in_step else ())
        stream = AgentStream(
            settings.problem, settings.seed, number, settings.interval, settings.steps
        )

        def after(n: int) -> AsyncIterator[float]:
            self._note({"agent": name, "samples": n})
            return stream.after(n)

        return HostedAgent(
            agent,
            IteratorSource(after),
            settings.reply_checks(agent),
            reply_filter=reply_filter(settings, number),
        )

    def _note(self, report: dict[str, Any]) -> None:
        """Note how many samples an agent has taken."""
        steps = self._settings.steps
        if steps is not None and report["samples"] >= steps and report["agent"] in self._busy:
            self._busy.remove(report["agent"])
            if not self._busy:
                self._on_finished()


def main() -> int:
    """Run one process of a fleet until it is stopped, or the process that started it has ended.

    The first line of standard input is a `ProcessSpec`; standard input closes when the process
    that started this one ends.

    Examples
    --------
    >>> import subprocess
    >>> command = [sys.executable, "-m", "colme.live.fleet.process_runner"]
    >>> done = subprocess.run(command, input=b"{}", capture_output=True)
    >>> done.returncode, b"Field required" in done.stderr
    (2, True)
    """
    start_logging("warning")
    gc.set_threshold(_GARBAGE, 50, 1000)
    try:
        spec = ProcessSpec.model_validate_json(sys.stdin.buffer.readline())
        asyncio.run(_run(spec))
    except (ValueError, OSError) as error:
        log.error("%s", error)  # noqa: TRY400 - the text says it all
        return 2
    return 0


async def _run(spec: ProcessSpec) -> None:
    loop = asyncio.get_running_loop()
    runner = ProcessRunner(spec, partial(os.write, 1, b'{"finished": true}\n'))

    def stop() -> None:
        signal.alarm(_PATIENCE)
        runner.stop()

    def read() -> None:
        if not os.read(0, 4096):
            loop.remove_reader(0)
            stop()

    stop_on_signals(stop)
    loop.add_reader(0, read)
    await runner.run()


if __name__ == "__main__":
    code = main()
    exit_if_busy(code)
    sys.exit(code)
