"""Watching a fleet: who is present, and the latest snapshot of each agent.

Lives here: a link that only listens, and checks of what it receives.  Must not know the truth, nor
what is shown.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, Field, ValidationError

from colme._settings import explain
from colme.live.connection_config import ConnectionConfig
from colme.live.network import Link
from colme.live.schedule import running_clock
from colme.live.settings import Name

_MOST_BYTES = 65536
"""No snapshot is longer."""

_Count: TypeAlias = Annotated[int, Field(strict=True, ge=0)]
_Number: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False)] | None
_Counts: TypeAlias = dict[Annotated[str, Field(pattern=r"^[\w ,-]{1,64}$")], _Count]
"""Words that can be shown on a terminal as they are, and how often each came."""


class _Snapshot(BaseModel):
    """What every snapshot contains; see `colme.live.node_report`."""

    agent: Name
    fleet: Name
    count: _Count
    samples: _Count
    class_size: _Count
    likely_size: _Count
    known: _Count
    present: _Count
    life: _Count
    epoch: _Count
    mean: _Number
    estimate: _Number
    messages: _Counts
    refused: _Counts
    delay: dict[str, _Number] = {}


def read_snapshot(payload: bytes) -> dict[str, Any]:
    """Return a snapshot as an agent published it, or raise ValueError if it is not one.

    Anybody may publish, so everything is checked.

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
        if not isinstance(report, dict):
            raise ValueError("a table was expected")  # noqa: TRY004, TRY301
        _Snapshot.model_validate(report)
    except ValidationError as error:
        raise ValueError(f"not a snapshot: {explain(error)}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a snapshot: {error}") from None
    return {"delay": {}} | report


@dataclass(eq=False)
class Watcher:
    """A listener in a fleet.  Must be made and used within a running event loop.

    Parameters
    ----------
    connection
        How it is connected.
    fleet
        The fleet's name.
    on_snapshot
        Called with every snapshot.

    Attributes
    ----------
    snapshots
        The latest of each agent, by name.
    present
        The names of the agents that are present.

    Examples
    --------
    >>> async def main() -> dict[str, Any]:
    ...     watcher = Watcher(ConnectionConfig("peer", listen=("127.0.0.1:0",)), "home")
    ...     await watcher.open()
    ...     await watcher.close()
    ...     return watcher.snapshots
    >>> asyncio.run(main())
    {}
    """

    connection: ConnectionConfig
    fleet: str
    on_snapshot: Callable[[dict[str, Any]], None] | None = None

    def __post_init__(self) -> None:
        self.snapshots: dict[str, dict[str, Any]] = {}
        self.present: set[str] = set()
        self.is_connected = False
        self._opening: asyncio.Task[None] | None = None
        self._arrived: dict[str, float] = {}
        self._link = Link(self.connection, self.fleet)
        self._link.follow(self._take)
        self._link.watch(self.present.add, self.present.discard)

    async def open(self) -> None:
        """Connect; a client waits until there is a process to connect to."""
        await self._link.open()
        self.is_connected = True

    def start(self) -> None:
        """Connect in the background; see `check`."""
        self._opening = asyncio.create_task(self.open())

    def check(self) -> None:
        """Raise what has prevented the connection, if anything has."""
        if self._opening is not None and self._opening.done():
            self._opening.result()

    async def close(self) -> None:
        """Stop listening."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
        await self._link.close()

    def age(self, name: str) -> float:
        """Return how many seconds ago an agent's last snapshot arrived."""
        return running_clock() - self._arrived[name]

    def _take(self, name: str, payload: bytes) -> None:
        try:
            report = read_snapshot(payload)
        except ValueError:
            return
        if (report["fleet"], report["agent"]) != (self.fleet, name):
            return
        self.snapshots[name] = report
        self._arrived[name] = running_clock()
        if self.on_snapshot is not None:
            self.on_snapshot(report)
