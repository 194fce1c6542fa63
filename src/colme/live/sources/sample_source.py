"""What a source of samples is: it delivers one agent's samples, and learns when they are durable.

Lives here: a sample, its position in its source, and the three verbs of every source.  Must not
know where samples come from, nor who stores them.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self, TypeAlias, runtime_checkable

from colme import _check
from colme.live.sources.sample_text import parse_numbered


@dataclass(frozen=True)
class JsonPosition:
    """A position that is written as a JSON object: the base of those with several numbers.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Page(JsonPosition):
    ...     place = "a book"
    ...     page: int
    >>> Page(12).to_text(), Page.of('{"page": 12}')
    ('{"page": 12}', Page(page=12))
    >>> Page.of("12")
    Traceback (most recent call last):
    ...
    ValueError: not a position in a book: received '12'; resume with the source that gave it
    """

    place: ClassVar[str]
    """What the position is in, for messages."""
    optional: ClassVar[tuple[str, ...]] = ()
    """The numbers that may be None."""

    def to_text(self) -> str:
        """Write the position as text."""
        return json.dumps(vars(self))

    @classmethod
    def of(cls, text: str) -> Self:
        """Read the position from its text, or raise ValueError."""
        try:
            position = cls(**json.loads(text))
            for name, value in vars(position).items():
                if value is not None or name not in cls.optional:
                    _check.non_negative_int(name, value)
        except (TypeError, ValueError):
            raise _not_a_position(f"position in {cls.place}", text) from None
        return position


@dataclass(frozen=True)
class Sample:
    """One sample, and the position of its source after it.

    The position is a short text that only the source reads: everything up to and including this
    sample.

    Examples
    --------
    >>> Sample(0.5, position="3")
    Sample(value=0.5, position='3')
    """

    value: float
    position: str


@runtime_checkable
class SampleSource(Protocol):
    """One agent's samples, in order, each with its position.

    The reader of a source stores each value together with its position in one durable step, then
    acknowledges that position.  After a crash it resumes at the last position stored.  It must
    acknowledge what it was given within bounded time even if nothing more arrives, because some
    sources wait for that.  No source reads ahead without limit.

    Examples
    --------
    >>> import asyncio
    >>> from colme.live.sources import IteratorSource
    >>> async def readings(n):
    ...     for value in (0.5, 0.7, 0.6)[n:]:
    ...         yield value
    >>> async def values(source: SampleSource, resume: str | None) -> list[float]:
    ...     return [sample.value async for sample in source.samples(resume)]
    >>> asyncio.run(values(IteratorSource(readings), resume="1"))
    [0.7, 0.6]
    """

    def samples(self, resume: str | None) -> AsyncIterator[Sample]:
        """Deliver what follows the position `resume`, or all if it is None, until the source ends.

        A source is read once: to read again, make another one.
        """

    def acknowledge(self, position: str) -> Awaitable[None]:
        """Note that everything up to `position` is durable."""

    async def close(self) -> None:
        """Release what the source holds open, and end the iteration over its samples."""


OnBad: TypeAlias = Callable[[str], None]
"""Called with the reason for each line a source refuses, and with other news for the user."""

log_refusal: OnBad = logging.getLogger("colme.live").warning
"""What a source does with a refusal unless it is given an `on_bad`."""


def count_of(position: str | None) -> int:
    """Read a position that is a number of samples, 0 if there is none yet, or raise ValueError.

    Examples
    --------
    >>> count_of("12"), count_of(None)
    (12, 0)
    """
    if position is None:
        return 0
    if not (position.isascii() and position.isdigit()):
        raise _not_a_position("number of samples", position)
    return int(position)


def sample_of(line: bytes, position: str, where: str, on_bad: OnBad) -> Sample | None:
    """Return the sample in a line, or None if the line is blank, or refused with where it is.

    Examples
    --------
    >>> sample_of(b"0.5", "3", "line 3", on_bad=print)
    Sample(value=0.5, position='3')
    """
    if not line.strip():
        return None
    try:
        return Sample(parse_numbered(line).value, position)
    except ValueError as error:
        on_bad(f"{where}: {error}")
        return None


def _not_a_position(kind: str, text: str) -> ValueError:
    return ValueError(f"not a {kind}: received {text!r}; resume with the source that gave it")
