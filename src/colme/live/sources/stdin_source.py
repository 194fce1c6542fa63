"""Samples from standard input, one per line.

Lives here: reading a pipe, a file or a terminal without ever blocking the event loop.  Must not
know who writes to it, nor nodes.
"""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field

from colme.live.sources.sample_source import OnBad, Sample, log_refusal, sample_of
from colme.live.sources.sample_text import CHUNK, LineSplitter


@dataclass(eq=False)
class StdinSource:
    r"""The lines of standard input, until it ends.

    What it guarantees: while the process lives, each line is delivered once, in order.  It cannot
    resume: lines that were read and not yet durable when the process died are lost, because a pipe
    cannot repeat them.  A file given as standard input is read again from its start, so its lines
    count twice (follow it by name instead).  A last line without an end counts.

    Parameters
    ----------
    descriptor
        The open file to read, standard input as a rule; it is left open.
    on_bad
        Called with the reason for each line refused.

    Examples
    --------
    >>> import asyncio, os
    >>> reader, writer = os.pipe()
    >>> _ = os.write(writer, b"0.5 \nwarm\n0.7"), os.close(writer)
    >>> async def values():
    ...     source = StdinSource(reader, on_bad=lambda reason: print(reason[:56]))
    ...     return [sample.value async for sample in source.samples(None)]
    >>> asyncio.run(values())
    line 2 of standard input: not a sample: received 'warm';
    [0.5, 0.7]
    >>> os.close(reader)
    """

    descriptor: int = 0
    _: KW_ONLY
    on_bad: OnBad = log_refusal
    _closed: bool = False
    _awake: asyncio.Event = field(default_factory=asyncio.Event)

    async def samples(self, resume: str | None) -> AsyncIterator[Sample]:
        """Deliver every line from now on; with `resume`, report that nothing can be repeated."""
        if resume is not None:
            self.on_bad(
                "standard input cannot resume: lines read before the last stop and not yet "
                "durable are lost; use a file: or a socket to lose none"
            )
        splitter, number, is_open = LineSplitter(), 0, True
        while is_open:
            data = await self._read()
            is_open = bool(data)
            lines = [line for line, _ in splitter.split(data)] if data else [splitter.rest()]
            for line in lines:
                number += 1
                if self._closed:
                    return
                where = f"line {number} of standard input"
                sample = sample_of(line, str(number), where, self.on_bad)
                if sample is not None:
                    yield sample

    async def acknowledge(self, position: str) -> None:
        """Do nothing: the writer of standard input does not listen."""

    async def close(self) -> None:
        """Stop reading; the iteration over the samples ends."""
        self._closed = True
        self._awake.set()

    async def _read(self) -> bytes:
        """Return what has come, once something has; nothing at the end, or once closed."""
        loop = asyncio.get_running_loop()
        while True:
            # A thread could not be stopped while it waits, and the switch to non-blocking reads
            # that asyncio's own pipes need would change the terminal for the shell as well.
            await asyncio.sleep(0)
            if not self._closed and not stat.S_ISREG(os.fstat(self.descriptor).st_mode):
                self._awake.clear()
                with suppress(PermissionError):  # always ready, like /dev/null
                    loop.add_reader(self.descriptor, self._awake.set)
                    try:
                        await self._awake.wait()
                    finally:
                        loop.remove_reader(self.descriptor)
            if self._closed:
                return b""
            try:
                return os.read(self.descriptor, CHUNK)
            except BlockingIOError:
                continue  # another reader of the same pipe was faster
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                return b""  # the terminal is gone
