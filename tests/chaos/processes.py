"""One process of a fleet: started, killed, frozen and asked to end; what it prints is kept."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TAIL = 5
"""So many of the last lines that a process logged are shown when a test fails."""
GUARD = ("setpriv", "--pdeathsig", "KILL") if shutil.which("setpriv") else ()
"""Ends a process with the tests that started it, however these end."""
WIDTH = 300
"""So many characters of each of them."""


class Process:
    """A command that prints one JSON object a line, and can be started again."""

    def __init__(self, name: str, command: Sequence[str], folder: Path) -> None:
        self.name = name
        self.command = list(command)
        self.last: dict[str, Any] = {}
        self.heard_at = -1.0
        self.n_lines = self.n_starts = self.n_kills = 0
        self._log = folder / f"{name}.log"
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """The number of the running process."""
        assert self._process is not None, f"{self.name} has not been started"
        return self._process.pid

    @property
    def code(self) -> int | None:
        """How the process ended; None while it runs."""
        return None if self._process is None else self._process.returncode

    @property
    def tail(self) -> str:
        """The last lines that it logged."""
        text = self._log.read_text(errors="replace") if self._log.exists() else ""
        return "\n".join(line[:WIDTH] for line in deque(text.splitlines(), TAIL))

    async def start(self) -> None:
        """Start the process, for the first time or again."""
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *GUARD,
                *self.command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        self.n_starts += 1
        self._reading = asyncio.create_task(self._read(self._process))

    def send(self, number: signal.Signals) -> None:
        """Send a signal; a process that has ended hears none."""
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def freeze(self) -> None:
        """Let it stand still."""
        self.send(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self.send(signal.SIGCONT)

    async def kill(self) -> None:
        """End it at whatever instruction it is."""
        self.n_kills += 1
        self.send(signal.SIGKILL)
        await self._gone()

    async def stop(self, patience: float) -> float:
        """Ask it to end, and return after how many seconds it did; kill it if it does not."""
        begin = time.monotonic()
        self.send(signal.SIGTERM)
        try:
            async with asyncio.timeout(patience):
                await self._gone()
        except TimeoutError:
            await self.kill()
            raise AssertionError(
                f"{self.name} was still there {patience} s after SIGTERM\n{self.tail}"
            ) from None
        return time.monotonic() - begin

    async def _gone(self) -> None:
        if self._process is not None:
            await self._process.wait()
        if self._reading is not None:
            await self._reading

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            with contextlib.suppress(ValueError):  # the last line of one that was killed
                self._take(json.loads(line))

    def _take(self, said: dict[str, Any]) -> None:
        before, now = self.last.get("samples", 0), said.get("samples", 0)
        assert now >= before, f"{self.name} spoke of {before} samples, and later of {now}"
        self.last, self.heard_at = said, time.monotonic()
        self.n_lines += 1
