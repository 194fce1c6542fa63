"""The router: where the nodes of a large fleet meet, and those that cannot reach each other.

Lives here: its settings, whom it lets speak, and what it counts.  Must not know agents.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from colme._settings import Table
from colme.live.keys import Identity
from colme.live.network import Link
from colme.live.settings import Name
from colme.live.wiring import Wiring

__all__ = ["Router", "RouterSettings"]

log = logging.getLogger("colme.live")


class RouterSettings(Table):
    """What a router is told.

    Examples
    --------
    >>> RouterSettings(fleet="home").listen
    ('127.0.0.1:7447',)
    """

    fleet: Name
    listen: tuple[str, ...] = Field(default=("127.0.0.1:7447",), min_length=1)
    connect: tuple[str, ...] = ()
    keys: Path | None = None
    insecure: bool = False
    every: float = Field(default=60.0, gt=0)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.keys is None:
            self.wiring()
        return self

    def wiring(self) -> Wiring:
        """Return how the router is connected; with keys, each member speaks in its own name."""
        identity = None if self.keys is None else Identity.load(self.keys)
        if identity is not None and identity.fleet != self.fleet:
            raise ValueError(
                f"the keys in {str(self.keys)!r} are of the fleet {identity.fleet!r}; received "
                f"{self.fleet!r}: name that fleet, or give keys of this one"
            )
        members = None if identity is None else identity.members
        return Wiring("router", self.listen, self.connect, identity, self.insecure, members)


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
        self._settings, self._wiring = settings, settings.wiring()
        self._counts: Counter[str] = Counter()
        self._stop = asyncio.Event()

    async def run(self, emit: Callable[[dict[str, Any]], None] | None = None) -> None:
        """Carry messages until stopped; give what it counts to `emit` now and then."""
        link = Link(self._wiring, self._settings.fleet)
        link.links(self._note)
        await link.open()
        try:
            while not self._stop.is_set():
                if emit is not None:
                    emit(self.report())
                try:
                    await asyncio.wait_for(self._stop.wait(), self._settings.every)
                except TimeoutError:
                    continue
        finally:
            await link.close()

    def stop(self) -> None:
        """Let `run` end soon."""
        self._stop.set()

    def turn_away(self, reason: str) -> None:
        """Count somebody who had no valid certificate."""
        self._counts["strangers"] += 1
        log.warning("a stranger was turned away: %s", reason)

    def report(self) -> dict[str, Any]:
        """Return how many links are open, were opened and closed, and who was turned away."""
        counts = self._counts
        return {
            "fleet": self._settings.fleet,
            "links": counts["opened"] - counts["closed"],
            "opened": counts["opened"],
            "closed": counts["closed"],
            "strangers": counts["strangers"],
        }

    def _note(self, opened: bool, name: str | None) -> None:
        self._counts["opened" if opened else "closed"] += 1
        log.info("link %s: %s", "opened" if opened else "closed", name or "no certificate")
