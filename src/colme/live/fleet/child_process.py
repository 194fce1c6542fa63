"""A process of a demonstration fleet, seen from the one that started it.

Lives here: starting it, ending it and reading its output.  Must not know what it does.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from contextlib import suppress
from pathlib import Path

from colme.live.fleet.fleet_layout import ProcessSpec

_TAIL = 4000
"""Bytes at the end of its log that are searched for why a process has ended."""


class ChildProcess:
    """One process, which can be started again as it was.

    Parameters
    ----------
    spec
        What it does.
    log
        File that its log is added to.

    Examples
    --------
    >>> from colme.live.fleet import FleetSettings
    >>> from colme.problem import Problem
    >>> settings = FleetSettings(problem=Problem.gaussian([0.2], n_agents=3, sigma=0.5))
    >>> process = ChildProcess(ProcessSpec(settings=settings, hosts=()), Path("process.log"))
    >>> process.is_alive, process.failure
    (False, None)
    """

    def __init__(self, spec: ProcessSpec, log: Path) -> None:
        self.spec, self._log = spec, log
        self._child: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self.finished = asyncio.Event()
        self._is_wanted = False

    async def start(self) -> None:
        """Start the process, unless it runs."""
        if self.is_alive:
            return
        self._is_wanted = True
        with self._log.open("ab") as log:
            # In its own session it does not receive the Ctrl-C that is meant for its parent.
            self._child = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "colme.live.fleet.process_runner"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        self._reading = asyncio.create_task(self._read(self._child))
        assert self._child.stdin is not None
        with suppress(ConnectionError):  # it ended at once: its log says why
            self._child.stdin.write(self.spec.model_dump_json().encode() + b"\n")
            await self._child.stdin.drain()

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._child is not None and self._child.returncode is None

    @property
    def pid(self) -> int | None:
        """The process number of the system; None if it does not run."""
        return self._child.pid if self._child is not None and self.is_alive else None

    @property
    def failure(self) -> str | None:
        """Why the process has ended by itself; None if it has not, or was killed."""
        code = 0 if self._child is None else self._child.returncode
        if not self._is_wanted or code is None or code < 0:
            return None
        return _last_message(self._log) or f"it ended with exit code {code}"

    def send(self, number: signal.Signals) -> None:
        """Send the process a signal, if it runs."""
        if self._child is not None and self.is_alive:
            with suppress(ProcessLookupError):
                self._child.send_signal(number)

    async def end(self, patience: float) -> None:
        """Ask the process to end, and kill it after `patience` seconds."""
        self._is_wanted = False
        self.send(signal.SIGTERM)
        if not await self.wait(patience):
            self.send(signal.SIGKILL)
            await self.wait()

    async def wait(self, patience: float | None = None) -> bool:
        """Wait until the process has ended; return False if that takes longer than `patience`."""
        if self._child is None or self._reading is None:
            return True
        try:
            await asyncio.wait_for(self._child.wait(), patience)
        except TimeoutError:
            return False
        assert self._child.stdin is not None
        self._child.stdin.close()
        await self._reading
        return True

    async def _read(self, child: asyncio.subprocess.Process) -> None:
        assert child.stdout is not None
        async for line in child.stdout:
            with suppress(ValueError):
                if json.loads(line) == {"finished": True}:
                    self.finished.set()


def _last_message(log: Path) -> str:
    """Return the last message in a log."""
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - _TAIL))
        lines = stream.read().decode(errors="replace").splitlines()
    for line in reversed(lines):
        with suppress(ValueError, TypeError, KeyError):
            return str(json.loads(line)["message"])
    return lines[-1] if lines else ""
