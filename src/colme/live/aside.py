"""Work that may take long and cannot be interrupted, in threads that keep no program alive.

Lives here: a call in a thread of its own, as a future.  Must not know what is called.

A program waits at its end for the threads of an executor; it does not wait for these.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

__all__ = ["aside"]

T = TypeVar("T")


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

    threading.Thread(target=work, daemon=True, name="aside").start()
    return result
