"""A process that measures points: as the process that started it sees it, and what it does.

Lives here: starting it, asking it, how it died; tasks as lines of JSON in, answers as lines of JSON
out.  Must not know how many there are.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, Any

from colme.sweep.engines.task import explain_failure
from colme.sweep.point_rows import measure_point

_PROGRAM = "from colme.sweep.engines.worker import serve; serve()"
_TAIL = 2000
"""Bytes at the end of its output that are searched for why a process ended."""


class Died(Exception):  # noqa: N818 - an event, not an error of the caller
    """The process has ended without an answer; the message says how.

    Examples
    --------
    >>> str(Died("by signal 9 (SIGKILL)"))
    'by signal 9 (SIGKILL)'
    """


class Worker:
    """A process that is started when it is first asked, and again after it died.

    Examples
    --------
    >>> worker = Worker()
    >>> problem = {"class_means": [0.2], "n_agents": 2, "sigma": 0.1}
    >>> content = {"problem": problem, "horizon": 5, "runs": 1, "algorithms": ["local"]}
    >>> worker.ask({"content": content, "threads": 1})["rows"]["run"]
    [0]
    >>> worker.end()
    >>> worker.close()
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        self._lock, self._has_ended = threading.Lock(), False

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer, or raise Died if the process is gone before it gave one."""
        child = self._start()
        assert child.stdin is not None
        assert child.stdout is not None
        with suppress(BrokenPipeError):
            child.stdin.write(json.dumps(request).encode() + b"\n")
            child.stdin.flush()
        line = child.stdout.readline()
        if not line.endswith(b"\n"):
            raise Died(self._bury(child))
        answer: dict[str, Any] = json.loads(line)
        return answer

    def end(self) -> None:
        """Kill the process for good; a waiting `ask` raises Died."""
        with self._lock:
            self._has_ended = True
            if self._child is not None:
                self._child.kill()

    def close(self) -> None:
        """Wait for the process to end, and close its files."""
        if self._child is not None:
            self._bury(self._child)
        self._log.close()

    def _start(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._has_ended:
                raise Died("because it was ended")
            if self._child is None:
                # In a session of its own it does not receive our Ctrl-C; with -P it imports no
                # module from the current folder.
                self._child = subprocess.Popen(
                    [sys.executable, "-P", "-c", _PROGRAM],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._log,
                    start_new_session=True,
                )
            return self._child

    def _bury(self, child: subprocess.Popen[bytes]) -> str:
        """Return how the process ended, and forget it."""
        child.kill()  # it may only have closed its pipe
        code = child.wait()
        for pipe in (child.stdin, child.stdout):
            with suppress(BrokenPipeError):
                if pipe is not None:
                    pipe.close()
        self._child = None
        if code < 0:
            return f"by signal {-code} ({signal.Signals(-code).name})"
        said = self._last_words()
        return f"with code {code}{': ' if said else ''}{said}"

    def _last_words(self) -> str:
        self._log.seek(max(0, self._log.seek(0, 2) - _TAIL))
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else ""


def serve() -> None:
    """Answer every line of standard input; exit when standard input is closed.

    It runs until the process that started it closes the pipe, or ends.

    Examples
    --------
    >>> program = "from colme.sweep.engines.worker import serve; serve()"
    >>> subprocess.run([sys.executable, "-c", program], input=b"", check=True).returncode
    0
    """
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # anything else that is printed must not be read as an answer
    tasks: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, tasks), daemon=True).start()
    while True:
        replies.write(json.dumps(answer(json.loads(tasks.get()))) + "\n")
        replies.flush()


def answer(task: dict[str, Any]) -> dict[str, Any]:
    """Return the rows of a point, or why there are none.

    Examples
    --------
    >>> answer({"content": {"seed": -1}, "threads": 1})["failure"][:23]
    'problem: Field required'
    """
    try:
        return {"rows": measure_point(task["content"], task["threads"])}
    except Exception as error:  # whatever it is, the process that asked reports it
        return {"failure": explain_failure(error)}


def _listen(lines: Iterable[bytes], tasks: SimpleQueue[bytes]) -> None:
    """Pass on every line; exit, even in the middle of a point, when the input ends."""
    for line in lines:
        tasks.put(line)
    os._exit(0)
