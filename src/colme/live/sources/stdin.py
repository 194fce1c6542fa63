"""Samples from standard input, a line each.

Lives here: reading a pipe, a file or a terminal without ever blocking others.  Must not know who
writes to it, nor nodes.
"""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from collections.abc import AsyncIterator

from colme.live.sources.parsing import Lines, parse
from colme.live.sources.source import OnBad, Sample, log_refusal

__all__ = ["StandardInput"]

CHUNK = 65536


class StandardInput:
    r"""The lines of standard input, until it ends.

    What it can promise: while the process lives, each line is delivered once, in order.  It cannot
    be resumed: lines that were read and not yet durable when the process died are lost, as no one
    can ask a pipe for them again; and a file given as standard input is read again from its start,
    so its lines count twice (follow it by name instead).  A last line without an end counts.

    Parameters
    ----------
    descriptor
        The open file to read, standard input as a rule; it is left open.
    on_bad
        Told the reason for each line refused.

    Examples
    --------
    >>> import asyncio, os
    >>> reader, writer = os.pipe()
    >>> _ = os.write(writer, b"0.5 \nwarm\n0.7"), os.close(writer)
    >>> async def values():
    ...     source = StandardInput(reader, on_bad=lambda reason: print(reason[:53]))
    ...     return [sample.value async for sample in source.samples(None)]
    >>> asyncio.run(values())
    line 2 of standard input: no sample: received 'warm';
    [0.5, 0.7]
    >>> os.close(reader)
    """

    def __init__(self, descriptor: int = 0, *, on_bad: OnBad = log_refusal) -> None:
        self._descriptor = descriptor
        self._on_bad = on_bad
        self._closed = False
        self._awake = asyncio.Event()

    async def samples(self, resume: str | None) -> AsyncIterator[Sample]:
        """Deliver every line from now on; `resume` only warns that nothing can be asked again."""
        if resume is not None:
            self._on_bad(
                "standard input cannot be resumed: lines read before the last stop and not yet "
                "durable are lost; feed a file: or a socket to lose none"
            )
        lines, number = Lines(), 0
        while data := await self._read():
            for line, _ in lines.split(data):
                number += 1
                for sample in self._parsed(line, number):
                    yield sample
        for sample in self._parsed(lines.rest(), number + 1):
            yield sample

    async def acknowledge(self, position: str) -> None:
        """Do nothing: no one who writes to standard input listens."""

    async def close(self) -> None:
        """Stop reading; whoever waits for a line sees the end."""
        self._closed = True
        self._awake.set()

    def _parsed(self, line: bytes, number: int) -> list[Sample]:
        if self._closed or not line.strip():
            return []
        try:
            return [Sample(parse(line), str(number))]
        except ValueError as error:
            self._on_bad(f"line {number} of standard input: {error}")
            return []

    async def _read(self) -> bytes:
        while True:
            await self._ready()
            if self._closed:
                return b""
            try:
                return os.read(self._descriptor, CHUNK)
            except BlockingIOError:
                continue  # another reader of the same pipe was faster
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                return b""  # how a terminal says that it is gone

    async def _ready(self) -> None:
        # A thread could not be stopped while it waits, and the switch to non-blocking reads that
        # asyncio's own pipes need would change the terminal for the shell as well.
        await asyncio.sleep(0)
        if self._closed or stat.S_ISREG(os.fstat(self._descriptor).st_mode):
            return
        loop = asyncio.get_running_loop()
        self._awake.clear()
        try:
            loop.add_reader(self._descriptor, self._awake.set)
        except PermissionError:  # what never waits cannot be waited for: /dev/null
            return
        try:
            await self._awake.wait()
        finally:
            loop.remove_reader(self._descriptor)
