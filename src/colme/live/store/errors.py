"""What can be wrong with a store, in words: the file, what is wrong, and the remedy.

Holds the errors of a store and what errors of SQLite and the system mean.  Must not know how a
store works.
"""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_CLOSED = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY)
_FAILING = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM)
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_FAILING_SYSTEM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOMEM)


class StoreError(ValueError):
    """A store cannot be opened or used as it is; the message names the file and the remedy.

    Examples
    --------
    >>> str(damaged(Path("colme.sqlite"), "row 3 is missing")).partition(";")[0]
    'colme.sqlite is damaged: row 3 is missing'
    """


class StoreBusy(StoreError):  # noqa: N818
    """Another process has the store open.

    Examples
    --------
    >>> str(busy(Path("colme.sqlite"))).partition(":")[0]
    'colme.sqlite is open elsewhere'
    """


class StoreUnwritable(OSError):  # noqa: N818
    """The disk is full or fails: nothing of the write is kept; try again later.

    Examples
    --------
    >>> str(unwritten(Path("colme.sqlite"), OSError("disk is full"))).partition(":")[0]
    'colme.sqlite could not be written'
    """


def busy(path: Path) -> StoreBusy:
    """Return the error for a file that another process has open.

    Examples
    --------
    >>> isinstance(busy(Path("colme.sqlite")), StoreError)
    True
    """
    return StoreBusy(
        f"{path} is open elsewhere: stop the process that has it, or give this one its own folder"
    )


def damaged(path: Path, finding: object) -> StoreError:
    """Return the error for a file whose content cannot be trusted.

    Examples
    --------
    >>> "the device then begins a new life" in str(damaged(Path("a"), "no SQLite file"))
    True
    """
    return StoreError(
        f"{path} is damaged: {finding}; nothing was changed: move it away together with the files "
        "beside it that begin with its name, or choose another folder: the device then begins a "
        "new life"
    )


def inaccessible(path: Path, reason: object) -> StoreError:
    """Return the error for a file or folder that may not be read and written.

    Examples
    --------
    >>> str(inaccessible(Path("state"), "Permission denied")).partition(";")[0]
    'state cannot be read and written: Permission denied'
    """
    return StoreError(
        f"{path} cannot be read and written: {reason}; nothing was changed: give the user that "
        "runs this the right to, or choose another folder"
    )


def unwritten(path: Path, error: Exception) -> StoreError | StoreUnwritable:
    """Return what an error while writing to an open store means.

    Examples
    --------
    >>> type(unwritten(Path("colme.sqlite"), OSError("disk is full"))).__name__
    'StoreUnwritable'
    """
    if _code(error) in _CORRUPT:
        return damaged(path, error)
    reason = str(error) or type(error).__name__
    return StoreUnwritable(
        f"{path} could not be written: {reason}; nothing of it is kept: make room or mend the "
        "disk, then write it again"
    )


def refusal(path: Path, error: sqlite3.Error | OSError) -> StoreError | StoreUnwritable:
    """Return what an error while opening a store means.

    Examples
    --------
    >>> type(refusal(Path("colme.sqlite"), sqlite3.DatabaseError("malformed"))).__name__
    'StoreError'
    >>> type(refusal(Path("colme.sqlite"), OSError(errno.ENOSPC, "No space left"))).__name__
    'StoreUnwritable'
    """
    code = _code(error)
    if code in _LOCKED:
        return busy(path)
    reason = getattr(error, "strerror", None) or str(error)
    if code in _FAILING or getattr(error, "errno", None) in _FAILING_SYSTEM:
        return StoreUnwritable(
            f"{path} could not be opened: {reason}; nothing was changed: make room or mend the "
            "disk, then open it again"
        )
    if code in _CLOSED or isinstance(error, OSError):
        return inaccessible(path, reason)
    return damaged(path, reason)


def _code(error: Exception) -> int:
    # The low byte is the kind of error, those above it only say more about it.
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF
