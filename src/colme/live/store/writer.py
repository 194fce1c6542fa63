"""One thread that writes for everybody: whatever waits is committed at once.

Lives here: group commit, and who is told what became of it.  Must not know what is written, nor
how a store is opened.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from colme.live.store import rows
from colme.live.store.errors import damaged, unwritten
from colme.live.store.rows import Past, Place

__all__ = ["Keeper", "Writer"]

_SPARE = 1000
"""So many events that checkpoints hold may stay in the file before it is swept."""


@dataclass(eq=False)
class Keeper:
    """An agent's journal holds the events numbered from `since` up to, not including, `end`.

    Writes of this agent failed `n_failed` times, and its authors were told so `n_told` times.

    Examples
    --------
    >>> Keeper(Place(row=1, name="ada", life=7), since=2, end=5).length
    3
    """

    place: Place
    since: int
    end: int
    n_failed: int = 0
    n_told: int = 0

    @property
    def length(self) -> int:
        """How many events the journal holds."""
        return self.end - self.since


@dataclass(eq=False)
class _Write:
    """Events to append or else a state to keep; `n_told` is what its author knew of failures."""

    keeper: Keeper
    events: Sequence[bytes]
    state: bytes | None
    n_told: int
    done: asyncio.Future[None]


class Writer:
    """The thread that writes to a store's file; `n_commits` counts its transactions.

    Parameters
    ----------
    path
        The file, for messages.
    connection
        To the file; from now on it belongs to the writer.
    descriptor
        Of the folder, which is held until the writer is closed.

    Examples
    --------
    >>> import tempfile
    >>> from colme.live.store.file import hold, open_file
    >>> async def live(folder):
    ...     writer = Writer(folder, open_file(folder, "garden", sync=True), hold(folder))
    ...     keeper, past = writer.adopt("ada")
    ...     await asyncio.gather(*(writer.write(keeper, [b"heard"], None) for _ in range(9)))
    ...     await writer.close()
    ...     return keeper.length, writer.n_commits < 9
    >>> with tempfile.TemporaryDirectory() as place:
    ...     asyncio.run(live(Path(place)))
    (9, True)
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, descriptor: int) -> None:
        self.path = path
        self.n_commits = 0
        self._connection = connection
        self._descriptor = descriptor
        self._positions: dict[int, list[int]] | None = None
        self._n_live = self._n_dead = 0
        self._n_spared = _SPARE
        self._waiting: deque[_Write] = deque()
        self._active = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="colme-store")
        self._end: Future[None] | None = None

    @property
    def closed(self) -> bool:
        """Whether nothing more can be written."""
        return self._end is not None

    def adopt(self, name: str) -> tuple[Keeper, Past]:
        """Return an agent's keeper and its past; one that is new begins its life."""
        return self._thread.submit(self._adopt, name).result()

    def write(
        self, keeper: Keeper, events: Sequence[bytes], state: bytes | None
    ) -> asyncio.Future[None]:
        """Append events, or else keep a state; the future is done once they are durable."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Write(keeper, events, state, keeper.n_told, done))
        if not self._active:
            self._active = True
            self._thread.submit(self._work)
        return done

    async def close(self) -> None:
        """Finish every write that was begun, close the file and let go of the folder."""
        if self._end is None:
            self._end = self._thread.submit(self._finish)
        await asyncio.shield(asyncio.wrap_future(self._end))
        self._thread.shutdown()

    # From here on everything runs in the thread that writes.

    def _adopt(self, name: str) -> tuple[Keeper, Past]:
        try:
            positions = self._located()
            found = rows.read(self._connection, self.path, name, positions)
            if found is None:
                rows.create(self._connection, name)
                found = rows.read(self._connection, self.path, name, positions)
        except sqlite3.Error as error:
            raise unwritten(self.path, error) from error
        if found is None:
            raise damaged(self.path, f"agent {name!r} was written and cannot be found")
        place, since, past = found
        positions.pop(place.row, None)
        return Keeper(place, since, since + len(past.events)), past

    def _located(self) -> dict[int, list[int]]:
        if self._positions is None:
            self._positions, n_rows = rows.locate(self._connection)
            self._n_live = sum(map(len, self._positions.values()))
            self._n_dead = n_rows - self._n_live
        return self._positions

    def _work(self) -> None:
        while self._waiting:
            self._commit_waiting()
            self._sweep()
            # One more look follows: what comes in between is seen by it, or sends for the thread.
            self._active = bool(self._waiting)

    def _commit_waiting(self) -> None:
        writes: list[_Write] = []
        while self._waiting:
            writes.append(self._waiting.popleft())
        # What an agent began before it was told of a failure fails too: a checkpoint among it
        # would hold the events that are about to be written again.
        late = [write for write in writes if write.n_told != write.keeper.n_failed]
        informed = [write for write in writes if write.n_told == write.keeper.n_failed]
        self._answer(late, OSError("an earlier write of the same agent failed"))
        if informed:
            self._answer(informed, self._commit(informed))

    def _commit(self, writes: Sequence[_Write]) -> Exception | None:
        bounds = {write.keeper: (write.keeper.since, write.keeper.end) for write in writes}
        try:
            events, states = _planned(writes, bounds)
            self._connection.execute("BEGIN IMMEDIATE")
            rows.put_events(self._connection, events)
            rows.put_checkpoints(self._connection, states)
            self._connection.execute("COMMIT")
        except Exception as error:
            self._undo()
            for keeper in bounds:
                keeper.n_failed += 1
            return error
        self.n_commits += 1
        for keeper, (since, end) in bounds.items():
            self._n_live += (end - since) - keeper.length
            self._n_dead += since - keeper.since
            keeper.since, keeper.end = since, end
        return None

    def _sweep(self) -> None:
        if self._n_dead <= self._n_live + self._n_spared:
            return
        try:
            self._n_dead -= rows.sweep(self._connection)
            self._n_spared = _SPARE
        except sqlite3.Error:
            self._roll_back()
            self._n_spared += _SPARE  # a disk that refuses is not asked after every write

    def _undo(self) -> None:
        self._roll_back()
        # If nothing but the last sync failed, the log ends in a whole transaction that a crash
        # would bring back.  The next one takes its place, so one of no consequence is written.
        try:
            self._connection.execute("UPDATE about SET n_failed = n_failed + 1")
        except sqlite3.Error:
            self._roll_back()

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    def _answer(self, writes: Sequence[_Write], error: Exception | None) -> None:
        for loop in {write.done.get_loop() for write in writes}:
            theirs = [write for write in writes if write.done.get_loop() is loop]
            with suppress(RuntimeError):  # a loop that was closed: nobody waits for an answer
                loop.call_soon_threadsafe(_settle, self.path, theirs, error)

    def _finish(self) -> None:
        try:
            # If the disk refuses, all that was written stays in the log: nothing is lost.
            with suppress(sqlite3.Error):
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.close()
        finally:
            os.close(self._descriptor)


def _planned(
    writes: Sequence[_Write], bounds: dict[Keeper, tuple[int, int]]
) -> tuple[list[tuple[int, int, bytes]], Iterable[tuple[Place, int, bytes]]]:
    """Return the rows that the writes come to, and move the bounds of the journals with them."""
    events: list[tuple[int, int, bytes]] = []
    states: dict[Keeper, tuple[Place, int, bytes]] = {}
    for write in writes:
        place, (since, end) = write.keeper.place, bounds[write.keeper]
        events += [(place.row, number, event) for number, event in enumerate(write.events, end)]
        end += len(write.events)
        if write.state is not None:
            states[write.keeper] = (place, end, write.state)
            since = end
        bounds[write.keeper] = since, end
    return events, states.values()


def _settle(path: Path, writes: Sequence[_Write], error: Exception | None) -> None:
    for write in writes:
        if error is not None:
            write.keeper.n_told = write.keeper.n_failed
        if write.done.done():  # its caller was cancelled
            continue
        if error is None:
            write.done.set_result(None)
        else:
            write.done.set_exception(unwritten(path, error))
