"""Samples from a file that grows, a line each, wherever it is moved or cut meanwhile.

Lives here: following a file by name, as `tail -F` does.  Must not know who writes it, how one
opened file is read, nor nodes.
"""

from __future__ import annotations

import asyncio
import contextlib
import glob
import os
from collections.abc import AsyncIterator
from pathlib import Path

from colme import _check
from colme.live.sources.opened import Opened, Place
from colme.live.sources.parsing import parse
from colme.live.sources.source import OnBad, Sample, log_refusal

__all__ = ["Following"]


class Following:
    r"""The lines of a file, those there now and those that will be written.

    What it can promise: from a file to which lines are only ever added, each line is delivered
    exactly once, whatever crashes.  A line counts once its end is written.  A file replaced by
    another under its name (rotation) is read to its end first; after a crash it is still found if
    it was moved within its directory to a name that begins with its own (`log` to `log.1`).  Lines
    are lost only if the file is cut or removed before they were read, and lines are delivered
    again only if it is written anew with lines it had before; both are told to `on_bad`.

    Parameters
    ----------
    path
        The file; it need not be there yet.
    interval
        Seconds between two looks at a file that did not grow.
    on_bad
        Told the reason for each line refused, and when the file was cut or replaced.

    Examples
    --------
    >>> import tempfile
    >>> async def values(path, resume=None):
    ...     source = Following(path)
    ...     samples = source.samples(resume)
    ...     return await anext(samples), await anext(samples)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     path = Path(place) / "readings"
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
        file = None if resume is None else self._resumed(resume)
        try:
            while not self._closed.is_set():
                file = file or Opened.at_start(self.path)
                if file is None:
                    await self._pause()
                    continue
                # Asked before reading: what was written before the next file is read before it.
                replaced = self._is_replaced(file)
                data = self._read(file)
                for line, place in file.lines(data):
                    sample = self._parsed(line, place)
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
        """Do nothing: a file keeps what was read of it."""

    async def close(self) -> None:
        """Stop following; whoever waits for a line sees the end."""
        self._closed.set()

    def _resumed(self, resume: str) -> Opened | None:
        place, name = Place.of(resume), glob.escape(self.path.name)
        for path in [self.path, *sorted(self.path.parent.glob(f"{name}?*"))]:
            file = Opened.at_place(path, place)
            if file is not None:
                return file
        self._on_bad(
            f"{self.path} is not the file that was read up to byte {place.offset}, and that one is "
            "not beside it: starting at the beginning of the present one"
        )
        return None

    def _is_replaced(self, file: Opened) -> bool:
        # An empty file may still wait for its writer, who meanwhile adds to the old one.
        try:
            present = self.path.stat()
        except FileNotFoundError:
            return False
        return present.st_size > 0 and not os.path.samestat(present, file.status())

    def _read(self, file: Opened) -> bytes:
        if file.is_rewritten():
            self._on_bad(f"{self.path} was cut or written anew: starting at its beginning")
            file.rewind()
        return file.read()

    def _leave(self, file: Opened) -> None:
        rest = file.rest()
        cut = f", its incomplete last line {rest[:60]!r} left out" if rest else ""
        self._on_bad(f"{self.path} was replaced by another file: going on with that one{cut}")
        file.close()

    def _parsed(self, line: bytes, place: Place) -> Sample | None:
        if not line.strip():
            return None
        try:
            return Sample(parse(line), place.to_text())
        except ValueError as error:
            self._on_bad(f"{self.path}, line before byte {place.offset}: {error}")
            return None

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._closed.wait(), self._interval)
