"""Waiting until something holds that other tasks change.

Lives here: one way to wait and to wake up.  Must not know what is waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Changes:
    """Wakes up the tasks that wait for a condition whenever it may have come to hold.

    `asyncio.Condition` can be notified only by a coroutine; this one by any function.

    Examples
    --------
    >>> async def main():
    ...     changes, values = Changes(), []
    ...     waiting = asyncio.create_task(changes.until(lambda: len(values) == 2))
    ...     for value in (0.5, 0.7):
    ...         values.append(value)
    ...         changes.notify()
    ...     await waiting
    >>> asyncio.run(main())
    """

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def notify(self) -> None:
        """Let all who wait look again."""
        self._next.set()
        self._next = asyncio.Event()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until `holds` returns True."""
        while not holds():
            await self._next.wait()
