"""The device's side of a socket: send samples, keep them until they are durable, begin again.

Lives here: a client of the line protocol that outlives any number of restarts of the node.  Must
not know who listens, nor how lines are numbered.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from typing import Any, TypeAlias

from colme import _check
from colme.live.sources.addresses import Address
from colme.live.sources.outbox import Outbox
from colme.live.sources.parsing import as_sample
from colme.live.sources.source import OnBad, log_refusal

__all__ = ["socket_feed"]

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

    Whenever the connection is lost it connects again, soon at first, then later and later, and
    goes on after the last sample that is durable.

    Parameters
    ----------
    address
        Where the node listens: `tcp:HOST:PORT` or `unix:PATH`.
    values
        A sequence is the device's whole log: its first value is line 1, and what is durable already
        is left out, so nothing is lost or counted twice even if this process crashes and begins
        again with the same log, which may have grown.  Anything else that gives values is read
        once; what is no sample is left out, each other value is kept until it is durable, and lost
        if this process crashes before.
    longest_delay
        Seconds between two attempts to connect, at most.
    timeout
        Seconds without any answer after which a connection counts as lost if an answer is owed.
    most_kept
        Values that are read before the first of them is durable, at most.
    on_bad
        Told the reason for each value that is refused.

    Returns
    -------
    int
        The number of the last line that is durable.

    Examples
    --------
    >>> from colme.live.sources import Listening
    >>> async def fed():
    ...     source = Listening("tcp:127.0.0.1:0")
    ...     feed = asyncio.create_task(socket_feed(await source.bind(), [0.5, 0.7]))
    ...     samples = source.samples("1")  # the first is durable from a former life
    ...     sample = await anext(samples)
    ...     await source.acknowledge(sample.position)
    ...     number = await feed
    ...     await samples.aclose()
    ...     return sample.value, number
    >>> asyncio.run(fed())
    (0.7, 2)
    """
    feed = _Feed(values, most_kept, on_bad)
    _check.positive("timeout", timeout)
    try:
        await feed.run(
            Address.of(address), timeout, _check.positive("longest_delay", longest_delay)
        )
    finally:
        feed.stop_reading()
    return feed.outbox.acknowledged


class _Feed:
    def __init__(self, values: Any, most_kept: int, on_bad: OnBad) -> None:
        self._is_log = hasattr(values, "__getitem__")
        self._values = values
        self._most_kept = most_kept
        self._on_bad = on_bad
        self._reading: asyncio.Task[None] | None = None
        self.outbox = Outbox(most_kept)

    async def run(self, address: Address, timeout: float, longest_delay: float) -> None:
        delay, is_finished = FIRST_DELAY, False
        while not is_finished:
            before = self.outbox.acknowledged
            with contextlib.suppress(OSError):
                is_finished = await self._attempt(address, timeout)
            if not is_finished:
                await asyncio.sleep(delay)
            has_progressed = self.outbox.acknowledged > before
            delay = FIRST_DELAY if has_progressed else min(2 * delay, longest_delay)
        if self._reading is not None:
            await self._reading  # raises whatever the values raised

    def stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()

    async def _attempt(self, address: Address, timeout: float) -> bool:
        async with asyncio.timeout(timeout):
            reader, writer = await address.connect()
        try:
            async with asyncio.timeout(timeout):
                self._begin((await self._answer(reader))[1])
            return await self._converse(reader, writer, timeout)
        finally:
            writer.transport.abort()  # to close, a node that no longer reads would have to read
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    def _begin(self, acknowledged: int) -> None:
        if self._is_log:
            n_logged = len(self._values)
            if acknowledged > n_logged:
                raise ValueError(
                    f"the node has {acknowledged} lines of this source, the log {n_logged}: give "
                    "the whole log, or an iterator if there is none"
                )
            self.stop_reading()
            self._reading, self.outbox = None, Outbox(self._most_kept)
        self.outbox.begin(acknowledged)
        if self._reading is None:
            self._reading = asyncio.create_task(_fill(self.outbox, self._from(acknowledged)))

    def _from(self, acknowledged: int) -> AsyncIterator[float]:
        if self._is_log:
            return _logged(self._values, acknowledged)
        # What no node takes would have to be kept until a sample follows, if it were sent.
        return _checked(_each(self._values), self._on_bad)

    async def _converse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, timeout: float
    ) -> bool:
        sending = asyncio.create_task(self._send(writer))
        hearing = asyncio.create_task(self._hear(reader, timeout))
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

    async def _hear(self, reader: asyncio.StreamReader, timeout: float) -> None:
        while True:
            patience = asyncio.timeout(timeout)
            try:
                async with patience:
                    kind, number, reason = await self._answer(reader)
            except TimeoutError:
                if self.outbox.is_waiting or not patience.expired():
                    raise
                continue
            if kind == "acknowledged":
                self.outbox.acknowledge(number)
            else:
                self._on_bad(f"line {number} was refused: {reason}")
                self.outbox.refuse(number)

    async def _answer(self, reader: asyncio.StreamReader) -> tuple[str, int, str]:
        try:
            line = await reader.readline()
            if not line.endswith(b"\n"):
                raise ConnectionResetError("the node has hung up")
            answer = json.loads(line)
            kind = "refused" if "refused" in answer else "acknowledged"
            return kind, _check.non_negative_int(kind, answer[kind]), str(answer.get("reason"))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            self._on_bad(f"whoever listens there does not answer as a node does: {error}")
            raise ConnectionError("no node") from None


async def _fill(outbox: Outbox, values: AsyncIterator[float]) -> None:
    try:
        async for value in values:
            await outbox.add(value)
    finally:
        outbox.end()


async def _logged(values: Sequence[float], start: int) -> AsyncIterator[float]:
    number = start
    while number < len(values):
        yield values[number]
        number += 1


async def _each(values: AsyncIterable[float] | Iterable[float]) -> AsyncIterator[float]:
    if isinstance(values, AsyncIterable):
        async for value in values:
            yield value
    else:
        for value in values:
            yield value


async def _checked(values: AsyncIterator[float], on_bad: OnBad) -> AsyncIterator[float]:
    async for value in values:
        try:
            number = as_sample(value)
        except ValueError as error:
            on_bad(f"left out: {error}")
        else:
            yield number
