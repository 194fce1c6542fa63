"""`colme node` and `colme router`: a device, and the place where devices meet.

Lives here: their flags, signals and exit.  Must not know how anything runs.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from colme import _terminal
from colme._settings import read_toml
from colme.cli.flags import Flags
from colme.cli.learning import LearningFlags
from colme.live.host import Host
from colme.live.logs import is_stranger, read_along, start_logging
from colme.live.network import let_transport_speak
from colme.live.router import Router, RouterSettings
from colme.live.running import run_node
from colme.live.settings import NodeSettings
from colme.live.signals import stop_on_signals
from colme.live.telemetry import serve_metrics

__all__ = ["NetworkFlags", "NodeFlags", "node", "router"]

logger = logging.getLogger("colme.live")
Level = Literal["debug", "info", "warning", "error"]
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING}
"""The transport's words for levels; what has another is taken seriously."""


@Parameter(name="*", group=Group("Network", sort_key=3))
@dataclass(frozen=True)
class NetworkFlags(Flags):
    """How it is connected.

    Attributes
    ----------
    listen
        Addresses HOST:PORT to listen on.
    connect
        Addresses HOST:PORT of nodes or routers to connect to; two are better than one.
    keys
        Folder that `colme keys issue` made: links are encrypted, and answers sealed.
    insecure
        Allow links beyond this machine without keys, and samples from other machines.
    """

    listen: tuple[str, ...] | None = None
    connect: tuple[str, ...] | None = None
    keys: Path | None = None
    insecure: bool | None = None


@Parameter(name="*", group=Group("Node", sort_key=1))
@dataclass(frozen=True)
class NodeFlags(Flags):
    """The node itself.

    Attributes
    ----------
    fleet
        Name of the fleet.
    id
        Name of this agent, like no other in the fleet.
    state
        Folder where it keeps everything; one for each node.
    sigma
        Sub-Gaussian scale of one sample; or give --range or --estimated.
    source
        Where samples come from: - (standard input, a number or JSON per line), file:PATH
        (followed as it grows), tcp:HOST:PORT or unix:PATH (to listen on), mqtt://HOST:PORT/TOPIC.
    broker_ca
        Certificate of the authority that an mqtts:// broker is trusted for (the system's).
    mode
        peer (every node connects to every other, up to some 50) or client (through a router).
    interval
        Seconds from one tick to the next (1).
    every
        Seconds from one snapshot to the next (each tick).
    in_step
        Tick with every sample, in step with all peers.
    peers
        Names of peers known beforehand, in the order in which they are asked.
    no_sync
        Do not wait for the disk: survives a crash of the node, not a loss of power.
    stop_at_end
        Stop when the source ends.
    metrics
        Address HOST:PORT of a page for Prometheus.
    """

    fleet: str | None = None
    id: str | None = None
    state: Path | None = None
    sigma: float | None = None
    source: str | None = None
    broker_ca: Path | None = None
    mode: Literal["peer", "client"] | None = None
    interval: float | None = None
    every: float | None = None
    in_step: bool | None = None
    peers: tuple[str, ...] | None = None
    no_sync: bool | None = None
    stop_at_end: bool | None = None
    metrics: str | None = None

    def given(self) -> dict[str, Any]:
        """Return the keys that flags set."""
        table = super().given()
        if table.pop("no_sync", None):
            table["sync"] = False
        return table


_output = Group("Output", sort_key=4)


def node(
    config: Path | None = None,
    /,
    *,
    flags: NodeFlags | None = None,
    learning: LearningFlags | None = None,
    network: NetworkFlags | None = None,
    quiet: Annotated[bool, Parameter(group=_output)] = False,
    log: Annotated[Level, Parameter(group=_output)] = "warning",
) -> None:
    """Run one agent on this device: it takes samples, asks peers, and is asked.

    Prints a snapshot as one line of JSON after each tick, and logs to standard error.  Ends on
    Ctrl-C or SIGTERM; started again with the same state it goes on.  Two nodes on one machine:

        colme node --fleet home --id hall --state hall --sigma 0.5 --listen 127.0.0.1:7447

        colme node --fleet home --id attic --state attic --sigma 0.5 --connect 127.0.0.1:7447

    Across machines, with keys from `colme keys`:

        colme node --fleet home --id hall --state hall --sigma 0.5 --keys keys/hall
        --mode client --connect router.example:7447 --source tcp:127.0.0.1:9000

    Parameters
    ----------
    config
        TOML file with the same words as the flags, which override it.
    quiet
        Print no snapshots.
    log
        Least level of log lines: debug, info, warning or error.
    """
    content = {} if config is None else read_toml(config)
    for given in (flags, learning, network):
        content = content if given is None else given.over(content)
    start_logging(log)
    settings = NodeSettings.make(content)
    asyncio.run(_run_node(settings, None if quiet else _terminal.print_json))


def router(
    config: Path | None = None,
    /,
    *,
    fleet: str | None = None,
    network: NetworkFlags | None = None,
    every: float | None = None,
    log: Annotated[Level, Parameter(group=_output)] = "warning",
) -> None:
    """Run a router: where clients of a large fleet meet, and devices that cannot be reached.

    With keys it lets each device speak in its own name only.  Prints what it counts as one line of
    JSON now and then.  Examples:

        colme router --fleet home

        colme router --fleet home --listen 0.0.0.0:7447 --keys keys/router

    Parameters
    ----------
    config
        TOML file with the same words as the flags, which override it.
    fleet
        Name of the fleet.
    every
        Seconds from one line to the next (60).
    log
        Least level of log lines: debug, info, warning or error.
    """
    content = {} if config is None else read_toml(config)
    given = {"fleet": fleet, "every": every}
    content |= {key: value for key, value in given.items() if value is not None}
    content = content if network is None else network.over(content)
    start_logging(log)
    asyncio.run(_run_router(RouterSettings.make(content)))


async def _run_node(settings: NodeSettings, emit: Callable[[dict[str, Any]], None] | None) -> None:
    with ExitStack() as stack:

        def started(host: Host) -> None:
            if settings.metrics is not None:
                page = serve_metrics(settings.metrics, host.reports, settings.insecure)
                stack.callback(page.close)
            stop_on_signals(host.stop)
            _listen_to_transport(host.turn_away)

        await run_node(settings, emit=emit, started=started)


async def _run_router(settings: RouterSettings) -> None:
    running = Router(settings)
    stop_on_signals(running.stop)
    _listen_to_transport(running.turn_away)
    await running.run(_terminal.print_json)


def _listen_to_transport(turn_away: Callable[[str], None]) -> None:
    """Let warnings of the transport become log lines, and strangers be counted."""
    loop = asyncio.get_running_loop()

    def heard(level: str, origin: str, text: str) -> None:
        if text.startswith("Unable to open listener"):
            return  # the command ends with this, and says so itself
        if not is_stranger(level, origin, text):
            logger.log(_LEVELS.get(level, logging.ERROR), "%s", text)
            return
        with suppress(RuntimeError):  # the loop is closed: nobody counts any more
            loop.call_soon_threadsafe(turn_away, text.partition(" Hint:")[0])

    read_along(heard)
    let_transport_speak()
