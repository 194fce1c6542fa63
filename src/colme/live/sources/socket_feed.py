"""The device's side of a socket: send samples, keep them until they are durable, reconnect.

Lives here: a client of the line protocol that outlives any number of restarts of the node.  Must
not know who listens, nor how lines are numbered.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from colme import _check
from colme.live.sources.outbox import Outbox
from colme.live.sources.sample_source import OnBad, log_refusal
from colme.live.sources.sample_text import as_sample
from colme.live.sources.source_addresses import SocketAddress

FIRST_DELAY = 0.05
"""Seconds before the second attempt to connect; doubled with each further one."""

Values: TypeAlias = Sequence[float] | AsyncIterable[float] | Iterable[float]


async def socket_feed(
    address: str,
    values: Values,
    *,
    longest_delay: float = 2.0,
    timeout: float = 60.0,
    most_kept: int = 1000,
    on_bad: OnBad = log_refusal,
) -> int:
    """Send samples to a node that listens, until each is durable or refused.

    Whenever the connection is lost it connects again, after growing delays, and continues after
    the last sample that is durable.

    Parameters
    ----------
    address
        Where the node listens: `tcp:HOST:PORT` or `unix:PATH`.
    values
        A sequence is the device's whole log: its first value is line 1, and what is durable already
        is left out, so nothing is lost or counted twice even if this process crashes and begins
        again with the same log, which may have grown.  Any other iterable is read once: what is
        not a sample is left out; each other value is kept until it is durable, and lost if this
        process crashes before.
    longest_delay
        Maximum seconds between two attempts to connect.
    timeout
        Seconds without any answer after which a connection counts as lost if an answer is owed.
    most_kept
        Maximum number of values read before the first of them is durable.
    on_bad
        Called with the reason for each value that is refused.

    Returns
    -------
    int
        The number of the last line that is durable.

    Examples
    --------
    >>> from colme.live.sources import make_source
    >>> async def deliver(log, source):
    ...     address, samples = await source.bind(), source.samples("1")  # one is already durable
    ...     feed = asyncio.create_task(socket_feed(address, log))
    ...     sample = await anext(samples)
    ...     await source.acknowledge(sample.position)
    ...     number = await feed
    ...     await samples.aclose()
    ...     return sample.value, number
    >>> asyncio.run(deliver([0.5, 0.7], make_source("tcp:127.0.0.1:0")))
    (0.7, 2)
    """
    _check.positive("timeout", timeout)
    _check.positive("longest_delay", longest_delay)
    feed = _Feed(SocketAddress.of(address), values, timeout, most_kept, on_bad)
    try:
        await feed.run(longest_delay)
    finally:
        feed.stop_reading()
    return feed.outbox.acknowledged


class _Answer(NamedTuple):
    number: int
    refusal: str | None
    """Why the line of that number is not a sample; None: all lines up to it are durable."""


@dataclass
class _Feed:
    address: SocketAddress
    values: Any
    timeout: float
    most_kept: int
    on_bad: OnBad
    reading: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self._is_log = hasattr(self.values, "__getitem__")
        self.outbox = Outbox(self.most_kept)

    async def run(self, longest_delay: float) -> None:
        delay, is_finished = FIRST_DELAY, False
        while not is_finished:
            before = self.outbox.acknowledged
            with contextlib.suppress(OSError):
                is_finished = await self._attempt()
            if not is_finished:
                await asyncio.sleep(delay)
            has_progressed = self.outbox.acknowledged > before
            delay = FIRST_DELAY if has_progressed else min(2 * delay, longest_delay)
        if self.reading is not None:
            await self.reading  # raises whatever the values raised

    def stop_reading(self) -> None:
        if self.reading is not None:
            self.reading.cancel()

    async def _attempt(self) -> bool:
        async with asyncio.timeout(self.timeout):
            reader, writer = await self.address.connect()
        try:
            async with asyncio.timeout(self.timeout):
                self._begin((await self._answer(reader)).number)
            return await self._converse(reader, writer)
        finally:
            writer.transport.abort()  # to close, a node that no longer reads would have to read
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    def _begin(self, acknowledged: int) -> None:
        if self._is_log:
            n_logged = len(self.values)
            if acknowledged > n_logged:
                raise ValueError(
                    f"the node has {acknowledged} lines of this source, the log {n_logged}: give "
                    "the whole log, or an iterator if there is none"
                )
            self.stop_reading()
            self.reading, self.outbox = None, Outbox(self.most_kept)
        self.outbox.begin(acknowledged)
        if self.reading is None:
            self.reading = asyncio.create_task(self._read(acknowledged))

    async def _read(self, start: int) -> None:
        outbox = self.outbox
        try:
            async for value in self._values_after(start):
                try:
                    if not self._is_log:  # what is no sample would be kept until one follows
                        as_sample(value)
                except ValueError as error:
                    self.on_bad(f"left out: {error}")
                else:
                    await outbox.add(value)
        finally:
            outbox.end()

    async def _values_after(self, start: int) -> AsyncIterator[float]:
        values = self.values
        if isinstance(values, AsyncIterable):
            async for value in values:
                yield value
            return
        if self._is_log:  # which may grow meanwhile
            numbers = itertools.takewhile(lambda n: n < len(self.values), itertools.count(start))
            values = (self.values[number] for number in numbers)
        for value in values:
            yield value

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        sending = asyncio.create_task(self._send(writer))
        hearing = asyncio.create_task(self._hear(reader))
        finished = asyncio.create_task(self.outbox.finished())
        try:
            await asyncio.wait({hearing, finished}, return_when=asyncio.FIRST_COMPLETED)
            return finished.done()
        finally:
            for task in (sending, hearing, finished):
                task.cancel()
            await asyncio.gather(sending, hearing, finished, return_exceptions=True)

    async def _send(self, writer: asyncio.StreamWriter) -> None:
        while (line := await self.outbox.next_line()) is not None:
            writer.write(line)
            await writer.drain()

    async def _hear(self, reader: asyncio.StreamReader) -> None:
        while True:
            patience = asyncio.timeout(self.timeout)
            try:
                async with patience:
                    answer = await self._answer(reader)
            except TimeoutError:
                if self.outbox.is_waiting or not patience.expired():
                    raise
                continue
            if answer.refusal is None:
                self.outbox.acknowledge(answer.number)
            else:
                self.on_bad(f"line {answer.number} was refused: {answer.refusal}")
                self.outbox.refuse(answer.number)

    async def _answer(self, reader: asyncio.StreamReader) -> _Answer:
        try:
            line = await reader.readline()
            if not line.endswith(b"\n"):
                raise ConnectionResetError("the node has closed the connection")
            record = json.loads(line)
            kind = "refused" if "refused" in record else "acknowledged"
            reason = str(record.get("reason")) if kind == "refused" else None
            return _Answer(_check.non_negative_int(kind, record[kind]), reason)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            self.on_bad(f"the process at {self.address} does not answer as a node does: {error}")
            raise ConnectionError("not a node") from None
