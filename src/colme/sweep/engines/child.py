"""A process that measures points for another one, until that one is gone.

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
from colme.sweep.measuring import measure_point

__all__ = ["answer", "serve"]


def serve() -> None:
    """Answer every line of standard input; end at once when nobody is left to ask.

    Examples
    --------
    >>> serve.__name__
    'serve'
    """
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed must not be taken for an answer
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
    except Exception as error:  # whatever it is, it is told where somebody reads it
        return {"failure": explain_failure(error)}


def _listen(lines: Iterable[bytes], tasks: SimpleQueue[bytes]) -> None:
    """Hand over every line.  Whoever asked may be gone while a point is measured: so are we."""
    for line in lines:
        tasks.put(line)
    os._exit(0)
