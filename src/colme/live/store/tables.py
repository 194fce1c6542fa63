"""The tables in the file of a store: lives, checkpoints and one journal of all agents' events.

Holds reading and writing them, each row with a checksum.  Must not know threads or event loops.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from colme.live.store.errors import damaged, unwritten

_SPARE = 1000
"""Events covered by checkpoints that may stay in the file before they are removed."""
_FIND = "SELECT row, life, since, checkpoint, checksum FROM agent WHERE name = ?"
_LOCATE = (
    "SELECT agent, position FROM journal JOIN agent ON agent.row = journal.agent "
    "WHERE number >= since ORDER BY position"
)
_EVENT = "SELECT event, agent, number, checksum FROM journal WHERE position = ?"


@dataclass(frozen=True)
class SavedState:
    """What a store holds of an agent: its state is the checkpoint and the events after it.

    Parameters
    ----------
    life
        A random number of 63 bits, drawn when the agent was first registered in this file.
    checkpoint
        The last state that was stored as a whole; None if there is none yet.
    events
        The events since, in order.

    Examples
    --------
    >>> SavedState(life=7, checkpoint=None, events=(b"sample",)).events
    (b'sample',)
    """

    life: int
    checkpoint: bytes | None
    events: tuple[bytes, ...]


@dataclass(eq=False)
class AgentJournal:
    """An agent's row; its journal holds the events numbered from `since` up to, excluding, `end`.

    Writes of this agent failed `n_failed` times; its authors know of `n_known` of these failures.

    Examples
    --------
    >>> AgentJournal(row=1, name="ada", life=7, since=0, end=0).checksum(since=0, checkpoint=None)
    3331152767
    """

    row: int
    name: str
    life: int
    since: int
    end: int
    n_failed: int = 0
    n_known: int = 0

    def checksum(self, since: int, checkpoint: bytes | None) -> int:
        """Return the checksum of everything in the agent's row."""
        rest = f"{self.name!r} {self.life} {since} {checkpoint is None}"
        return crc32(checkpoint or b"", crc32(rest.encode()))


@dataclass(eq=False)
class JournalChange:
    """Events to append to a journal, or else a state to store as its checkpoint.

    Examples
    --------
    >>> JournalChange(AgentJournal(1, "ada", 7, 0, 0), events=[b"one", b"two"]).state is None
    True
    """

    journal: AgentJournal
    events: Sequence[bytes]
    state: bytes | None = None


class Tables:
    """The tables behind one connection; only one thread may use them at a time.

    Examples
    --------
    >>> import tempfile
    >>> from colme.live.store.database_file import open_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tables = Tables(Path(folder), open_file(Path(folder), "garden", sync=True))
    ...     journal, saved = tables.register("ada")
    ...     tables.write([JournalChange(journal, events=[b"one", b"two"])])
    ...     again = Tables(Path(folder), tables.connection).register("ada")[1]
    ...     tables.close()
    >>> saved.events, again.events, journal.end
    ((), (b'one', b'two'), 2)
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._path = path
        self._positions: dict[int, list[int]] = {}  # of events in the journal, by agent's row
        try:
            for agent, position in connection.execute(_LOCATE):
                self._positions.setdefault(agent, []).append(position)
            (n_events,) = connection.execute("SELECT count(*) FROM journal").fetchone()
        except sqlite3.Error as error:
            connection.close()
            raise unwritten(path, error) from error
        self._n_live = sum(map(len, self._positions.values()))
        self._n_dead = n_events - self._n_live
        self._n_spared = _SPARE
        self.n_excess = 0

    def register(self, name: str) -> tuple[AgentJournal, SavedState]:
        """Return an agent's journal and saved state; a new agent begins its life.

        Raises StoreError if any row differs from what was written: nothing is skipped.
        """
        try:
            found = self.connection.execute(_FIND, (name,)).fetchone()
            if found is None:
                journal = AgentJournal(0, name, secrets.randbits(63), 0, 0)
                self.connection.execute(
                    "INSERT INTO agent (name, life, since, checksum) VALUES (?, ?, 0, ?)",
                    (name, journal.life, journal.checksum(0, None)),
                )
                found = self.connection.execute(_FIND, (name,)).fetchone()
            row, life, since, checkpoint, checksum = found
            journal = AgentJournal(row, name, life, since, since)
            is_readable = checkpoint is None or isinstance(checkpoint, bytes)
            if not is_readable or journal.checksum(since, checkpoint) != checksum:
                raise damaged(self._path, f"the row of agent {name!r} is not what was written")
            events = []
            for position in self._positions.get(row, ()):
                event, *rest = self.connection.execute(_EVENT, (position,)).fetchone()
                if rest != [row, journal.end, crc32(event) if isinstance(event, bytes) else None]:
                    finding = f"event {journal.end} of agent {name!r} is not what was written"
                    raise damaged(self._path, finding)
                events.append(event)
                journal.end += 1
        except sqlite3.Error as error:
            raise unwritten(self._path, error) from error
        self._positions.pop(row, None)
        return journal, SavedState(life, checkpoint, tuple(events))

    def write(self, changes: Sequence[JournalChange]) -> None:
        """Make changes in one transaction, all or none; then move the journals with them.

        The journal is in the order of writing, so that the events of many agents share few pages.
        """
        if not changes:
            return
        spans: dict[AgentJournal, tuple[int, int]] = {}
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            for change in changes:
                journal = change.journal
                since, end = spans.get(journal, (journal.since, journal.end))
                for event in change.events:
                    self.connection.execute(
                        "INSERT INTO journal (agent, number, event, checksum) VALUES (?, ?, ?, ?)",
                        (journal.row, end, event, crc32(event)),
                    )
                    end += 1
                if change.state is not None:
                    since = end
                    self.connection.execute(
                        "UPDATE agent SET since = ?, checkpoint = ?, checksum = ? WHERE row = ?",
                        (since, change.state, journal.checksum(since, change.state), journal.row),
                    )
                spans[journal] = since, end
            self.connection.execute("COMMIT")
        except BaseException:
            self._undo()
            raise
        for journal, (since, end) in spans.items():
            self._n_live += (end - since) - (journal.end - journal.since)
            self._n_dead += since - journal.since
            journal.since, journal.end = since, end
        self.n_excess = self._n_dead - self._n_live - self._n_spared

    def sweep(self) -> None:
        """Remove the events that checkpoints cover; worth it once `n_excess` is above 0."""
        try:
            self._n_dead -= self.connection.execute(
                "DELETE FROM journal WHERE number < "
                "(SELECT since FROM agent WHERE row = journal.agent)"
            ).rowcount
            self._n_spared = _SPARE
        except sqlite3.Error:
            self._roll_back()
            self._n_spared += _SPARE  # do not ask a failing disk after every write
        self.n_excess = self._n_dead - self._n_live - self._n_spared

    def close(self) -> None:
        """Fold the log into the file and close it."""
        # If the disk fails, everything written stays in the log: nothing is lost.
        with suppress(sqlite3.Error):
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.connection.close()

    def _undo(self) -> None:
        self._roll_back()
        # If only the last sync failed, the log ends in a whole transaction that a crash would bring
        # back.  The next transaction takes its place, so write one that changes nothing of use.
        try:
            self.connection.execute("UPDATE about SET n_failed = n_failed + 1")
        except sqlite3.Error:
            self._roll_back()

    def _roll_back(self) -> None:
        if self.connection.in_transaction:
            with suppress(sqlite3.Error):
                self.connection.execute("ROLLBACK")
