"""Samples from a file that grows, one per line, even if it is moved or truncated meanwhile.

Lives here: following a file by name, as `tail -F` does, and recognising it after a crash.  Must not
know who writes it, nor nodes.
"""

from __future__ import annotations

import asyncio
import contextlib
import glob
import os
import stat
import zlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from colme import _check
from colme.live.sources.sample_source import JsonPosition, OnBad, Sample, log_refusal, sample_of
from colme.live.sources.sample_text import CHUNK, SHOWN, LineSplitter

HEAD = 1024
"""Bytes at the start of a file by which it is recognised: its inode number alone is not enough, as
a new file often gets the number of one just removed."""


class FileSource:
    r"""The lines of a file, those there now and those that will be written.

    What it guarantees: from a file to which lines are only ever added, each line is delivered
    exactly once, whatever crashes.  A line counts once its end is written.  A file replaced by
    another under its name (rotation) is read to its end first.  After a crash it is still found if
    it was moved within its directory to a name that begins with its own (`log` to `log.1`).  Lines
    are lost only if the file is truncated or removed before they were read, and delivered again
    only if the file is rewritten with lines it had before; both are reported to `on_bad`.

    Parameters
    ----------
    path
        The file; it need not exist yet.
    interval
        Seconds between two looks at a file that did not grow.
    on_bad
        Called with the reason for each line refused, and when the file was truncated or replaced.

    Examples
    --------
    >>> import tempfile
    >>> async def values(path, resume=None):
    ...     source = FileSource(path)
    ...     samples = source.samples(resume)
    ...     return await anext(samples), await anext(samples)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "readings"
    ...     _ = path.write_text("0.5\n0.7\n0.6\n")
    ...     first, second = asyncio.run(values(path))
    ...     again, third = asyncio.run(values(path, resume=first.position))
    >>> [sample.value for sample in (first, second, again, third)]
    [0.5, 0.7, 0.7, 0.6]
    """

    def __init__(
        self, path: str | Path, *, interval: float = 0.1, on_bad: OnBad = log_refusal
    ) -> None:
        self.path = Path(path)
        self._interval = _check.positive("interval", interval)
        self._on_bad = on_bad
        self._closed = asyncio.Event()

    async def samples(self, resume: str | None) -> AsyncIterator[Sample]:
        """Deliver each line after the position `resume`, for as long as the source is open."""
        file = None if resume is None else self._reopened(FilePosition.of(resume))
        try:
            while not self._closed.is_set():
                file = file or _LineFile.open(self.path)
                if file is None:
                    await self._pause()
                    continue
                # Checked before reading: what was written before the next file is read before it.
                replaced = self._is_replaced(file)
                data = self._read(file)
                for line, position in file.lines(data):
                    where = f"{self.path}, line before byte {position.offset}"
                    sample = sample_of(line, position.to_text(), where, self._on_bad)
                    if sample is not None:
                        yield sample
                if replaced and not data:
                    self._leave(file)
                    file = None
                await (asyncio.sleep(0) if data or replaced else self._pause())
        finally:
            if file is not None:
                file.close()

    async def acknowledge(self, position: str) -> None:
        """Do nothing: a file keeps what was read from it."""

    async def close(self) -> None:
        """Stop following; the iteration over the samples ends."""
        self._closed.set()

    def _reopened(self, position: FilePosition) -> _LineFile | None:
        name = glob.escape(self.path.name)
        for path in [self.path, *sorted(self.path.parent.glob(f"{name}?*"))]:
            file = _LineFile.open(path, position)
            if file is not None:
                return file
        self._on_bad(
            f"{self.path} is not the file that was read up to byte {position.offset}, and that "
            "one is not beside it: starting at the beginning of the present one"
        )
        return None

    def _is_replaced(self, file: _LineFile) -> bool:
        # An empty file may still wait for its writer, who meanwhile adds to the old one.
        try:
            present = self.path.stat()
        except FileNotFoundError:
            return False
        return present.st_size > 0 and not os.path.samestat(present, file.status())

    def _read(self, file: _LineFile) -> bytes:
        if file.is_rewritten():
            self._on_bad(f"{self.path} was truncated or rewritten: starting at its beginning")
            file.rewind()
        return file.read()

    def _leave(self, file: _LineFile) -> None:
        rest = file.rest()
        ignored = f", ignoring its incomplete last line {rest[:SHOWN]!r}" if rest else ""
        self._on_bad(f"{self.path} was replaced by another file: continuing with it{ignored}")
        file.close()

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._closed.wait(), self._interval)


@dataclass(frozen=True)
class FilePosition(JsonPosition):
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
    >>> FilePosition(inode=12, offset=4, head=100).to_text()
    '{"inode": 12, "offset": 4, "head": 100}'
    """

    place = "a file"

    inode: int
    offset: int
    head: int


class _LineFile:
    """A file opened for reading lines, at its start or at a position."""

    def __init__(self, path: Path, offset: int = 0, head: int = 0) -> None:
        # Without O_NONBLOCK, opening a pipe would wait for a process that writes to it.
        self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        status = self.status()
        if not stat.S_ISREG(status.st_mode):
            self.close()
            raise ValueError(
                f"only a regular file can be followed; received {str(path)!r}: give anything else "
                "as standard input"
            )
        self._inode = status.st_ino
        self._splitter = LineSplitter()
        self._offset = self._n_read = offset
        self._head = head

    @classmethod
    def open(cls, path: Path, position: FilePosition | None = None) -> Self | None:
        """Open a file at its start or a position; None if there is none, or it is another one."""
        try:
            if position is None:
                return cls(path)
            if path.stat().st_ino != position.inode:
                return None
            file = cls(path, position.offset, position.head)
        except FileNotFoundError:
            return None
        if not file.is_rewritten():
            return file
        file.close()
        return None

    def status(self) -> os.stat_result:
        """Return what the system knows of the file."""
        return os.fstat(self._descriptor)

    def is_rewritten(self) -> bool:
        """Whether the file no longer begins with what was read: it was truncated or replaced."""
        start = os.pread(self._descriptor, min(self._offset, HEAD), 0)
        return self.status().st_size < self._n_read or zlib.crc32(start) != self._head

    def rewind(self) -> None:
        """Go to the start of the file and forget what was read from it."""
        self.rest()
        self._offset = self._head = self._n_read = 0

    def read(self) -> bytes:
        """Read on; return nothing at the present end of the file."""
        data = os.pread(self._descriptor, CHUNK, self._n_read)
        self._n_read += len(data)
        return data

    def lines(self, data: bytes) -> Iterator[tuple[bytes, FilePosition]]:
        """Give each line that `data`, just read, completes, and the position after it."""
        for line, length in self._splitter.split(data):
            if self._offset < HEAD:
                self._head = zlib.crc32((line + b"\n")[: HEAD - self._offset], self._head)
            self._offset += length
            yield line, FilePosition(self._inode, self._offset, self._head)

    def rest(self) -> bytes:
        """Return the last line if it is incomplete, and forget it."""
        return self._splitter.rest()

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
