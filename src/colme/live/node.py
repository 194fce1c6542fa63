"""A node: one agent in real time, with its source, its store and its network.

Holds the order and the timing of what happens, and how it ends.  Must not know what bytes mean, nor
what any decision depends on.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import random
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from colme.live.network import IncomingQuery, Link
from colme.live.node_core import NodeCore
from colme.live.node_report import node_report
from colme.live.schedule import Schedule, running_clock
from colme.live.sources import Sample, SampleSource
from colme.live.store import Store, StoreUnwritable
from colme.live.wire import Refused, WireQuery

log = logging.getLogger("colme.live")

_BUFFER = 10_000
"""Maximum samples buffered per tick; beyond, the source waits."""
_JOURNAL = 500
"""Maximum events between two checkpoints, so that a restart is quick."""
_FULL_DISK_RETRY = 0.5
"""Seconds from one attempt to write to a full disk to the next."""
_DELAYS = 1000
"""Delays of replies that are kept for quantiles."""
_STEP_TIMEOUT = 5.0
"""Seconds that an agent in step waits for a reply before it asks again."""
_STEP_RETRY = 0.05
"""Seconds before an agent in step asks again."""
_HELD = 1000
"""Maximum queries held for samples that are still to come; the oldest are dropped."""


@dataclass(eq=False)
class Node:
    """One agent that takes samples from its source, asks peers and is asked.

    Parameters
    ----------
    core
        The agent and its rules, as its saved state has left them.
    store, source, link
        Where events go, where samples come from, and the way to peers.
    schedule
        When it acts.
    emit
        Called with every snapshot, as plain values; peers can follow them anyway.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from colme import Agent
    >>> from colme.live.connection_config import ConnectionConfig
    >>> from colme.live.membership import Membership
    >>> from colme.live.sources import IteratorSource
    >>> async def numbers(n: int):
    ...     for sample in [0.3, 0.5][n:]:
    ...         yield sample
    >>> async def main(folder: str) -> dict[str, Any]:
    ...     store, link = Store(Path(folder), "home"), Link(ConnectionConfig("peer"), "home")
    ...     agent = Agent("a", sigma=0.5, delta=0.01)
    ...     core = NodeCore(agent, "home", store.register("a").life, Membership(0.01))
    ...     schedule = Schedule(interval=0.01, stop_at_end=True)
    ...     node = Node(core, store, IteratorSource(numbers), link, schedule)
    ...     await node.run()
    ...     await store.close()
    ...     return node.last_report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(main(folder))["samples"]
    2
    """

    core: NodeCore
    store: Store
    source: SampleSource
    link: Link
    schedule: Schedule
    emit: Callable[[dict[str, Any]], None] | None = None

    def __post_init__(self) -> None:
        self.name = self.core.agent.name
        self.last_report: dict[str, Any] = {}
        self._buffer: asyncio.Queue[Sample | None] = asyncio.Queue(_BUFFER)
        self._stop = asyncio.Event()
        self._asking: asyncio.Future[bool] | None = None
        self._news: dict[str, bool] = {}
        self._held: deque[tuple[WireQuery, IncomingQuery]] = deque()
        self._delays: deque[float] = deque(maxlen=_DELAYS)
        self._acknowledged: str | None = None
        # Nodes of one process should not all take checkpoints at the same moment.
        self._longest_journal = random.randint(_JOURNAL // 2, _JOURNAL)
        self._next_report = -math.inf
        self._has_ended = False
        self.core.on_refused = self._log_refusal
        self.link.serve(self.name, self._answer)

    def note(self, peer: str, is_present: bool) -> None:
        """Note that a peer has come or gone."""
        self._news[peer] = is_present

    def stop(self) -> None:
        """Let `run` end soon; what is not stored yet is not acknowledged."""
        self._stop.set()
        with suppress(asyncio.QueueFull):
            self._buffer.put_nowait(None)  # nobody need wait for a sample any more
        if self._asking is not None and not self._asking.done():
            self._asking.set_result(False)

    async def run(self) -> None:
        """Run until stopped, or until the source ends if the schedule says so."""
        self.link.announce(self.name)
        reading = asyncio.create_task(self._read())
        try:
            await (self._run_in_step() if self.schedule.in_step else self._run_freely())
        finally:
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await reading
            await self.source.close()
            for _, query in self._held:
                query.drop()
        await self._commit()
        if not self.core.unsaved:
            await self._store_checkpoint()
            self._report()

    # Ticks

    async def _run_freely(self) -> None:
        interval, counts = self.schedule.interval, self.core.counts
        # Nodes of one process that tick at the same moment would wait for each other.
        due = running_clock() + interval * random.random()
        await self._pause(due - running_clock())
        while not self._stop.is_set() and not (self._has_ended and self.schedule.stop_at_end):
            await self._tick()
            counts["ticks"] += 1
            due += interval
            skipped = max(0, int((running_clock() - due) / interval))
            counts["skipped"] += skipped
            due += skipped * interval
            await self._pause(due - running_clock())

    async def _tick(self) -> None:
        latest, self._news = self._news, {}
        self.core.appear(*(peer for peer, is_present in latest.items() if is_present))
        for peer in (peer for peer, is_present in latest.items() if not is_present):
            self.core.membership.vanish(peer)
        arrived = [self._buffer.get_nowait() for _ in range(self._buffer.qsize())]
        samples = [sample for sample in arrived if sample is not None]
        self._has_ended = self._has_ended or len(samples) < len(arrived)
        if samples:
            self.core.fold([sample.value for sample in samples], samples[-1].position)
        await self._commit()
        self.core.add_peer()
        chosen = self.core.next_query(running_clock())
        if chosen is not None:
            await self._ask(*chosen, self.schedule.timeout)
        if running_clock() >= self._next_report:  # else replies are stored with the next samples
            await self._commit()
            self._report()

    async def _run_in_step(self) -> None:
        while (sample := await self._buffer.get()) is not None and not self._stop.is_set():
            self.core.fold([sample.value], sample.position)
            await self._commit()
            chosen = self.core.next_query(running_clock())
            if chosen is not None:
                peer, query = chosen
                while not await self._ask(peer, query, _STEP_TIMEOUT) and not self._stop.is_set():
                    await self._pause(_STEP_RETRY)
                    query = self.core.query_to(peer)
                await self._commit()
            self.core.counts["ticks"] += 1
            if running_clock() >= self._next_report:
                self._report()
        if not self.schedule.stop_at_end:
            await self._stop.wait()

    async def _ask(self, peer: str, query: bytes, timeout: float) -> bool:
        begin = time.perf_counter()

        def take(payload: bytes) -> bool:
            return self.core.receive(peer, payload, running_clock(), time.time())

        self._asking = self.link.ask(peer, query, take, timeout, self.core.longest_reply)
        if self._stop.is_set():
            self.stop()
        is_heard = await self._asking
        if is_heard:
            self._delays.append(time.perf_counter() - begin)
        elif not self._stop.is_set():
            self.core.missed(peer, running_clock())
        return is_heard

    async def _pause(self, seconds: float) -> bool:
        """Wait, but no longer than until the node is stopped; return whether it is."""
        with suppress(TimeoutError):
            async with asyncio.timeout(max(seconds, 0.0)):
                await self._stop.wait()
        return self._stop.is_set()

    # What is stored, and then published

    async def _commit(self) -> None:
        """Store all that has happened, then let others rely on it."""
        core = self.core
        while events := tuple(core.unsaved):
            try:
                await self.store.append(self.name, *events)
            except StoreUnwritable as error:
                core.refuse(Refused("unwritable", f"nothing can be stored: {error}"))
                if await self._pause(_FULL_DISK_RETRY):
                    return
            else:
                core.saved(len(events))
        if self.store.journal_length(self.name) >= self._longest_journal:
            await self._store_checkpoint()
        if core.position is not None and core.position != self._acknowledged:
            self._acknowledged = core.position
            await self.source.acknowledge(core.position)
        held, self._held = self._held, deque()
        for wanted, query in held:  # queries for samples that may have come since
            self._answer(query, wanted)

    async def _store_checkpoint(self) -> None:
        """Store the whole state; if that is not possible now, the journal goes on."""
        try:
            await self.store.checkpoint(self.name, self.core.checkpoint())
        except StoreUnwritable as error:
            log.warning("%s cannot store a checkpoint: %s", self.name, error)

    def _report(self) -> None:
        if not self.core.unsaved:
            self._next_report = running_clock() + self.schedule.every
            self.last_report = node_report(self.core, time.time(), self._delays)
            self.link.publish(self.name, json.dumps(self.last_report).encode())
            if self.emit is not None:
                self.emit(self.last_report)

    # Samples and queries

    async def _read(self) -> None:
        try:
            async for sample in self.source.samples(self.core.position):
                await self._buffer.put(sample)
        except (OSError, ValueError) as error:
            log.error("%s lost its source: %s", self.name, error)  # noqa: TRY400 - no traceback
        await self._buffer.put(None)

    def _log_refusal(self, refused: Refused) -> None:
        """Log why something was refused: as a warning only the first time, as there may be many."""
        is_first = self.core.refused[refused.reason] == 1
        level = logging.WARNING if is_first else logging.INFO
        log.log(level, "%s refused (%s): %s", self.name, refused.reason, refused)

    def _answer(self, query: IncomingQuery, wanted: WireQuery | None = None) -> None:
        try:
            wanted = self.core.read_query(query.payload) if wanted is None else wanted
            reply = self.core.answer(wanted)
        except Refused:
            query.drop()
            return
        if reply is not None:
            query.reply(reply)
        elif self.schedule.in_step:
            self._held.append((wanted, query))
            if len(self._held) > _HELD:
                self._held.popleft()[1].drop()
        else:
            text = f"{wanted.sender!r} asked about samples still to come"
            self.core.refuse(Refused("not in step", text))
            query.drop()
