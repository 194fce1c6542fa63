"""The journal of a sweep: finished points, one checksummed line each; no kill loses any.

Lives here: the file beside the results, its lock, and which of its lines are intact.  Must not know
what a point measures.
"""

from __future__ import annotations

import fcntl
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Self

from colme.sweep.versions import describe_difference


def pack(value: Any) -> bytes:
    r"""Return a value as one line that starts with its checksum.

    Examples
    --------
    >>> pack({"point": 7})
    b'b9b24d21 {"point":7}\n'
    """
    payload = json.dumps(value, separators=(",", ":")).encode()
    return b"%08x %b\n" % (zlib.crc32(payload), payload)


def unpack(line: bytes) -> Any:
    r"""Return the value of a whole line; raise ValueError if it is not as it was written.

    Examples
    --------
    >>> unpack(pack({"point": 7}))
    {'point': 7}
    >>> unpack(b'b9b24d21 {"point":8}\n')
    Traceback (most recent call last):
    ValueError: this line is not as it was written
    """
    checksum, _, payload = line.removesuffix(b"\n").partition(b" ")
    if not line.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(payload):
        raise ValueError("this line is not as it was written")
    return json.loads(payload)


class Journal:
    """Finished points of one sweep, in a file that one process holds at a time.

    The first line says which sweep it is of.  What follows the first line that is not whole is
    dropped: its writer was killed.

    Parameters
    ----------
    path
        Where it is; it is made if it is missing, and held until `close`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     path = Path(place, "results.parquet.journal")
    ...     with Journal(path) as journal:
    ...         journal.begin({"specification": "abc"})
    ...         journal.append(3, {"run": [0, 1]})
    ...     with Journal(path) as journal:
    ...         journal.go_on({"specification": "abc"}), journal.finished, journal.read(3)
    (True, frozenset({3}), {'run': [0, 1]})
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = _hold(path)
        self._places: dict[int, int] = {}
        self._is_ours = self._is_removed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def finished(self) -> frozenset[int]:
        """The numbers of the points that are in it."""
        return frozenset(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def go_on(self, head: Mapping[str, Any]) -> bool:
        """Continue what is there if it belongs to this sweep; return whether it does."""
        self._file.seek(0)
        if self._file.readline() != pack(head):
            return False
        end = self._file.tell()
        for line in iter(self._file.readline, b""):
            try:
                self._places[unpack(line)["point"]] = end
            except ValueError:
                break
            end += len(line)
        self._file.truncate(end)
        self._is_ours = True
        return True

    def check_free(self, head: Mapping[str, Any]) -> None:
        """Raise ValueError if points of another sweep are in it, which `begin` would drop."""
        self._file.seek(0)
        line = self._file.readline()
        if pack(head).startswith(line):  # nothing, or killed while it wrote this very line
            return
        try:
            found = unpack(line)
            why = _difference(head, found)
        except (ValueError, TypeError, KeyError):
            why = "is not a journal of this version of colme"
        raise ValueError(
            f"{str(self.path)!r} {why}; nothing was changed: run that sweep to its end, choose "
            "another --out, or drop its points with --overwrite"
        )

    def begin(self, head: Mapping[str, Any]) -> None:
        """Drop whatever is there, and begin a new journal."""
        self._file.truncate(0)
        self._file.seek(0)
        self._is_ours = True
        self._write(pack(head))
        sync_folder(self.path.parent)

    def append(self, point: int, rows: Any) -> None:
        """Keep a finished point; when this returns, not even a power failure undoes it."""
        self._places[point] = self._file.seek(0, os.SEEK_END)
        self._write(pack({"point": point, "rows": rows}))

    def read(self, point: int) -> Any:
        """Return what was kept of a point."""
        self._file.seek(self._places[point])
        return unpack(self._file.readline())["rows"]

    def remove(self) -> None:
        """Remove the file: the results hold everything."""
        if not self._is_removed:  # what has its name by now is another's
            self.path.unlink(missing_ok=True)
        self._is_removed = True

    def close(self) -> None:
        """Release the file; a journal of this sweep without any point is removed."""
        if not self._file.closed:
            is_empty = os.fstat(self._file.fileno()).st_size == 0
            if is_empty or (self._is_ours and not self._places):
                self.remove()
            self._file.close()

    def _write(self, line: bytes) -> None:
        with writing(self.path):
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say what to do if a file cannot be written, for example because the disk is full.

    Examples
    --------
    >>> with writing(Path("results.parquet")):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    OSError: cannot write 'results.parquet': No space left on device; finished points are kept: \
free the path, and the same sweep continues
    """
    try:
        yield
    except OSError as error:
        raise OSError(
            f"cannot write {str(path)!r}: {error.strerror or error}; finished points are kept: "
            "free the path, and the same sweep continues"
        ) from None


def sync_folder(folder: Path) -> None:
    """Make sure that what was made, renamed or removed in a folder survives a power failure.

    Examples
    --------
    >>> sync_folder(Path("."))
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _hold(path: Path) -> BinaryIO:
    """Return the open file, held for this process alone: free again however the process ends."""
    while True:
        with writing(path):
            file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise ValueError(
                f"another sweep is writing to {str(path)!r}: wait for its end, or choose another "
                "--out"
            ) from None
        # Another sweep may have come to its end, and removed the file, since it was opened.
        if path.exists() and os.path.samestat(path.stat(), os.fstat(file.fileno())):
            return file
        file.close()


def _difference(head: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """Return how the sweep of a journal differs, in words."""
    if found["specification"] != head["specification"]:
        return "holds points of another sweep, or of another version of colme"
    differing = describe_difference(head["versions"], found["versions"])
    return f"was begun with other versions ({differing}): continue with those"
