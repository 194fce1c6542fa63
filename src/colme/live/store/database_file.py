"""The file of a store: created whole, held by one process, refused if anything is wrong with it.

Holds opening, and every reason not to.  Must not know agents, events or event loops.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from colme.live.store.errors import StoreError, busy, damaged, inaccessible, refusal

FILE_NAME = "colme.sqlite"

_APPLICATION = int.from_bytes(b"ClME", "big")
"""In the head of every store file, so that no file of another application is mistaken for one."""

_LAYOUT = 1
_TABLES = """
CREATE TABLE about (fleet TEXT NOT NULL, n_failed INTEGER NOT NULL);
CREATE TABLE agent (
    row INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, life INTEGER NOT NULL,
    since INTEGER NOT NULL, checkpoint BLOB, checksum INTEGER NOT NULL
);
CREATE TABLE journal (
    position INTEGER PRIMARY KEY, agent INTEGER NOT NULL, number INTEGER NOT NULL,
    event BLOB NOT NULL, checksum INTEGER NOT NULL
);
"""

_PAGE = 4096
_LOG_PAGES = 256
"""Pages in the write-ahead log before it is folded into the file: about 1 MB."""

_SETTINGS = f"""
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -256;
PRAGMA mmap_size = 0;
PRAGMA temp_store = MEMORY;
PRAGMA journal_size_limit = {2 * _LOG_PAGES * _PAGE};
PRAGMA wal_autocheckpoint = {_LOG_PAGES};
"""
"""A file that is locked from the first access on needs no index of its log beside it."""

_MAGIC = b"SQLite format 3\0"
_HEAD = 100
"""Bytes in the head of an SQLite file: its magic first, its layout at 60, its application at 68."""


def hold(folder: Path) -> int:
    """Create the folder if it is missing, and hold it for this process alone.

    Returns
    -------
    descriptor
        Close it to release the folder.  The system does so when the process dies.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     os.close(hold(Path(place, "state")))
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise refusal(folder, error) from error
    try:
        # Lock the folder itself, so that a refused folder gets no file from here.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            raise busy(folder / FILE_NAME) from None
        raise inaccessible(folder, f"it cannot be locked: {error.strerror}") from error
    return descriptor


def open_file(folder: Path, fleet: str, *, sync: bool) -> sqlite3.Connection:
    """Return a connection to the folder's file, which is created if it is missing.

    The caller holds the folder.  A refused file keeps every byte, and so does its log.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     connection = open_file(Path(folder), "garden", sync=True)
    ...     connection.execute("SELECT fleet FROM about").fetchone()
    ...     connection.close()
    ('garden',)
    """
    path = folder / FILE_NAME
    try:
        if os.path.lexists(path):
            _check_head(path)
            _check_content(path, fleet)
        else:
            _create(path, fleet)
        address = path.resolve().as_uri() + "?mode=rw"
        connection = sqlite3.connect(
            address, uri=True, timeout=0, isolation_level=None, check_same_thread=False
        )
        try:
            connection.executescript(_SETTINGS)
            connection.execute(f"PRAGMA synchronous = {'FULL' if sync else 'NORMAL'}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript("BEGIN IMMEDIATE; ROLLBACK")
        except BaseException:
            connection.close()
            raise
    except (sqlite3.Error, OSError) as error:
        raise refusal(path, error) from error
    return connection


def _check_head(path: Path) -> None:
    # SQLite must not see the file before this: it would write beside other applications' files.
    with path.open("r+b") as file:  # for writing too, or it is refused now
        head = file.read(_HEAD)
    if not head.startswith(_MAGIC) or len(head) < _HEAD:
        raise damaged(path, "this is no SQLite file")
    layout, application = (int.from_bytes(head[place : place + 4], "big") for place in (60, 68))
    if application != _APPLICATION:
        raise StoreError(
            f"{path} belongs to another application, of id {application:#x} and not "
            f"{_APPLICATION:#x}; nothing was changed: choose another folder"
        )
    if layout != _LAYOUT:
        raise StoreError(
            f"{path} has layout {layout} and this version of colme reads layout {_LAYOUT}; nothing "
            "was changed: use the version of colme that wrote it, or choose another folder: the "
            "device then begins a new life"
        )


def _check_content(path: Path, fleet: str) -> None:
    log, index = (path.with_name(path.name + ending) for ending in ("-wal", "-shm"))
    has_log = log.exists() and log.stat().st_size > 0
    had_index = index.exists()
    # A read-only connection folds no log into the file, not even when it is closed; one to an
    # "immutable" file creates no log either.
    mode = "?mode=ro" if has_log else "?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(path.resolve().as_uri() + mode, uri=True, timeout=0)) as rows:
            findings = [row[0] for row in rows.execute("PRAGMA quick_check(1)")]
            fleets = [row[0] for row in rows.execute("SELECT fleet FROM about")]
    finally:
        if not had_index:
            index.unlink(missing_ok=True)
    if findings != ["ok"]:
        raise damaged(path, " ".join(str(findings[0]).split()))
    if len(fleets) != 1:
        raise damaged(path, "it names no fleet")
    if fleets != [fleet]:
        raise StoreError(
            f"{path} belongs to fleet {fleets[0]!r} and not to {fleet!r}; nothing was changed: "
            "name that fleet or choose another folder"
        )


def _create(path: Path, fleet: str) -> None:
    """Create the file under another name first: it is there with its fleet in it, or not at all."""
    log = path.with_name(path.name + "-wal")
    if log.exists():
        # SQLite would fold this log into the new file, whatever it was written for.
        raise StoreError(
            f"{log} is there without {path.name}, to which it belongs; nothing was changed: put "
            "that file back, or move this one away: the device then begins a new life"
        )
    draft = path.with_name(path.name + ".draft")
    for ending in ("", "-journal", "-wal"):
        draft.with_name(draft.name + ending).unlink(missing_ok=True)
    draft.touch(mode=0o600)
    with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.executescript(
            f"PRAGMA page_size = {_PAGE}; PRAGMA locking_mode = EXCLUSIVE;"
            f"PRAGMA journal_mode = WAL; PRAGMA application_id = {_APPLICATION};"
            f"PRAGMA user_version = {_LAYOUT}; {_TABLES}"
        )
        connection.execute("INSERT INTO about VALUES (?, 0)", (fleet,))
    draft.replace(path)
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)  # the new name survives a loss of power too
    finally:
        os.close(descriptor)
