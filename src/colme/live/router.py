"""A router: where the nodes of a large fleet meet, and those that cannot reach each other.

Holds its settings, whom it lets speak, and what it counts.  Must not know agents.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Self

from pydantic import Field, model_validator

from colme.live.connection_config import ConnectionConfig
from colme.live.keys import Identity
from colme.live.network import Link
from colme.live.settings import LinkSettings, Name

log = logging.getLogger("colme.live")


class RouterSettings(LinkSettings):
    """The settings of a router.

    Examples
    --------
    >>> RouterSettings(fleet="home").listen
    ('127.0.0.1:7447',)
    """

    listen: tuple[str, ...] = Field(default=("127.0.0.1:7447",), min_length=1)
    fleet: Name
    """Name of the fleet."""
    every: float = Field(default=60.0, gt=0)
    """Seconds from one line to the next."""

    @model_validator(mode="after")
    def _check_connection(self) -> Self:
        self.connection_of("router")
        return self

    def connection(self) -> ConnectionConfig:
        """Return how the router is connected; with keys, each member speaks in its own name."""
        connection = self.connection_of("router")
        if self.keys is None:
            return connection
        identity = Identity.load(self.keys)
        if identity.fleet != self.fleet:
            raise ValueError(
                f"the keys in {str(self.keys)!r} are of the fleet {identity.fleet!r}; received "
                f"{self.fleet!r}: name that fleet, or give keys of this one"
            )
        return replace(connection, members=identity.members)


class Router:
    """A meeting point for nodes.

    Examples
    --------
    >>> async def main() -> dict[str, Any]:
    ...     router = Router(RouterSettings(fleet="home", listen=("127.0.0.1:0",)))
    ...     router.stop()
    ...     await router.run()
    ...     return router.report()
    >>> asyncio.run(main())
    {'fleet': 'home', 'links': 0, 'opened': 0, 'closed': 0, 'strangers': 0}
    """

    def __init__(self, settings: RouterSettings) -> None:
        self._settings, self._connection = settings, settings.connection()
        self._counts: Counter[str] = Counter()
        self._stop = asyncio.Event()

    async def run(self, emit: Callable[[dict[str, Any]], None] | None = None) -> None:
        """Carry messages until stopped; call `emit` with the counts now and then."""
        link = Link(self._connection, self._settings.fleet)
        link.links(self._note)
        await link.open()
        try:
            while not self._stop.is_set():
                if emit is not None:
                    emit(self.report())
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stop.wait(), self._settings.every)
        finally:
            await link.close()

    def stop(self) -> None:
        """Let `run` end soon."""
        self._stop.set()

    def count_stranger(self, reason: str) -> None:
        """Count a link that was refused for want of a valid certificate."""
        self._counts["strangers"] += 1
        log.warning("a link without a valid certificate was refused: %s", reason)

    def report(self) -> dict[str, Any]:
        """Return how many links are open, were opened, closed and refused."""
        opened, closed = self._counts["opened"], self._counts["closed"]
        return {
            "fleet": self._settings.fleet,
            "links": opened - closed,
            "opened": opened,
            "closed": closed,
            "strangers": self._counts["strangers"],
        }

    def _note(self, is_open: bool, name: str | None) -> None:
        event = "opened" if is_open else "closed"
        self._counts[event] += 1
        log.info("link %s: %s", event, name or "no certificate")
