"""The rows in the file of a store: lives, checkpoints and one journal of all agents' events.

Lives here: reading and writing them, each with a checksum.  Must not know transactions, threads or
event loops.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from colme.live.store.errors import damaged

__all__ = ["Past", "Place", "create", "locate", "put_checkpoints", "put_events", "read", "sweep"]


@dataclass(frozen=True)
class Past:
    """What a store holds of an agent: its state is the checkpoint and the events after it.

    Parameters
    ----------
    life
        A random number of 63 bits, made when the agent was first adopted in this file.
    checkpoint
        The last state that was kept as a whole; None if there is none yet.
    events
        What was appended since, in order.

    Examples
    --------
    >>> Past(life=7, checkpoint=None, events=(b"sample",)).events
    (b'sample',)
    """

    life: int
    checkpoint: bytes | None
    events: tuple[bytes, ...]


@dataclass(frozen=True)
class Place:
    """An agent's own row, and the number that its events bear.

    Examples
    --------
    >>> Place(row=1, name="ada", life=7).checksum(since=0, checkpoint=None)
    3331152767
    """

    row: int
    name: str
    life: int

    def checksum(self, since: int, checkpoint: bytes | None) -> int:
        """Return the checksum of all that stands in the agent's row."""
        rest = f"{self.name!r} {self.life} {since} {checkpoint is None}"
        return crc32(checkpoint or b"", crc32(rest.encode()))


def create(connection: sqlite3.Connection, name: str) -> None:
    """Begin a life for an agent that the file does not know.

    Examples
    --------
    >>> import tempfile
    >>> from colme.live.store.file import open_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     connection = open_file(Path(folder), "garden", sync=True)
    ...     create(connection, "ada")
    ...     place, since, past = read(connection, Path(folder), "ada", {})
    ...     connection.close()
    >>> place.name, since, past.checkpoint, past.events
    ('ada', 0, None, ())
    """
    life = secrets.randbits(63)
    connection.execute(
        "INSERT INTO agent (name, life, since, checksum) VALUES (?, ?, 0, ?)",
        (name, life, Place(0, name, life).checksum(0, None)),
    )


def locate(connection: sqlite3.Connection) -> tuple[dict[int, list[int]], int]:
    """Return where the events of each agent's row stand in the journal, and how long that is.

    The journal may also hold events from before the checkpoint of their agent, see `sweep`.

    Examples
    --------
    >>> import tempfile
    >>> from colme.live.store.file import open_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     connection = open_file(Path(folder), "garden", sync=True)
    ...     create(connection, "ada")
    ...     put_events(connection, [(1, 0, b"one"), (1, 1, b"two")])
    ...     locate(connection)
    ...     connection.close()
    ({1: [1, 2]}, 2)
    """
    positions: dict[int, list[int]] = {}
    rows = connection.execute(
        "SELECT agent, position FROM journal JOIN agent ON agent.row = journal.agent "
        "WHERE number >= since ORDER BY position"
    )
    for agent, position in rows:
        positions.setdefault(agent, []).append(position)
    (length,) = connection.execute("SELECT count(*) FROM journal").fetchone()
    return positions, length


def read(
    connection: sqlite3.Connection, path: Path, name: str, positions: Mapping[int, Sequence[int]]
) -> tuple[Place, int, Past] | None:
    """Return an agent's place, the number of its first event and its past; None if it is new.

    Raises StoreError if any row is not as it was written: nothing is skipped.

    Examples
    --------
    >>> import tempfile
    >>> from colme.live.store.file import open_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     connection = open_file(Path(folder), "garden", sync=True)
    ...     read(connection, Path(folder), "nobody", {})
    ...     connection.close()
    """
    found = connection.execute(
        "SELECT row, life, since, checkpoint, checksum FROM agent WHERE name = ?", (name,)
    ).fetchone()
    if found is None:
        return None
    row, life, since, checkpoint, checksum = found
    place = Place(row, name, life)
    readable = checkpoint is None or isinstance(checkpoint, bytes)
    if not readable or place.checksum(since, checkpoint) != checksum:
        raise damaged(path, f"the row of agent {name!r} is not what was written")
    events = tuple(_event(connection, position) for position in positions.get(row, ()))
    for number, (event, *facts) in enumerate(events, since):
        if facts != [row, number, crc32(event) if isinstance(event, bytes) else None]:
            raise damaged(path, f"event {number} of agent {name!r} is not what was written")
    return place, since, Past(life, checkpoint, tuple(event for event, *_ in events))


def _event(connection: sqlite3.Connection, position: int) -> tuple[bytes, int, int, int]:
    rows = connection.execute(
        "SELECT event, agent, number, checksum FROM journal WHERE position = ?", (position,)
    )
    found: tuple[bytes, int, int, int] = rows.fetchone()
    return found


def put_events(connection: sqlite3.Connection, events: Iterable[tuple[int, int, bytes]]) -> None:
    """Write events, each after the row of its agent and its number.

    The journal is in the order of writing, so that the events of many agents share few pages.

    Examples
    --------
    >>> import tempfile
    >>> from colme.live.store.file import open_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     connection = open_file(Path(folder), "garden", sync=True)
    ...     create(connection, "ada")
    ...     put_events(connection, [(1, 0, b"one"), (1, 1, b"two")])
    ...     _, _, past = read(connection, Path(folder), "ada", locate(connection)[0])
    ...     connection.close()
    >>> past.events
    (b'one', b'two')
    """
    connection.executemany(
        "INSERT INTO journal (agent, number, event, checksum) VALUES (?, ?, ?, ?)",
        [(row, number, event, crc32(event)) for row, number, event in events],
    )


def put_checkpoints(
    connection: sqlite3.Connection, states: Iterable[tuple[Place, int, bytes]]
) -> None:
    """Replace checkpoints: each holds the events of its agent before this number.

    Examples
    --------
    >>> import tempfile
    >>> from colme.live.store.file import open_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     connection = open_file(Path(folder), "garden", sync=True)
    ...     create(connection, "ada")
    ...     put_events(connection, [(1, 0, b"one"), (1, 1, b"two")])
    ...     place, _, _ = read(connection, Path(folder), "ada", {})
    ...     put_checkpoints(connection, [(place, 2, b"one and two")])
    ...     _, since, past = read(connection, Path(folder), "ada", locate(connection)[0])
    ...     connection.close()
    >>> since, past.checkpoint, past.events
    (2, b'one and two', ())
    """
    connection.executemany(
        "UPDATE agent SET since = ?, checkpoint = ?, checksum = ? WHERE row = ?",
        [(since, state, place.checksum(since, state), place.row) for place, since, state in states],
    )


def sweep(connection: sqlite3.Connection) -> int:
    """Remove the events that checkpoints hold, and return how many those were.

    Examples
    --------
    >>> import tempfile
    >>> from colme.live.store.file import open_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     connection = open_file(Path(folder), "garden", sync=True)
    ...     create(connection, "ada")
    ...     put_events(connection, [(1, 0, b"one"), (1, 1, b"two")])
    ...     place, _, _ = read(connection, Path(folder), "ada", {})
    ...     put_checkpoints(connection, [(place, 1, b"one")])
    ...     sweep(connection)
    ...     connection.close()
    1
    """
    return connection.execute(
        "DELETE FROM journal WHERE number < (SELECT since FROM agent WHERE row = journal.agent)"
    ).rowcount
