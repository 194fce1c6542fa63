"""One opened file, read line by line, and how it is known again after a crash.

Lives here: a place in a file, and the file opened at it.  Must not know under which name a file is
followed, nor what lines say.
"""

from __future__ import annotations

import json
import os
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from colme import _check
from colme.live.sources.parsing import Lines

__all__ = ["HEAD", "Opened", "Place"]

HEAD = 1024
"""Bytes at the start of a file by which it is known again: a number of the file alone is not
enough, as a new file often gets the number of one just removed."""

CHUNK = 65536


@dataclass(frozen=True)
class Place:
    """After a certain line of a certain file.

    Attributes
    ----------
    inode
        The file's number.  The number of its device is left out: it may change when a machine is
        started again, and the file would then count twice.
    offset
        Bytes up to and including the line.
    head
        Checksum of these bytes, of the first `HEAD` if there are more.

    Examples
    --------
    >>> place = Place(inode=12, offset=4, head=100)
    >>> place.to_text()
    '{"inode": 12, "offset": 4, "head": 100}'
    >>> Place.of(place.to_text()) == place
    True
    """

    inode: int
    offset: int
    head: int

    def to_text(self) -> str:
        """Write the place as text."""
        return json.dumps(vars(self))

    @classmethod
    def of(cls, text: str) -> Self:
        """Read the place from its text, or raise ValueError.

        Examples
        --------
        >>> Place.of("12")
        Traceback (most recent call last):
        ...
        ValueError: no position in a file: received '12'; resume with the source that gave it
        """
        try:
            place = cls(**json.loads(text))
            for name, value in vars(place).items():
                _check.non_negative_int(name, value)
        except (TypeError, ValueError):
            raise ValueError(
                f"no position in a file: received {text!r}; resume with the source that gave it"
            ) from None
        return place


class Opened:
    r"""A file opened for reading lines, at its start or at a place.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     path = Path(place) / "readings"
    ...     _ = path.write_text("0.5\n0.7")
    ...     file = Opened.at_start(path)
    ...     lines = [line for line, _ in file.lines(file.read())]
    ...     file.close()
    >>> lines
    [b'0.5']
    """

    def __init__(self, path: Path) -> None:
        # Without O_NONBLOCK, opening a pipe would wait for whoever writes to it.
        self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        status = self.status()
        if not stat.S_ISREG(status.st_mode):
            self.close()
            raise ValueError(
                f"only a regular file can be followed; received {str(path)!r}: give anything else "
                "as standard input"
            )
        self._inode = status.st_ino
        self._lines = Lines()
        self._offset = self._head = self._n_read = 0

    @classmethod
    def at_start(cls, path: Path) -> Self | None:
        """Open the file at its start, or return None if there is none."""
        try:
            return cls(path)
        except FileNotFoundError:
            return None

    @classmethod
    def at_place(cls, path: Path, place: Place) -> Self | None:
        """Open the file where `place` says, or return None if that is in another file."""
        try:
            if path.stat().st_ino != place.inode:
                return None
            file = cls(path)
        except FileNotFoundError:
            return None
        file._offset, file._head = place.offset, place.head
        file._n_read = place.offset
        if not file.is_rewritten():
            return file
        file.close()
        return None

    def status(self) -> os.stat_result:
        """Return what the system knows of the file."""
        return os.fstat(self._descriptor)

    def is_rewritten(self) -> bool:
        """Whether the file no longer begins with what was read of it: it was cut or replaced."""
        start = os.pread(self._descriptor, min(self._offset, HEAD), 0)
        return self.status().st_size < self._n_read or zlib.crc32(start) != self._head

    def rewind(self) -> None:
        """Go to the start of the file and forget what was read of it."""
        self._lines.rest()
        self._offset = self._head = self._n_read = 0

    def read(self) -> bytes:
        """Read on; nothing if all there is has been read."""
        data = os.pread(self._descriptor, CHUNK, self._n_read)
        self._n_read += len(data)
        return data

    def lines(self, data: bytes) -> Iterator[tuple[bytes, Place]]:
        """Give each line that `data`, just read, completes, and the place after it."""
        for line, length in self._lines.split(data):
            if self._offset < HEAD:
                self._head = zlib.crc32((line + b"\n")[: HEAD - self._offset], self._head)
            self._offset += length
            yield line, Place(self._inode, self._offset, self._head)

    def rest(self) -> bytes:
        """Give the last line if it is incomplete, and forget it."""
        return self._lines.rest()

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
