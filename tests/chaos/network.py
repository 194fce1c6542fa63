"""A way between nodes and a router that can be cut, held up and made to spoil what it carries."""

import asyncio
import random
from dataclasses import dataclass
from typing import Self

from colme.live.wire import VERSION

HANDSHAKE = 3
"""Messages each way that open a link; without them there is none to be disturbed."""
MAGIC = b"CM" + bytes([VERSION])
"""What a message between agents begins with."""
SHORTEST = 28
"""Bytes of the shortest message between agents."""


@dataclass(frozen=True)
class Faults:
    """What happens to how many of the messages; at most how many seconds each is delayed."""

    drop: float = 0.0
    repeat: float = 0.0
    swap: float = 0.0
    spoil: float = 0.0
    delay: float = 0.0


class Relay:
    """Carries what one node and its router say to each other, as whole messages of the transport.

    A message that is spoilt is one that agents send each other, with one bit of it flipped: what
    surrounds it is whole, so that nobody but the receiving agent can notice.
    """

    def __init__(self, port: int, seed: int = 0) -> None:
        self.faults = Faults()
        self.counts = dict.fromkeys(("carried", "dropped", "repeated", "swapped", "spoilt"), 0)
        self.address = ""
        self._port, self._rng = port, random.Random(seed)
        self._open = asyncio.Event()
        self._open.set()
        self._refuses = False
        self._server: asyncio.Server | None = None
        self._links: dict[asyncio.Task[None], list[asyncio.StreamWriter]] = {}

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    def hold(self) -> None:
        """Carry nothing and say nothing, as a cable that was pulled out."""
        self._open.clear()

    def refuse(self) -> None:
        """Hang up, and hang up on whoever connects."""
        self._refuses = True
        self.hang_up()

    def heal(self) -> None:
        """Carry everything again, and spoil nothing."""
        self._refuses, self.faults = False, Faults()
        self._open.set()

    def hang_up(self) -> None:
        """Close every link."""
        for writers in self._links.values():
            for writer in writers:
                writer.transport.abort()

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        links = list(self._links)
        for link in links:
            link.cancel()
        await asyncio.gather(*links, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._carry(reader, writer))
        self._links[task] = [writer]
        task.add_done_callback(self._links.pop)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers = [writer]
        try:
            if not self._refuses:
                await self._open.wait()
                there, back = await asyncio.open_connection("127.0.0.1", self._port)
                writers.append(back)
                self._links[asyncio.current_task()] = writers  # type: ignore[index]
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._pump(reader, back))
                    both.create_task(self._pump(there, writer))
        except (OSError, EOFError, ExceptionGroup):
            pass
        finally:
            for one in writers:
                one.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        kept = b""
        n = 0
        while True:
            head = await reader.readexactly(2)
            message = head + await reader.readexactly(int.from_bytes(head, "little"))
            n += 1
            await self._open.wait()
            if n > HANDSHAKE:
                await self._late()
                message, kept = self._mistreated(message, kept)
            writer.write(message)
            await writer.drain()

    async def _late(self) -> None:
        if self.faults.delay:
            await asyncio.sleep(self._rng.uniform(0.0, self.faults.delay))

    def _mistreated(self, message: bytes, kept: bytes) -> tuple[bytes, bytes]:
        """Return what is carried on now, and what is carried on after the next message."""
        faults, counts = self.faults, self.counts
        if self._happens(faults.drop, "dropped"):
            message = b""
        elif self._happens(faults.repeat, "repeated"):
            message = message * 2
        elif MAGIC in message and self._happens(faults.spoil, "spoilt"):
            message = self._spoilt(message)
        elif not kept and self._happens(faults.swap, "swapped"):
            return b"", message
        counts["carried"] += 1
        return message + kept, b""

    def _happens(self, share: float, what: str) -> bool:
        happens = self._rng.random() < share
        self.counts[what] += happens
        return happens

    def _spoilt(self, message: bytes) -> bytes:
        place = message.index(MAGIC) + self._rng.randrange(SHORTEST)
        flipped = message[place] ^ 1 << self._rng.randrange(8)
        return message[:place] + bytes([flipped]) + message[place + 1 :]
