"""Real `colme` processes: started, fed, read line by line, and ended whatever happens."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

PATIENCE = 30.0
"""Seconds until a test gives up waiting; a busy machine needs a few."""
SOON = 2.0
"""Seconds in which a command ends when it is told to."""


class Command:
    """A command that runs, and everything it has printed so far."""

    def __init__(self, *arguments: str, folder: Path) -> None:
        self.out: list[str] = []
        self.err: list[str] = []
        self._news, self._is_reading = threading.Condition(), True
        self.process = subprocess.Popen(
            [sys.executable, "-m", "colme", *arguments],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        pipes = ((self.process.stdout, self.out), (self.process.stderr, self.err))
        self._readers = [threading.Thread(target=self._read, args=pair) for pair in pipes]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.wait()
        with suppress(BrokenPipeError):  # what was fed last is read by nobody
            self.stop_feeding()
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()

    @property
    def snapshots(self) -> list[dict[str, Any]]:
        """Every line of standard output, which must all be JSON objects."""
        return [json.loads(line) for line in self.out]

    @property
    def logs(self) -> list[dict[str, Any]]:
        """Every line of standard error, which must all be JSON objects."""
        return [json.loads(line) for line in self.err]

    def feed(self, *lines: object) -> None:
        """Write lines to its standard input."""
        assert self.process.stdin is not None
        self.process.stdin.writelines(f"{line}\n" for line in lines)
        self.process.stdin.flush()

    def stop_feeding(self) -> None:
        """Let its standard input end."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def stop_reading(self) -> None:
        """Let its standard output lead nowhere after what it prints next."""
        self._is_reading = False

    def until(self, holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Wait for a line of standard output that holds something, and return it."""
        end, seen = time.monotonic() + PATIENCE, max(0, len(self.out) - 1)
        while True:
            for line in self.out[seen:]:
                seen += 1
                snapshot: dict[str, Any] = json.loads(line)
                if holds(snapshot):
                    return snapshot
            assert time.monotonic() < end, f"it has not come to hold: {self.out[-1:]} {self.err}"
            with self._news:
                if len(self.out) == seen:
                    assert self.process.poll() is None, f"it has ended: {self.err}"
                    self._news.wait(0.2)

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, float]:
        """Tell it to end; return its exit code and after how many seconds it ended."""
        begin = time.monotonic()
        self.send(number)
        return self.wait(), time.monotonic() - begin

    def wait(self) -> int:
        """Wait until it has ended, and return its exit code."""
        code = self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        return code

    def _read(self, pipe: IO[str], lines: list[str]) -> None:
        for line in pipe:
            with self._news:
                lines.append(line)
                self._news.notify_all()
            if not self._is_reading and lines is self.out:
                pipe.close()
                return


def free_address() -> str:
    """Return an address on this machine at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def until(holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it has not come to hold in time"
        time.sleep(0.01)
