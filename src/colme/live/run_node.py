"""One node from its settings to its end.

Holds creating what a node needs, in an order that leaves nothing behind if something fails.  Must
not know the command line.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable

from colme.live.host import Emit, Host, HostedAgent
from colme.live.keys import Identity
from colme.live.schedule import Schedule
from colme.live.settings import NodeSettings
from colme.live.sources import SampleSource, SocketSource, make_source

log = logging.getLogger("colme.live")


async def run_node(
    settings: NodeSettings,
    source: SampleSource | None = None,
    emit: Emit | None = None,
    started: Callable[[Host], None] | None = None,
) -> None:
    """Run one node until it is stopped; `started` is called with the host, which has `stop`.

    Examples
    --------
    >>> import asyncio, tempfile
    >>> from pathlib import Path
    >>> from colme.live.sources import IteratorSource
    >>> async def numbers(n: int):
    ...     for sample in [0.3, 0.5][n:]:
    ...         yield sample
    >>> snapshots = []
    >>> with tempfile.TemporaryDirectory() as place:
    ...     settings = NodeSettings(
    ...         fleet="home", id="a", state=Path(place), sigma=0.5, interval=0.01, stop_at_end=True
    ...     )
    ...     asyncio.run(run_node(settings, IteratorSource(numbers), snapshots.append))
    >>> snapshots[-1]["count"], snapshots[-1]["estimate"]
    (2, 0.4)
    """
    identity = None if settings.keys is None else Identity.load(settings.keys)
    if identity and (identity.name, identity.fleet) != (settings.id, settings.fleet):
        raise ValueError(
            f"the keys in {str(settings.keys)!r} are those of {identity.name!r} in the fleet "
            f"{identity.fleet!r}; received {settings.id!r} in {settings.fleet!r}: give the folder "
            "that 'colme keys issue' made for this node"
        )
    agent = settings.agent(settings.id, settings.peers)
    refused: Counter[str] = Counter()

    def refuse(reason: str) -> None:
        refused["sample"] += 1
        log.warning("%s refused a sample: %s", settings.id, reason)

    if source is None:
        source = make_source(
            settings.source,
            allow_remote=settings.insecure,
            on_bad=refuse,
            client_id=f"colme-{settings.fleet}-{settings.id}",
            ca_file=settings.broker_ca,
        )
    try:
        if isinstance(source, SocketSource):  # fail on an address in use before anything is created
            await source.bind()
        way = settings.connection_of(settings.mode)
        when = Schedule(settings.interval, settings.every, settings.in_step, settings.stop_at_end)
        host = Host(
            settings.fleet, settings.state, way, when, identity=identity, sync=settings.sync
        )
        hosted = HostedAgent(agent, source, settings.reply_checks(agent), refused)
        await host.run([hosted], emit, started)
    finally:
        await source.close()
