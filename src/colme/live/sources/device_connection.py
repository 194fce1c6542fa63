"""One device's connection to a listening socket: lines in, answers out.

Lives here: reading and answering one connection within bounded memory.  Must not know which
samples are durable, nor other connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import json

from colme.live.sources.sample_text import CHUNK, LineSplitter

MOST_UNREAD = 65536
"""Bytes of answers kept for a device that does not read them: where asyncio says to wait."""

PATIENCE = 1.0
"""Seconds to wait for a device to read; if it does not, further refusals are left out."""


class DeviceConnection:
    r"""One device's connection.

    Attributes
    ----------
    acknowledged
        Up to which line the device knows that all are durable; None: it does not know yet.
    ended
        Whether the device has sent all it will send.

    Examples
    --------
    >>> async def answer():
    ...     async def served(reader, writer):
    ...         connection = DeviceConnection(reader, writer)
    ...         connection.acknowledge(3)
    ...         connection.close()
    ...     server = await asyncio.start_server(served, "127.0.0.1", 0)
    ...     reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    ...     line = await reader.readline()
    ...     writer.close()
    ...     server.close()
    ...     return line
    >>> asyncio.run(answer())
    b'{"acknowledged": 3}\n'
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.acknowledged: int | None = None
        self.ended = False
        self._is_stuck = False
        self._reader = reader
        self._writer = writer
        self._splitter = LineSplitter()

    async def read(self) -> list[bytes]:
        """Wait for complete lines; return none once the device has ended or is gone."""
        with contextlib.suppress(OSError):
            while data := await self._reader.read(CHUNK):
                lines = [line for line, _ in self._splitter.split(data)]
                if lines:
                    return lines
        self.ended = True
        return []

    def rest(self) -> bytes:
        """Return the last line if it is incomplete, and forget it."""
        return self._splitter.rest()

    def acknowledge(self, number: int) -> None:
        """Tell the device up to which line all are durable; then `flush`."""
        self.acknowledged = number
        self._send({"acknowledged": number})

    async def refuse(self, number: int, reason: str) -> None:
        """Tell the device that a line is not a sample, unless it does not read its answers."""
        if self._is_behind and not self._is_stuck:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.flush(), PATIENCE)
        self._is_stuck = self._is_behind
        if not self._is_stuck:
            self._send({"refused": number, "reason": reason})

    async def flush(self) -> None:
        """Wait until there is room for more answers, or the device is gone."""
        with contextlib.suppress(OSError):
            await self._writer.drain()

    def close(self) -> None:
        """Send what is left to send, then close."""
        self._writer.close()

    def abort(self) -> None:
        """Close at once."""
        self.ended = True
        self._writer.transport.abort()

    @property
    def _is_behind(self) -> bool:
        return self._writer.transport.get_write_buffer_size() > MOST_UNREAD

    def _send(self, record: dict[str, object]) -> None:
        if not self._writer.transport.is_closing():
            self._writer.write(json.dumps(record).encode() + b"\n")
