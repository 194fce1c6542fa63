"""Calls that may take long and cannot be interrupted, in threads that keep no program alive.

Holds a call in a thread of its own, as a future, and how a program with such calls ends.  Must not
know what is called.

At its end a program waits for the threads of an executor; it does not wait for these.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")

_THREAD_NAME = "colme background"


def in_background(
    act: Callable[[], T], undo: Callable[[T], object] | None = None
) -> asyncio.Future[T]:
    """Call `act` in a thread of its own; return the future of its result.

    Parameters
    ----------
    act
        What to do.
    undo
        Called with the result, also in a thread, if nobody waits for the result any more.

    Examples
    --------
    >>> async def main() -> int:
    ...     return await in_background(lambda: 6 * 7)
    >>> asyncio.run(main())
    42
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(error: Exception | None, *result: T) -> None:
        if not future.done():
            future.set_result(*result) if error is None else future.set_exception(error)
        elif error is None and undo is not None:
            threading.Thread(target=undo, args=result, daemon=True).start()

    def work() -> None:
        outcome: tuple[Exception] | tuple[None, T]
        try:
            outcome = None, act()
        except Exception as error:
            outcome = (error,)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=work, daemon=True, name=_THREAD_NAME).start()
    return future


def exit_if_busy(code: int) -> None:
    """End the program at once with a code if background calls still run; else do nothing.

    A thread that returned from foreign code while the interpreter ends would abort the program,
    long after everything is safe.

    Examples
    --------
    >>> import subprocess, sys
    >>> program = "from colme.live.background import exit_if_busy; exit_if_busy(3); print('idle')"
    >>> subprocess.run([sys.executable, "-c", program], capture_output=True).stdout.strip()
    b'idle'
    """
    if any(thread.name == _THREAD_NAME for thread in threading.enumerate()):
        logging.shutdown()
        with suppress(OSError, ValueError):  # nobody reads any more
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
