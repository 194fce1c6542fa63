"""`colme node` and `colme router`: a device, and the place where devices meet.

Holds their flags, signals and exit.  Must not know how anything runs.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from colme import _terminal
from colme._settings import read_toml
from colme.cli.schema_flags import flags_of
from colme.live.host import Host
from colme.live.logs import capture_output, is_stranger, start_logging
from colme.live.network import print_transport_warnings
from colme.live.router import Router, RouterSettings
from colme.live.run_node import run_node
from colme.live.settings import AgentSettings, LinkSettings, NodeSettings
from colme.live.signals import stop_on_signals
from colme.live.telemetry import serve_metrics

if TYPE_CHECKING:
    AgentFlags = dict[str, Any]
    LinkFlags = dict[str, Any]
    NodeFlags = dict[str, Any]
    RouterFlags = dict[str, Any]
else:
    NodeFlags = flags_of(NodeSettings, Group("Node", sort_key=1))
    RouterFlags = flags_of(RouterSettings, Group("Router", sort_key=1), without=("listen",))
    AgentFlags = flags_of(AgentSettings, Group("Learning", sort_key=2))
    LinkFlags = flags_of(LinkSettings, Group("Network", sort_key=3))


logger = logging.getLogger("colme.live")
_output = Group("Output", sort_key=4)
Level = Annotated[Literal["debug", "info", "warning", "error"], Parameter(group=_output)]
_flat = Parameter(name="*")


def node(
    config: Path | None = None,
    /,
    *,
    flags: Annotated[NodeFlags | None, _flat] = None,
    learning: Annotated[AgentFlags | None, _flat] = None,
    network: Annotated[LinkFlags | None, _flat] = None,
    quiet: Annotated[bool, Parameter(group=_output)] = False,
    log: Level = "warning",
) -> None:
    """Run one agent on this device: it takes samples, asks peers, and is asked.

    Prints a snapshot as one line of JSON after each tick, and logs to standard error.  Ends on
    Ctrl-C or SIGTERM; started again with the same state it continues.  Two nodes on one machine:

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
    start_logging(log)
    content = {} if config is None else read_toml(config)
    settings = NodeSettings.make(content | (flags or {}) | (learning or {}) | (network or {}))
    with ExitStack() as stack:

        def started(host: Host) -> None:
            if settings.metrics is not None:
                page = serve_metrics(settings.metrics, host.reports, settings.insecure)
                stack.enter_context(page)
            _connect_process(host)

        asyncio.run(run_node(settings, None, None if quiet else _terminal.print_json, started))


def router(
    config: Path | None = None,
    /,
    *,
    flags: Annotated[RouterFlags | None, _flat] = None,
    network: Annotated[LinkFlags | None, _flat] = None,
    log: Level = "warning",
) -> None:
    """Run a router: where clients of a large fleet meet, and devices that cannot be reached.

    With keys it lets each device speak in its own name only.  Prints its counts as one line of
    JSON now and then.  Examples:

        colme router --fleet home

        colme router --fleet home --listen 0.0.0.0:7447 --keys keys/router

    Parameters
    ----------
    config
        TOML file with the same words as the flags, which override it.
    log
        Least level of log lines: debug, info, warning or error.
    """
    start_logging(log)
    content = {} if config is None else read_toml(config)
    settings = RouterSettings.make(content | (flags or {}) | (network or {}))

    async def run() -> None:
        running = Router(settings)
        _connect_process(running)
        await running.run(_terminal.print_json)

    asyncio.run(run())


def _connect_process(running: Host | Router) -> None:
    """Stop on signals, log warnings of the transport, and count links without certificates."""
    stop_on_signals(running.stop)
    loop = asyncio.get_running_loop()

    def heard(level: str, origin: str, text: str) -> None:
        if text.startswith("Unable to open listener"):
            return  # the command ends with this, and says so itself
        if not is_stranger(level, origin, text):
            number = logging.getLevelNamesMapping().get(level.upper(), logging.ERROR)
            logger.log(number, "%s", text)
            return
        with suppress(RuntimeError):  # the loop is closed: nobody counts any more
            loop.call_soon_threadsafe(running.count_stranger, text.partition(" Hint:")[0])

    capture_output(heard)
    print_transport_warnings()
