"""A process that measures points for another process, until that one ends.

Lives here: tasks as lines of JSON in, answers as lines of JSON out.  Must not know who asks.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterable
from queue import SimpleQueue
from typing import Any

from colme.sweep.engines.task import explain_failure
from colme.sweep.measures import measure_point


def serve() -> None:
    """Answer every line of standard input; exit when standard input is closed.

    It runs until the process that started it closes the pipe, or ends.

    Examples
    --------
    >>> import subprocess
    >>> program = "from colme.sweep.engines.child import serve; serve()"
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
