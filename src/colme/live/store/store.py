"""The store as a node sees it, and the one thread that writes for all agents of a process.

Holds opening, registering, appending, and group commit: all waiting writes share a transaction.
Must not know what events and states mean.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from colme.live.store.database_file import FILE_NAME, hold, open_file
from colme.live.store.errors import StoreError, unwritten
from colme.live.store.tables import AgentJournal, JournalChange, SavedState, Tables

LARGEST_ENTRY = 2**26
"""The most bytes of one event or state."""


@dataclass(eq=False, kw_only=True)
class _Write(JournalChange):
    """A change whose author waits for it, and knew of `n_known` failures when it began."""

    n_known: int
    done: asyncio.Future[None]


class Store:
    """A file in which each agent keeps a checkpoint and a journal of the events since.

    What `append` and `checkpoint` were awaited for survives a crash at any instruction, once
    and in the order of the calls.  One process at a time opens a store, which is an SQLite file
    with a write-ahead log; it needs a system with file locks (`fcntl`).

    A write that fails with `StoreUnwritable` leaves nothing behind, and neither does any write that
    the same agent began before it knew of the failure.  To go on, write the same events again, *or*
    store a checkpoint of a state that includes them; both together would count them twice.

    A write continues when its caller is cancelled: it is stored or it fails, unnoticed.

    The log grows to about 1 MB, or to the size of a larger burst of writes, and is cut back to at
    most 2 MB when it is reused.  The file grows to the size of all checkpoints plus twice the
    events since plus a thousand more, and does not shrink: regular checkpoints keep it small.

    Parameters
    ----------
    folder
        Where the file is; both are created if missing.  An unusable file is refused unchanged.
    fleet
        Whose agents are stored here; the file of another fleet is refused.
    sync
        Whether writes also survive a loss of power, and not only the death of the process.

    Attributes
    ----------
    n_commits
        Transactions committed since the store was opened.

    Examples
    --------
    >>> import asyncio, tempfile
    >>> async def live(folder):
    ...     store = Store(Path(folder), "garden")
    ...     before = store.register("ada")
    ...     await store.append("ada", b"heard 0.5", b"heard 0.7")
    ...     await store.checkpoint("ada", b"2 samples, mean 0.6")
    ...     await store.append("ada", b"heard 0.9")
    ...     await store.close()
    ...     return before.events, store.journal_length("ada")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(live(folder))
    ...     store = Store(Path(folder), "garden")
    ...     saved = store.register("ada")
    ...     asyncio.run(store.close())
    ((), 1)
    >>> saved.checkpoint, saved.events
    (b'2 samples, mean 0.6', (b'heard 0.9',))
    """

    def __init__(self, folder: Path, fleet: str, *, sync: bool = True) -> None:
        if not isinstance(fleet, str) or not fleet:
            raise ValueError(f"fleet must be a non-empty string; received {fleet!r}")
        self.path = Path(folder) / FILE_NAME
        self.n_commits = 0
        self._descriptor = hold(self.path.parent)
        try:
            self._tables = Tables(self.path, open_file(self.path.parent, fleet, sync=sync))
        except BaseException:
            os.close(self._descriptor)
            raise
        self._journals: dict[str, AgentJournal] = {}
        self._waiting: deque[_Write] = deque()
        self._is_working, self._lock = False, threading.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="colme-store")
        self._end: Future[None] | None = None

    def register(self, agent: str) -> SavedState:
        """Return what the store holds of an agent; a new agent begins its life.

        Register each agent once, before it writes.  If any of its rows differs from what was
        written, StoreError is raised and nothing changes.
        """
        if not isinstance(agent, str) or not agent:
            raise ValueError(f"agent must be a non-empty string; received {agent!r}")
        if self._end is not None:
            raise StoreError(f"{self.path} has been closed: open the store again")
        if agent in self._journals:
            raise ValueError(f"agent {agent!r} is here already: give each agent its own name")
        self._journals[agent], saved = self._thread.submit(self._tables.register, agent).result()
        return saved

    async def append(self, agent: str, *events: bytes) -> None:
        """Add events to the agent's journal, all or none; they are durable on return."""
        if events:
            await self._write(agent, "event", events)

    async def checkpoint(self, agent: str, state: bytes) -> None:
        """Store the agent's state in place of its journal so far; it is durable on return."""
        await self._write(agent, "state", (state,))

    def journal_length(self, agent: str) -> int:
        """Return the number of events since the agent's last checkpoint."""
        journal = self._journals[agent]
        return journal.end - journal.since

    async def close(self) -> None:
        """Finish every write that was begun, close the file and release the folder."""
        if self._end is None:
            self._end = self._thread.submit(self._finish)
        await asyncio.shield(asyncio.wrap_future(self._end))
        self._thread.shutdown()

    def _write(
        self, agent: str, role: Literal["event", "state"], entries: Sequence[bytes]
    ) -> asyncio.Future[None]:
        """Append events, or else store a state; the future is done once they are durable."""
        for entry in entries:
            if not isinstance(entry, bytes):
                raise ValueError(  # noqa: TRY004 - one kind of error for all bad input
                    f"{role} must be bytes; received {type(entry).__name__}"
                )
            if len(entry) > LARGEST_ENTRY:
                raise ValueError(
                    f"{role} must have at most {LARGEST_ENTRY} bytes; received {len(entry)}: split "
                    "it up"
                )
        if self._end is not None:
            raise StoreError(f"{self.path} has been closed: open the store again")
        if agent not in self._journals:
            raise ValueError(f"agent {agent!r} is not here: register it before it writes")
        journal = self._journals[agent]
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        change = (entries, None) if role == "event" else ((), entries[0])
        with self._lock:
            self._waiting.append(_Write(journal, *change, n_known=journal.n_known, done=done))
            is_idle, self._is_working = not self._is_working, True
        if is_idle:
            self._thread.submit(self._work)
        return done

    # From here on everything runs in the thread that writes.

    def _work(self) -> None:
        while writes := self._next_writes():
            # What an agent began before it knew of a failure fails too: a checkpoint among it would
            # include the events that are about to be written again.
            informed = [write for write in writes if write.n_known == write.journal.n_failed]
            late = [write for write in writes if write.n_known != write.journal.n_failed]
            self._settle(late, OSError("an earlier write of the same agent failed"))
            try:
                self._tables.write(informed)
            except Exception as error:
                for journal in {write.journal for write in informed}:
                    journal.n_failed += 1
                self._settle(informed, error)
            else:
                self.n_commits += bool(informed)
                self._settle(informed, None)
            if self._tables.n_excess > 0:
                self._tables.sweep()

    def _next_writes(self) -> list[_Write]:
        """Return all that waits; if nothing does, the next write starts the thread again."""
        with self._lock:
            writes = list(self._waiting)
            self._waiting.clear()
            self._is_working = bool(writes)
        return writes

    def _settle(self, writes: Sequence[_Write], error: Exception | None) -> None:
        """Let the authors of writes know, each in its own event loop, with one call per loop."""
        by_loop: dict[asyncio.AbstractEventLoop, list[_Write]] = {}
        for write in writes:
            by_loop.setdefault(write.done.get_loop(), []).append(write)
        for loop, theirs in by_loop.items():
            with suppress(RuntimeError):  # the loop is closed: nobody waits for the result
                loop.call_soon_threadsafe(_resolve, self.path, theirs, error)

    def _finish(self) -> None:
        try:
            self._tables.close()
        finally:
            os.close(self._descriptor)


def _resolve(path: Path, writes: Sequence[_Write], error: Exception | None) -> None:
    for write in writes:
        if error is not None:
            write.journal.n_known = write.journal.n_failed
        if write.done.done():  # its caller was cancelled
            continue
        if error is None:
            write.done.set_result(None)
        else:
            write.done.set_exception(unwritten(path, error))
