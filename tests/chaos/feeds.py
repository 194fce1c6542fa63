"""Devices that send samples to nodes at a given pace, and keep them until they are durable."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

from colme.live.sources import socket_feed


class Feed:
    """One device: it sends as many of its values as it is allowed to, spread over time."""

    def __init__(self, address: str, values: Sequence[float]) -> None:
        self.values = values
        self.allowed = 0
        self._address, self._pause = address, 0.0
        self._ends = False
        self._change = asyncio.Event()
        self._task = asyncio.create_task(
            socket_feed(address, self._paced(), longest_delay=0.3, timeout=60.0)
        )

    def allow(self, n: int, seconds: float) -> None:
        """Let it send up to its n-th value, the new ones spread over so many seconds."""
        self._pause = seconds / max(n - self.allowed, 1)
        self.allowed = n
        self._change.set()

    async def end(self) -> int:
        """Wait until all it has sent is durable; return how many that are."""
        self._ends = True
        self._change.set()
        return await self._task

    async def drop(self) -> None:
        """Stop at once."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _paced(self) -> AsyncIterator[float]:
        n = 0
        while True:
            while n < self.allowed:
                yield self.values[n]
                n += 1
                await asyncio.sleep(self._pause)
            if self._ends:
                return
            self._change.clear()
            await self._change.wait()
