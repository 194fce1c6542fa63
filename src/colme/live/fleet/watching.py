"""Watching a fleet: who is there, and the latest snapshot of each agent.

Lives here: a link that only listens, and what it makes of what it hears.  Must not know what is
true, nor what is shown to whom.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from colme.live.network import Link
from colme.live.pace import running_clock
from colme.live.wire import check_name
from colme.live.wiring import Wiring

__all__ = ["Watcher", "read_snapshot"]

_MOST_BYTES = 65536
"""No snapshot is longer."""
_LONGEST_WORD = 64
_COUNTS = ("count", "samples", "class_size", "likely_size", "known", "present", "life", "epoch")
_NUMBERS = ("mean", "estimate")
_TALLIES = ("messages", "refused")


def read_snapshot(payload: bytes) -> dict[str, Any]:
    """Return a snapshot as an agent published it, or raise ValueError if it is none.

    Everybody may publish, so nothing is taken for granted.

    Examples
    --------
    >>> read_snapshot(b"[]")
    Traceback (most recent call last):
    ValueError: not a snapshot: a table was expected
    """
    if len(payload) > _MOST_BYTES:
        raise ValueError(f"not a snapshot: {len(payload)} bytes are more than {_MOST_BYTES}")
    try:
        report = json.loads(payload, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a snapshot: {error}") from None
    if not isinstance(report, dict):
        raise ValueError("not a snapshot: a table was expected")  # noqa: TRY004
    check_name("agent", report.get("agent"))
    check_name("fleet", report.get("fleet"))
    _check_values(report)
    return report


def _check_values(report: dict[str, Any]) -> None:
    whole = [report.get(word) for word in _COUNTS]
    for word in _TALLIES:
        tally = report.get(word)
        if not isinstance(tally, dict) or not all(map(_is_word, tally)):
            raise ValueError(f"not a snapshot: {word} must be a table of words and counts")
        whole += tally.values()
    if not all(type(value) is int and value >= 0 for value in whole):
        raise ValueError("not a snapshot: counts must be whole numbers")
    delay = report.setdefault("delay", {})
    if not isinstance(delay, dict):
        raise ValueError("not a snapshot: delay must be a table")  # noqa: TRY004
    numbers = [report.get(word) for word in _NUMBERS] + [delay.get(word) for word in delay]
    if not all(value is None or _is_number(value) for value in numbers):
        raise ValueError("not a snapshot: means and delays must be numbers")


def _is_word(key: str) -> bool:
    """Return whether a reason can be shown on a terminal as it is."""
    return key.isprintable() and len(key) <= _LONGEST_WORD


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]


class Watcher:
    """A listener in a fleet.  Must be made and used within a running event loop.

    Parameters
    ----------
    wiring
        How it is connected.
    fleet
        The fleet's name.
    take
        Called with every snapshot.

    Attributes
    ----------
    snapshots
        The latest of each agent, by name.
    present
        The names of the agents that are there.
    n_refused
        How many publications were no snapshots of this fleet.

    Examples
    --------
    >>> import asyncio
    >>> async def main() -> dict[str, Any]:
    ...     watcher = Watcher(Wiring("peer", listen=("127.0.0.1:0",)), "home")
    ...     await watcher.open()
    ...     await watcher.close()
    ...     return watcher.snapshots
    >>> asyncio.run(main())
    {}
    """

    def __init__(
        self, wiring: Wiring, fleet: str, take: Callable[[dict[str, Any]], None] | None = None
    ) -> None:
        self.snapshots: dict[str, dict[str, Any]] = {}
        self.present: set[str] = set()
        self.n_refused = 0
        self.is_connected = False
        self._fleet, self._tell = fleet, take
        self._arrived: dict[str, float] = {}
        self._link = Link(wiring, fleet)
        self._link.follow(self._take)
        self._link.watch(self.present.add, self.present.discard)

    async def open(self) -> None:
        """Connect; a client waits for somebody to connect to, as long as it takes."""
        await self._link.open()
        self.is_connected = True

    async def close(self) -> None:
        """Listen no more."""
        await self._link.close()

    def age(self, name: str) -> float:
        """Return how many seconds ago an agent's last snapshot came."""
        return running_clock() - self._arrived[name]

    def _take(self, name: str, payload: bytes) -> None:
        try:
            report = read_snapshot(payload)
        except ValueError:
            self.n_refused += 1
            return
        if (report["fleet"], report["agent"]) != (self._fleet, name):
            self.n_refused += 1
            return
        self.snapshots[report["agent"]] = report
        self._arrived[report["agent"]] = running_clock()
        if self._tell is not None:
            self._tell(report)
