"""Both ends of a socket: a node that reads a source, and a device that sends to it."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from colme.live.sources import SocketSource
from colme.live.sources.source_addresses import SocketAddress

LOCAL = "tcp:127.0.0.1:0"


class Node:
    """Reads a source, keeps values and position together, acknowledges in batches."""

    def __init__(self, address: str, values: list[float] | None = None, resume: str | None = None):
        self.values = [] if values is None else values
        self.notes: list[str] = []
        self.position = resume
        self.source = SocketSource(address, on_bad=self.notes.append)
        self.is_stalled = False

    async def __aenter__(self) -> "Node":
        self.address = await self.source.bind()
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._settle())]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.source.close()

    async def _read(self) -> None:
        async for sample in self.source.samples(self.position):
            self.values.append(sample.value)
            self.position = sample.position

    async def _settle(self) -> None:
        while True:
            await asyncio.sleep(0.002)
            if self.position is not None and not self.is_stalled:
                await self.source.acknowledge(self.position)


class Device:
    """A device that does only what it is told to."""

    def __init__(self, address: str) -> None:
        self._address = SocketAddress.of(address)

    async def __aenter__(self) -> "Device":
        self._reader, self.writer = await self._address.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()
        with suppress(OSError):
            await self.writer.wait_closed()

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def hear(self) -> dict[str, Any] | None:
        """Return the node's next answer, None once it has hung up."""
        with suppress(OSError):
            line = await asyncio.wait_for(self._reader.readline(), 5)
            if line:
                return dict(json.loads(line))
        return None

    async def hear_until(self, answer: dict[str, Any]) -> None:
        while (heard := await self.hear()) != answer:
            assert heard is not None


async def eventually(predicate: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not predicate():
            await asyncio.sleep(0.001)
