"""`colme watch`: look at a fleet that runs, wherever it runs.

Lives here: its flags and exit.  Must not know how anything travels or what is shown.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from colme import _terminal
from colme._terminal.watching import print_snapshots, show_agents, showing
from colme.cli.fleet import Ending
from colme.live.fleet import Watcher
from colme.live.keys import Identity
from colme.live.wire import check_name
from colme.live.wiring import Wiring

__all__ = ["watch"]

_REFRESH = 0.25
"""Seconds from one look at the fleet to the next."""


def watch(
    *,
    fleet: str,
    connect: tuple[str, ...],
    keys: Path | None = None,
    insecure: bool = False,
    seconds: float | None = None,
    json: bool = False,
) -> None:
    """Look at a running fleet: what each agent knows, as it publishes it.

    Waits if there is no fleet yet, and ends on Ctrl-C.  Examples:

        colme watch --fleet home --connect 127.0.0.1:7447

        colme watch --fleet home --connect router.example:7447 --keys keys/laptop --json

    Parameters
    ----------
    fleet
        Name of the fleet.
    connect
        Addresses HOST:PORT of routers, or of nodes that are peers; one is enough.
    keys
        Folder that `colme keys issue` made for whoever watches.
    insecure
        Allow links beyond this machine without keys.
    seconds
        Stop after so many seconds.
    json
        Print every snapshot as a line of JSON.
    """
    identity = None if keys is None else Identity.load(keys)
    wiring = Wiring("client", connect=connect, keys=identity, insecure=insecure)
    asyncio.run(_run(wiring, check_name("fleet", fleet), seconds, json))


async def _run(wiring: Wiring, fleet: str, seconds: float | None, as_json: bool) -> None:
    ending = Ending(seconds)
    heard: list[dict[str, Any]] = []
    watcher = Watcher(wiring, fleet, heard.append)
    opening = asyncio.create_task(watcher.open())
    try:
        with showing(_terminal.err if as_json else _terminal.out) as show:
            while not ending.has_come:
                if opening.done():
                    opening.result()
                agents = _agents(watcher)
                where = None if watcher.is_connected else ", ".join(wiring.connect)
                if as_json:
                    print_snapshots(heard)
                if not (as_json and agents):
                    show_agents(show, fleet, agents, where)
                heard.clear()
                await ending.pause(_REFRESH)
    finally:
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
        await watcher.close()


def _agents(watcher: Watcher) -> list[dict[str, Any]]:
    """Return what each agent has said last, by name, those that are here first."""
    agents = [
        report | {"age": watcher.age(name), "is_here": name in watcher.present}
        for name, report in watcher.snapshots.items()
    ]
    return sorted(agents, key=lambda one: (not one["is_here"], one["agent"]))
