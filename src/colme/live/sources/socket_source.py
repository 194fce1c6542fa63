"""Samples from a socket: a device connects, sends one per line, and learns what is durable.

Lives here: the node's side of the line protocol.  Must not know how one connection is read, nor
nodes.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

from colme.live.sources.changes import Changes
from colme.live.sources.device_connection import DeviceConnection
from colme.live.sources.sample_source import OnBad, Sample, count_of, log_refusal
from colme.live.sources.sample_text import SHOWN, parse
from colme.live.sources.source_addresses import SocketAddress


class SocketSource:
    """The lines that a device sends to a TCP or Unix socket.

    The protocol, with a JSON object per line from the node and a sample per line from the device:

    1. On connection the node sends `{"acknowledged": N}`: the device's lines 1 to N are durable.
    2. The device sends its lines N + 1, N + 2, ...  Every line counts, refused and blank ones too,
       so the numbers are those of the lines in the device's own log.
    3. Whenever more are durable the node sends `{"acknowledged": M}`.  The device keeps all lines
       after M.
    4. A line that is not a sample is answered by `{"refused": number, "reason": "..."}`: it will
       never be a sample.  Its number is acknowledged with the next sample; until then the device
       may send a blank line in its place.

    What it guarantees: to a device that on every connection sends all lines after the number it
    receives, nothing is lost and nothing counted twice, through any number of crashes of either
    side.  A device that remembers nothing loses what was not acknowledged when it or the node
    crashed.  The greeting may take a moment: it comes when all samples of the connection before
    are durable.

    One device at a time: a new connection replaces the one before, so that a connection of which
    only the node's end is left keeps no device out.  Lines of the one before that were not yet
    delivered are dropped; they are not acknowledged.  A line without an end does not count.

    Parameters
    ----------
    address
        `tcp:127.0.0.1:9000`, `tcp:[::1]:9000` or `unix:/path/to/socket`.
    allow_remote
        Also listen where other machines can connect; anyone there can then send samples.
    on_bad
        Called with the reason for each line refused.

    Examples
    --------
    >>> from colme.live.sources import socket_feed
    >>> async def values():
    ...     source = SocketSource("tcp:127.0.0.1:0")
    ...     feed = asyncio.create_task(socket_feed(await source.bind(), [0.5, 0.7]))
    ...     found = []
    ...     async for sample in source.samples(None):
    ...         found.append(sample.value)
    ...         await source.acknowledge(sample.position)
    ...         if len(found) == 2:
    ...             break
    ...     await feed
    ...     await source.close()
    ...     return found
    >>> asyncio.run(values())
    [0.5, 0.7]
    """

    def __init__(
        self, address: str, *, allow_remote: bool = False, on_bad: OnBad = log_refusal
    ) -> None:
        self._address = SocketAddress.of(address)
        if not (allow_remote or self._address.is_local):
            raise ValueError(
                f"{address!r} can be reached from other machines, where anyone could send samples; "
                "listen at 127.0.0.1, [::1] or a Unix socket, or allow it with allow_remote=True"
            )
        self._on_bad = on_bad
        self._server: asyncio.Server | None = None
        self._connection: DeviceConnection | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._changes = Changes()
        self._acknowledged = self._delivered = 0
        self._started = self._closed = False

    async def bind(self) -> str:
        """Begin to listen, if not yet, and return the address, with the port if it was chosen."""
        if self._server is None:
            try:
                self._server = await self._listen()
            except OSError as error:
                raise OSError(
                    error.errno or errno.EADDRINUSE,
                    f"cannot listen at {self._address}: {error.strerror or error}: choose another "
                    "address, or end the process that uses this one",
                ) from None
        return str(self._address)

    async def samples(self, resume: str | None) -> AsyncIterator[Sample]:
        """Deliver the lines after number `resume`, from one device after the other."""
        self._acknowledged = self._delivered = count_of(resume)
        await self.bind()
        self._started = True
        self._changes.notify()
        try:
            while (connection := await self._next_connection()) is not None:
                number = self._delivered
                while (lines := await connection.read()) and self._is_served(connection):
                    for line in lines:
                        if not self._is_served(connection):
                            break  # replaced by another device while a sample was delivered
                        number += 1
                        sample = await self._sample(connection, line, number)
                        if sample is not None:
                            self._delivered = number
                            yield sample
                rest = connection.rest()
                if rest and self._is_served(connection):
                    self._report(number + 1, f" has no end: received {rest[:SHOWN]!r}")
                self._changes.notify()
        finally:
            await self.close()

    async def acknowledge(self, position: str) -> None:
        """Tell the device that everything up to `position` is durable."""
        self._acknowledged = max(self._acknowledged, count_of(position))
        self._changes.notify()

    async def close(self) -> None:
        """Stop listening and disconnect; the iteration over the samples ends."""
        self._closed = True
        if self._connection is not None:
            self._connection.abort()
        self._changes.notify()
        server, self._server = self._server, None
        if server is not None:
            server.close()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await server.wait_closed()
            if self._address.path:
                Path(self._address.path).unlink(missing_ok=True)

    async def _listen(self) -> asyncio.Server:
        if self._address.path:
            await _clear(self._address)
            return await asyncio.start_unix_server(self._accept, self._address.path)
        server = await asyncio.start_server(self._accept, self._address.host, self._address.port)
        self._address = replace(self._address, port=server.sockets[0].getsockname()[1])
        return server

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = DeviceConnection(reader, writer)
        previous, self._connection = self._connection, connection
        if previous is not None:
            previous.abort()
        self._changes.notify()
        task = asyncio.create_task(self._serve(connection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, connection: DeviceConnection) -> None:
        async def until(holds: Callable[[], bool]) -> None:
            await self._changes.until(lambda: not self._is_served(connection) or holds())

        # What the device before sent and is not yet durable must not come twice, nor may its
        # numbers be given to other lines: so the greeting waits for it.
        await until(lambda: self._started and self._is_settled)
        while self._is_served(connection) and connection.acknowledged != self._acknowledged:
            connection.acknowledge(self._acknowledged)
            self._changes.notify()  # after the first time the device is read
            await connection.flush()
            await until(
                lambda: (
                    connection.acknowledged != self._acknowledged
                    or (connection.ended and self._is_settled)
                )
            )
        connection.close()

    @property
    def _is_settled(self) -> bool:
        return self._acknowledged >= self._delivered

    def _is_served(self, connection: DeviceConnection) -> bool:
        return connection is self._connection and not self._closed

    async def _next_connection(self) -> DeviceConnection | None:
        """Return the connection of a device that knows where to begin; None: closed."""

        def is_ready() -> bool:
            one = self._connection
            return one is not None and one.acknowledged is not None and not one.ended

        await self._changes.until(lambda: self._closed or is_ready())
        return None if self._closed else self._connection

    async def _sample(
        self, connection: DeviceConnection, line: bytes, number: int
    ) -> Sample | None:
        try:
            return Sample(parse(line), str(number)) if line.strip() else None
        except ValueError as error:
            self._report(number, f": {error}")
            await connection.refuse(number, str(error))
            return None

    def _report(self, number: int, fault: str) -> None:
        self._on_bad(f"line {number} at {self._address}{fault}")


async def _clear(address: SocketAddress) -> None:
    path = Path(address.path)
    if not path.exists():
        return
    if not path.is_socket():
        raise FileExistsError(errno.EEXIST, "a file of that name is not a socket")
    with contextlib.suppress(ConnectionRefusedError):  # left behind by a process that died
        _, writer = await address.connect()
        writer.close()
        await writer.wait_closed()
        raise OSError(errno.EADDRINUSE, "another process listens there")
