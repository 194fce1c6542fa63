"""What a source of samples is: it delivers one agent's samples and hears when they are durable.

Lives here: a sample with its place in its source, and the three verbs of every source.  Must not
know where samples come from, nor who stores them.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

__all__ = ["Sample", "Source", "counted", "log_refusal"]

OnBad: TypeAlias = Callable[[str], None]
"""Told the reason for each line that a source refuses, and of whatever else a user should know."""

LOG = logging.getLogger("colme.live")


@dataclass(frozen=True)
class Sample:
    """One sample, and where its source stands after it.

    Attributes
    ----------
    value
        The sample.
    position
        A short text that only the source itself reads: all up to and including this sample.

    Examples
    --------
    >>> Sample(0.5, position="3")
    Sample(value=0.5, position='3')
    """

    value: float
    position: str


@runtime_checkable
class Source(Protocol):
    """One agent's samples, in order, each with its position.

    Whoever reads a source stores each value together with its position in one durable step, then
    acknowledges that position; after a crash it resumes at the last position stored.  It must
    acknowledge what it was given within bounded time even if nothing more arrives: some sources
    wait for that.  No source reads ahead without limit.

    Examples
    --------
    >>> import asyncio
    >>> from colme.live.sources import Iterating
    >>> async def readings(n):
    ...     for value in (0.5, 0.7, 0.6)[n:]:
    ...         yield value
    >>> async def values(source: Source, resume: str | None) -> list[float]:
    ...     return [sample.value async for sample in source.samples(resume)]
    >>> asyncio.run(values(Iterating(readings), resume="1"))
    [0.7, 0.6]
    """

    def samples(self, resume: str | None) -> AsyncIterator[Sample]:
        """Deliver what follows the position `resume`, or all if it is None, until the source ends.

        A source is read once: to read again, make another one.
        """

    def acknowledge(self, position: str) -> Awaitable[None]:
        """Hear that everything up to `position` is durable."""

    async def close(self) -> None:
        """Give up what the source holds open; whoever waits for its next sample sees its end."""


def counted(position: str | None) -> int:
    """Read a position that is a number of samples, 0 if there is none yet, or raise ValueError.

    Examples
    --------
    >>> counted("12"), counted(None)
    (12, 0)
    >>> counted("the middle")
    Traceback (most recent call last):
    ...
    ValueError: no number of samples: received 'the middle'; resume with the source that gave it
    """
    if position is None:
        return 0
    if not (position.isascii() and position.isdigit()):
        raise ValueError(
            f"no number of samples: received {position!r}; resume with the source that gave it"
        )
    return int(position)


def log_refusal(reason: str) -> None:
    """Log the reason as a warning: what a source does unless it is given an `on_bad`.

    Examples
    --------
    >>> log_refusal("a sample must be a number; received 'hot'")
    """
    LOG.warning("%s", reason)
