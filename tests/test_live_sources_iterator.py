"""Samples from async iterators: numbers, resuming, and the end."""

import asyncio
import math
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest

from colme.live.sources import IteratorSource, SampleSource


async def three(n: int) -> AsyncIterator[float]:
    for value in (0.5, 0.7, 0.6)[n:]:
        yield value


async def collect(source: SampleSource, resume: str | None = None) -> list[tuple[float, str]]:
    return [(sample.value, sample.position) async for sample in source.samples(resume)]


def test_an_iterator_made_for_a_number_resumes_after_it() -> None:
    assert asyncio.run(collect(IteratorSource(three))) == [(0.5, "1"), (0.7, "2"), (0.6, "3")]
    assert asyncio.run(collect(IteratorSource(three), "2")) == [(0.6, "3")]


def test_a_plain_iterator_says_that_it_cannot_resume() -> None:
    notes: list[str] = []
    source = IteratorSource(three(0), on_bad=notes.append)
    assert asyncio.run(collect(source, "7")) == [(0.5, "8"), (0.7, "9"), (0.6, "10")]
    assert len(notes) == 1
    assert "cannot resume" in notes[0]


def test_values_that_are_no_samples_are_refused_and_counted() -> None:
    async def mixed() -> AsyncIterator[Any]:
        for value in (1, math.nan, "2", True, None, np.float32(0.5), 10**400, 2.0):
            yield value

    notes: list[str] = []
    samples = asyncio.run(collect(IteratorSource(mixed(), on_bad=notes.append)))
    assert samples == [(1.0, "1"), (0.5, "6"), (2.0, "8")]
    assert len(notes) == 5
    assert "value 3 of the iterator: a sample must be a finite number" in notes[1]


def test_what_an_iterator_raises_comes_after_what_it_gave() -> None:
    async def failing() -> AsyncIterator[float]:
        yield 1.0
        raise OSError("the sensor is gone")

    async def read() -> list[float]:
        samples = IteratorSource(failing()).samples(None)
        found = [(await anext(samples)).value]
        with pytest.raises(OSError, match="the sensor is gone"):
            await anext(samples)
        return found

    assert asyncio.run(read()) == [1.0]


def test_an_iterator_is_not_read_ahead_and_is_closed_in_the_end() -> None:
    given_out, closed = [], []

    async def endless(n: int) -> AsyncIterator[float]:
        try:
            while True:
                n += 1
                given_out.append(n)
                yield float(n)
        finally:
            closed.append(True)

    async def read() -> None:
        source = IteratorSource(endless)
        async for sample in source.samples(None):
            await asyncio.sleep(0.001)
            if sample.position == "3":
                await source.close()

    asyncio.run(read())
    assert len(given_out) <= 5
    assert closed == [True]


def test_closing_ends_the_wait_for_an_iterator() -> None:
    async def silent(n: int) -> AsyncIterator[float]:
        await asyncio.Event().wait()
        yield 0.0

    async def read() -> list[tuple[float, str]]:
        source = IteratorSource(silent)
        reading = asyncio.create_task(collect(source))
        await asyncio.sleep(0.01)
        await source.close()
        return await asyncio.wait_for(reading, 1)

    assert asyncio.run(read()) == []


def test_only_iterators_can_be_iterated() -> None:
    values: Any = [1.0]
    with pytest.raises(ValueError, match=r"values must be an async iterator.*received \[1.0\]"):
        IteratorSource(values)
