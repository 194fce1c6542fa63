"""Samples from any Python async iterator.

Lives here: numbering what an iterator gives.  Must not know where its values come from, nor nodes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable

from colme.live.sources.sample_source import OnBad, Sample, count_of, log_refusal
from colme.live.sources.sample_text import as_sample


class IteratorSource:
    """The values of an async iterator, until it ends.

    What it guarantees: given a function that can begin anywhere, each value is delivered exactly
    once, whatever crashes.  A plain iterator cannot resume: values taken from it and not yet
    durable when the process died are lost.  At most two values are taken ahead.

    Parameters
    ----------
    values
        A function, such as an async generator function, that for n returns an async iterator of
        the values from number n + 1 on; or one async iterator, which is used once.
    on_bad
        Called with the reason for each value refused, which keeps its number.

    Examples
    --------
    >>> async def readings(n):
    ...     while n < 3:
    ...         n += 1
    ...         yield n / 10
    >>> async def all_samples(source, resume=None):
    ...     return [(sample.value, sample.position) async for sample in source.samples(resume)]
    >>> asyncio.run(all_samples(IteratorSource(readings), resume="1"))
    [(0.2, '2'), (0.3, '3')]
    >>> asyncio.run(all_samples(IteratorSource(readings(2))))
    [(0.3, '1')]
    """

    def __init__(
        self,
        values: Callable[[int], AsyncIterator[float]] | AsyncIterable[float],
        *,
        on_bad: OnBad = log_refusal,
    ) -> None:
        if not (callable(values) or isinstance(values, AsyncIterable)):
            raise ValueError(  # noqa: TRY004 - one kind of error for all bad input
                "values must be an async iterator, or a function of a number that returns one; "
                f"received {values!r}"
            )
        self._values = values
        self._on_bad = on_bad
        self._taken: asyncio.Queue[tuple[float] | None] = asyncio.Queue(1)
        self._taking: asyncio.Task[None] | None = None
        self._closed = False

    async def samples(self, resume: str | None) -> AsyncIterator[Sample]:
        """Deliver the values after number `resume`."""
        number = count_of(resume)
        self._taking = asyncio.create_task(self._take(self._after(number, resume is not None)))
        try:
            while (taken := await self._taken.get()) is not None and not self._closed:
                number += 1
                try:
                    sample = Sample(as_sample(taken[0]), str(number))
                except ValueError as error:
                    self._on_bad(f"value {number} of the iterator: {error}")
                else:
                    yield sample
            if not self._closed:
                await self._taking  # raises whatever the iterator raised
        finally:
            await self.close()

    async def acknowledge(self, position: str) -> None:
        """Do nothing: `samples` says where to begin again."""

    async def close(self) -> None:
        """Stop the iterator; the iteration over the samples ends."""
        self._closed = True
        if self._taking is not None:
            self._taking.cancel()
            await asyncio.gather(self._taking, return_exceptions=True)

    def _after(self, number: int, is_resumed: bool) -> AsyncIterable[float]:
        if not isinstance(self._values, AsyncIterable):
            return self._values(number)
        if is_resumed:
            self._on_bad(
                "a plain iterator cannot resume: values taken before the last stop and not yet "
                "durable are lost; give a function of the number to begin after to lose none"
            )
        return self._values

    async def _take(self, values: AsyncIterable[float]) -> None:
        # All values are taken in one task: an iterator may hold a timeout or a task group open.
        try:
            async for value in values:
                await self._taken.put((value,))
        finally:
            if hasattr(values, "aclose"):
                await values.aclose()
            if self._closed and self._taken.full():
                self._taken.get_nowait()
            await self._taken.put(None)
