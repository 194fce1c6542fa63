"""The node: one agent in real time, with its source, its store and its network.

Lives here: the order and the timing of what happens, and how it ends.  Must not know what bytes
mean, nor what any decision depends on.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from colme.live.network import Link, Question
from colme.live.pace import Pace, running_clock
from colme.live.sources import Sample, Source
from colme.live.station import Station
from colme.live.store import Store, StoreUnwritable
from colme.live.wire import Ask, Refused

__all__ = ["Node"]

log = logging.getLogger("colme.live")

_BUFFER = 10_000
"""So many samples wait for the next tick; beyond, the source waits."""
_JOURNAL = 500
"""After so many events at most everything is written down anew, so that a restart is quick."""
_FULL = 0.5
"""Seconds from one attempt to write to a full disk to the next."""
_DELAYS = 1000
"""So many delays of answers are kept."""
_PATIENCE = 5.0
"""Seconds that an agent in step waits for an answer before it asks again."""
_AGAIN = 0.05
"""Seconds before an agent in step asks again."""
_WAITING = 1000
"""So many questions wait for samples that are still to come; of more, the oldest are dropped."""
T = TypeVar("T")


class Node:
    """One agent that perceives what its source brings, asks and is asked.

    Parameters
    ----------
    station
        The agent, as its past has left it.
    store, source, link
        Where events go, where samples come from, and the way to peers.
    pace
        When it acts.
    emit
        Called with every snapshot, as plain values.

    Examples
    --------
    >>> Node.__name__
    'Node'
    """

    def __init__(
        self,
        station: Station,
        store: Store,
        source: Source,
        link: Link,
        pace: Pace,
        emit: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        self.station = station
        self._store, self._source, self._link = store, source, link
        self._pace, self._emit = pace, emit
        self._buffer: asyncio.Queue[Sample | None] = asyncio.Queue(_BUFFER)
        self._stop = asyncio.Event()
        self._waiting: asyncio.Future[bool] | None = None
        self._news: list[tuple[str, bool]] = []
        self._held: deque[tuple[Ask, Question]] = deque()
        self._delays: deque[float] = deque(maxlen=_DELAYS)
        self._acknowledged: str | None = None
        # Nodes of one process should not all write everything down at the same moment.
        self._longest_journal = random.randint(_JOURNAL // 2, _JOURNAL)
        self._emitted = -math.inf
        self._ended = False
        station.on_refused = self._log_refusal
        link.serve(self.name, self._answer)

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.station.agent.name

    def note(self, peer: str, here: bool) -> None:
        """Be told that a peer has come or gone."""
        self._news.append((peer, here))

    def stop(self) -> None:
        """Let `run` end soon; what is not safe yet is not acknowledged."""
        self._stop.set()
        if self._waiting is not None:
            _resolve(self._waiting)

    async def run(self) -> None:
        """Live until stopped, or until the source ends if so wished."""
        self._link.announce(self.name)
        reading = asyncio.create_task(self._read())
        try:
            await (self._run_in_step() if self._pace.in_step else self._run_freely())
        finally:
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await reading
            await self._source.close()
            for _, question in self._held:
                question.drop()
        await self._commit()
        if not self.station.unsaved:
            await self._write_down()
            self._report()

    def report(self) -> dict[str, Any]:
        """Return what the node knows, ready for JSON."""
        report = self.station.report(time.time())
        delays = sorted(self._delays)
        if delays:
            middle, late = delays[len(delays) // 2], delays[int(0.99 * len(delays))]
            report["delay"] = {"p50": middle, "p99": late}
        return report

    # Ticks

    async def _run_freely(self) -> None:
        interval, counts = self._pace.interval, self.station.counts
        # Nodes of one process that tick at the same moment would wait for each other.
        due = running_clock() + interval * random.random()
        await self._pause(due - running_clock())
        while not self._stop.is_set() and not (self._ended and self._pace.stop_at_end):
            await self._tick()
            counts["ticks"] += 1
            due += interval
            skipped = max(0, int((running_clock() - due) / interval))
            counts["skipped"] += skipped
            due += skipped * interval
            await self._pause(due - running_clock())

    async def _tick(self) -> None:
        self._note_news()
        self._fold([self._buffer.get_nowait() for _ in range(self._buffer.qsize())])
        await self._commit()
        self.station.meet_stranger()
        chosen = self.station.ask(running_clock())
        if chosen is not None:
            await self._ask(*chosen, self._pace.timeout)
        if self._is_report_due():  # else what was heard becomes safe with the next samples
            await self._commit()
            self._report()

    async def _run_in_step(self) -> None:
        while not self._stop.is_set() and not self._ended:
            await self._step()
        if not self._pace.stop_at_end:
            await self._stop.wait()

    async def _step(self) -> None:
        self._fold([await self._or_stop(self._buffer.get())])
        if self._ended:
            return
        await self._commit()
        chosen = self.station.ask(running_clock())
        if chosen is not None:
            peer, question = chosen
            while not await self._ask(peer, question, _PATIENCE) and not self._stop.is_set():
                await self._pause(_AGAIN)
                question = self.station.question(peer)
            await self._commit()
        self.station.counts["ticks"] += 1
        if self._is_report_due():
            self._report()

    def _note_news(self) -> None:
        """Let the station know who has come and gone."""
        news, self._news = self._news, []
        for peer, here in news:
            if here:
                self.station.appear(peer)
            else:
                self.station.membership.vanish(peer)

    def _fold(self, arrived: list[Sample | None]) -> None:
        samples = [sample for sample in arrived if sample is not None]
        self._ended = self._ended or len(samples) < len(arrived)
        if samples:
            self.station.fold([sample.value for sample in samples], samples[-1].position)

    async def _ask(self, peer: str, question: bytes, timeout: float) -> bool:
        begin = time.perf_counter()

        def take(payload: bytes) -> bool:
            return self.station.hear(peer, payload, running_clock(), time.time())

        heard = await self._unless_stopped(self._link.ask(peer, question, take, timeout))
        if heard:
            self._delays.append(time.perf_counter() - begin)
        elif not self._stop.is_set():
            self.station.missed(peer, running_clock())
        return heard

    async def _commit(self) -> None:
        """Make all that has happened safe, then let others rely on it."""
        station = self.station
        while events := station.unsaved:
            try:
                await self._store.append(self.name, *events)
            except StoreUnwritable as error:
                station.refuse(Refused("unwritable", f"nothing can be stored: {error}"))
                if await self._pause(_FULL):
                    return
            else:
                station.saved(len(events))
        if self._store.journal_length(self.name) >= self._longest_journal:
            await self._write_down()
        if station.position is not None and station.position != self._acknowledged:
            self._acknowledged = station.position
            await self._source.acknowledge(station.position)
        self._answer_held()

    async def _write_down(self) -> None:
        """Write everything down anew; if that is not possible now, the journal goes on."""
        try:
            await self._store.checkpoint(self.name, self.station.checkpoint())
        except StoreUnwritable as error:
            log.warning("%s cannot write down its state: %s", self.name, error)

    def _is_report_due(self) -> bool:
        return running_clock() - self._emitted >= self._pace.every

    def _report(self) -> None:
        if self._emit is not None and not self.station.unsaved:
            self._emitted = running_clock()
            self._emit(self.report())

    # Samples and questions

    async def _read(self) -> None:
        try:
            async for sample in self._source.samples(self.station.position):
                await self._buffer.put(sample)
        except (OSError, ValueError) as error:
            log.error("%s lost its source: %s", self.name, error)  # noqa: TRY400 - no traceback
        await self._buffer.put(None)

    def _log_refusal(self, refused: Refused) -> None:
        """Log why something was refused: loudly only the first time, for there may be very many."""
        first = self.station.refused[refused.reason] == 1
        level = logging.WARNING if first else logging.INFO
        log.log(level, "%s refused (%s): %s", self.name, refused.reason, refused)

    def _answer(self, question: Question, ask: Ask | None = None) -> None:
        try:
            ask = self.station.asked(question.payload) if ask is None else ask
            told = self.station.told(ask)
            if told is None:
                self._hold(ask, question)
            else:
                question.answer(told)
        except Refused:
            question.drop()

    def _hold(self, ask: Ask, question: Question) -> None:
        """Let a question for samples that are still to come wait, if there can be any."""
        if not self._pace.in_step:
            refused = Refused("not in step", f"{ask.sender!r} asked of samples still to come")
            self.station.refuse(refused)
            raise refused
        self._held.append((ask, question))
        if len(self._held) > _WAITING:
            self._held.popleft()[1].drop()

    def _answer_held(self) -> None:
        """Answer those who asked for samples that have come since."""
        held, self._held = self._held, deque()
        for ask, question in held:
            self._answer(question, ask)

    # Waiting

    async def _pause(self, seconds: float) -> bool:
        """Wait, but not longer than until the node is stopped; return whether it is."""
        loop = asyncio.get_running_loop()
        over: asyncio.Future[bool] = loop.create_future()
        timer = loop.call_later(max(seconds, 0.0), _resolve, over)
        await self._unless_stopped(over)
        timer.cancel()
        return self._stop.is_set()

    async def _unless_stopped(self, future: asyncio.Future[bool]) -> bool:
        """Return the result of a future; False if the node is stopped before."""
        self._waiting = future
        if self._stop.is_set():
            _resolve(future)
        return await future

    async def _or_stop(self, doing: Coroutine[Any, Any, T]) -> T | None:
        """Return the result of waiting for something; None if the node is stopped before."""
        task, stopping = asyncio.ensure_future(doing), asyncio.ensure_future(self._stop.wait())
        await asyncio.wait((task, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if task.done():
            return task.result()
        task.cancel()
        return None


def _resolve(future: asyncio.Future[bool]) -> None:
    if not future.done():
        future.set_result(False)
