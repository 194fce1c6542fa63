"""`colme watch`: watch a running fleet, wherever it runs.

Lives here: its flags and exit.  Must not know how anything travels or what is shown.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from colme import _terminal
from colme._terminal.fleet_tables import print_snapshots, show_agents, showing
from colme.cli.fleet import REFRESH, Ending
from colme.live.connection_config import ConnectionConfig
from colme.live.fleet import Watcher
from colme.live.keys import Identity
from colme.live.wire import check_name


def watch(
    *,
    fleet: str,
    connect: tuple[str, ...],
    keys: Path | None = None,
    insecure: bool = False,
    seconds: float | None = None,
    json: bool = False,
) -> None:
    """Watch a running fleet: what each agent knows, as it publishes it.

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
        Folder that `colme keys issue` made for the watcher.
    insecure
        Allow links beyond this machine without keys.
    seconds
        Stop after this many seconds.
    json
        Print every snapshot as a line of JSON.
    """
    if keys is not None:
        Identity.load(keys)  # refuses a folder that is not right
    connection = ConnectionConfig("client", connect=connect, keys=keys, insecure=insecure)
    asyncio.run(_run(connection, check_name("fleet", fleet), seconds, json))


async def _run(
    connection: ConnectionConfig, fleet: str, seconds: float | None, as_json: bool
) -> None:
    ending = Ending(seconds)
    snapshots: list[dict[str, Any]] = []
    watcher = Watcher(connection, fleet, snapshots.append)
    watcher.start()
    try:
        with showing(_terminal.err if as_json else _terminal.out) as show:
            while not ending.has_come:
                watcher.check()
                agents = _agents(watcher)
                where = None if watcher.is_connected else ", ".join(connection.connect)
                if as_json:
                    print_snapshots(snapshots)
                if not (as_json and agents):
                    show_agents(show, fleet, agents, where)
                snapshots.clear()
                await ending.pause(REFRESH)
    finally:
        await watcher.close()


def _agents(watcher: Watcher) -> list[dict[str, Any]]:
    """Return the last snapshot of each agent, by name, those that are present first."""
    agents = [
        report | {"age": watcher.age(name), "is_here": name in watcher.present}
        for name, report in watcher.snapshots.items()
    ]
    return sorted(agents, key=lambda one: (not one["is_here"], one["agent"]))
