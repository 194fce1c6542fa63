"""Work that may take long and cannot be interrupted, in threads that keep no program alive.

Lives here: a call in a thread of its own, as a future, and how a program ends that has made some.
Must not know what is called.

A program waits at its end for the threads of an executor; it does not wait for these.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

__all__ = ["aside", "leave"]

T = TypeVar("T")

_NAME = "aside"


def aside(act: Callable[[], T], undo: Callable[[T], object] | None = None) -> asyncio.Future[T]:
    """Call `act` in a thread of its own; return the future of its result.

    Parameters
    ----------
    act
        What to do.
    undo
        Called with the result, in a thread too, if nobody waits for it any more when it is there.

    Examples
    --------
    >>> async def main() -> int:
    ...     return await aside(lambda: 6 * 7)
    >>> asyncio.run(main())
    42
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def succeed(done: T) -> None:
        if not result.done():
            result.set_result(done)
        elif undo is not None:
            threading.Thread(target=undo, args=(done,), daemon=True).start()

    def fail(error: Exception) -> None:
        if not result.done():
            result.set_exception(error)

    def later(*call: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody is interested any more
            loop.call_soon_threadsafe(*call)

    def work() -> None:
        try:
            done = act()
        except Exception as error:
            later(fail, error)
        else:
            later(succeed, done)

    threading.Thread(target=work, daemon=True, name=_NAME).start()
    return result


def leave(code: int) -> None:
    """End the program with a code, at once if work is still under way; else do nothing.

    A thread that came back from foreign code while the interpreter ends would abort the program,
    long after everything is safe.

    Examples
    --------
    >>> import subprocess, sys
    >>> program = "from colme.live.aside import leave; leave(3); print('nothing is under way')"
    >>> subprocess.run([sys.executable, "-c", program], capture_output=True).stdout.strip()
    b'nothing is under way'
    """
    if any(thread.name == _NAME for thread in threading.enumerate()):
        logging.shutdown()
        with suppress(OSError, ValueError):  # nobody reads any more
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
