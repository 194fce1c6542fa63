"""Signals that end a process.

Holds how a signal stops what runs in an event loop.  Must not know what that is.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress


def stop_on_signals(stop: Callable[[], None]) -> None:
    """Call `stop` in the running loop on SIGINT and on SIGTERM.

    Examples
    --------
    >>> async def main() -> bool:
    ...     stopped = asyncio.Event()
    ...     stop_on_signals(stopped.set)
    ...     signal.raise_signal(signal.SIGTERM)
    ...     return await asyncio.wait_for(stopped.wait(), 5.0)
    >>> before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    >>> asyncio.run(main())
    True
    >>> _ = signal.signal(signal.SIGTERM, before[0]), signal.signal(signal.SIGINT, before[1])
    """
    loop = asyncio.get_running_loop()

    def received(*_: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: everything has ended
            loop.call_soon_threadsafe(stop)

    for number in (signal.SIGINT, signal.SIGTERM):
        # Not the loop's own handlers: they miss a signal while very many callbacks are waiting.
        signal.signal(number, received)
