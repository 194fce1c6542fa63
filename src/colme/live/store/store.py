"""The store as a node sees it.

Lives here: opening, adopting, appending.  Must not know what events and states mean.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Self

from colme.live.store.errors import StoreError
from colme.live.store.file import FILE_NAME, hold, open_file
from colme.live.store.rows import Past
from colme.live.store.writer import Keeper, Writer

__all__ = ["LARGEST_ENTRY", "Store"]

LARGEST_ENTRY = 2**26
"""The most bytes of one event or state."""


class Store:
    """A file in which agents keep a checkpoint each and a journal of the events since.

    What `append` and `checkpoint` were awaited for survives a crash at any instruction: once, and
    in the order of the calls.  One process at a time opens a store, which is an SQLite file with
    a write-ahead log; a system without file locks (`fcntl`) has none.

    A write that fails with `StoreUnwritable` leaves nothing behind, and neither does any that the
    same agent began before it was told.  To go on, write the same events again, *or* keep a
    checkpoint of a state that holds them; both together would count them twice.

    A write goes on when its caller is cancelled: it is kept or it fails, and nobody is told.

    The log grows to about 1 MB, or to the size of a larger burst of writes, and is cut back to at
    most 2 MB when it is used anew.  The file grows to what it takes to hold all checkpoints and
    twice the events since, with a thousand more, and does not shrink: agents that keep a
    checkpoint every so many events keep it small.

    Parameters
    ----------
    path
        The file, for messages.
    connection
        To the file; from now on it belongs to the store.
    descriptor
        Of the folder, which is held until the store is closed.

    Examples
    --------
    >>> import asyncio, tempfile
    >>> async def live(folder):
    ...     store = Store.open(Path(folder), "garden")
    ...     past = store.adopt("ada")
    ...     await store.append("ada", b"heard 0.5", b"heard 0.7")
    ...     await store.checkpoint("ada", b"2 samples, mean 0.6")
    ...     await store.append("ada", b"heard 0.9")
    ...     await store.close()
    ...     return past.events, store.journal_length("ada")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(live(folder))
    ...     store = Store.open(Path(folder), "garden")
    ...     past = store.adopt("ada")
    ...     asyncio.run(store.close())
    ((), 1)
    >>> past.checkpoint, past.events
    (b'2 samples, mean 0.6', (b'heard 0.9',))
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, descriptor: int) -> None:
        self._writer = Writer(path, connection, descriptor)
        self._keepers: dict[str, Keeper] = {}

    @classmethod
    def open(cls, folder: Path, fleet: str, *, sync: bool = True) -> Self:
        """Open the store in a folder, both made if missing, or refuse and change nothing.

        Parameters
        ----------
        folder
            Where the file is.
        fleet
            Whose agents keep themselves here; the file of another fleet is refused.
        sync
            Whether writes survive a loss of power too, and not only the death of the process.
        """
        _check_name("fleet", fleet)
        folder = Path(folder)
        descriptor = hold(folder)
        try:
            connection = open_file(folder, fleet, sync=sync)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(folder / FILE_NAME, connection, descriptor)

    @property
    def path(self) -> Path:
        """The file."""
        return self._writer.path

    @property
    def n_commits(self) -> int:
        """How many transactions have been committed since the store was opened."""
        return self._writer.n_commits

    def adopt(self, agent: str) -> Past:
        """Return what the store holds of an agent; one that is new begins its life.

        Each agent is adopted once, before it writes.  If any of its rows is not as it was written
        it is refused with StoreError, and nothing changes.
        """
        _check_name("agent", agent)
        self._check_open()
        if agent in self._keepers:
            raise ValueError(f"agent {agent!r} is here already: give each agent its own name")
        self._keepers[agent], past = self._writer.adopt(agent)
        return past

    async def append(self, agent: str, *events: bytes) -> None:
        """Add events to the agent's journal, all or none; they are durable on return."""
        for event in events:
            _check_entry("event", event)
        self._check_open()
        if events:
            await self._writer.write(self._keeper(agent), events, None)

    async def checkpoint(self, agent: str, state: bytes) -> None:
        """Keep the agent's state in place of its journal so far; it is durable on return."""
        _check_entry("state", state)
        self._check_open()
        await self._writer.write(self._keeper(agent), (), state)

    def journal_length(self, agent: str) -> int:
        """Return how many events the agent's journal holds since its last checkpoint."""
        return self._keeper(agent).length

    async def close(self) -> None:
        """Finish every write that was begun, close the file and let go of the folder."""
        await self._writer.close()

    def _check_open(self) -> None:
        if self._writer.closed:
            raise StoreError(f"{self.path} has been closed: open the store again")

    def _keeper(self, agent: str) -> Keeper:
        if agent not in self._keepers:
            raise ValueError(f"agent {agent!r} is not here: adopt it before it writes")
        return self._keepers[agent]


def _check_name(role: str, name: object) -> None:
    if not isinstance(name, str) or not name:
        raise ValueError(f"{role} must be a non-empty string; received {name!r}")


def _check_entry(role: str, entry: object) -> None:
    if not isinstance(entry, bytes):
        raise ValueError(f"{role} must be bytes; received {type(entry).__name__}")  # noqa: TRY004
    if len(entry) > LARGEST_ENTRY:
        raise ValueError(
            f"{role} must have at most {LARGEST_ENTRY} bytes; received {len(entry)}: split it up"
        )
