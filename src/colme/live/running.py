"""One node from its settings to its end.

Lives here: making what a node needs, in an order in which nothing is left behind if it cannot be.
Must not know the command line.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable

from colme.live.host import Emit, Host, Resident
from colme.live.keys import Identity
from colme.live.pace import Pace
from colme.live.settings import NodeSettings
from colme.live.sources import Listening, Source, source_of

__all__ = ["run_node"]

log = logging.getLogger("colme.live")


async def run_node(
    settings: NodeSettings,
    source: Source | None = None,
    emit: Emit | None = None,
    started: Callable[[Host], None] | None = None,
) -> None:
    """Run one node until it is stopped; `started` is given the host, which can be.

    Examples
    --------
    >>> import asyncio, tempfile
    >>> from pathlib import Path
    >>> from colme.live.sources import Iterating
    >>> async def numbers(n: int):
    ...     for sample in [0.3, 0.5][n:]:
    ...         yield sample
    >>> snapshots = []
    >>> with tempfile.TemporaryDirectory() as place:
    ...     settings = NodeSettings(
    ...         fleet="home", id="a", state=Path(place), sigma=0.5, interval=0.01, stop_at_end=True
    ...     )
    ...     asyncio.run(run_node(settings, Iterating(numbers), snapshots.append))
    >>> snapshots[-1]["count"], snapshots[-1]["estimate"]
    (2, 0.4)
    """
    identity = None if settings.keys is None else _identity_of(settings)
    pace = Pace(settings.interval, settings.every, settings.in_step, settings.stop_at_end)
    refused: Counter[str] = Counter()
    source = _source_of(settings, refused) if source is None else source
    try:
        if isinstance(source, Listening):  # an address in use is known before anything is done
            await source.bind()
        host = Host(
            settings.fleet,
            settings,
            settings.state,
            settings.wiring(identity),
            pace,
            identity=identity,
            sync=settings.sync,
        )
        resident = Resident(settings.id, source, settings.peers, refused)
        await _run_started(host, resident, emit, started)
    finally:
        await source.close()


async def _run_started(
    host: Host, resident: Resident, emit: Emit | None, started: Callable[[Host], None] | None
) -> None:
    try:
        if started is not None:
            started(host)
    except BaseException:
        await host.close()
        raise
    await host.run([resident], emit)


def _source_of(settings: NodeSettings, refused: Counter[str]) -> Source:
    def on_bad(reason: str) -> None:
        refused["sample"] += 1
        log.warning("%s refused a sample: %s", settings.id, reason)

    return source_of(
        settings.source,
        allow_remote=settings.insecure,
        on_bad=on_bad,
        client_id=f"colme-{settings.fleet}-{settings.id}",
        ca_file=settings.broker_ca,
    )


def _identity_of(settings: NodeSettings) -> Identity:
    assert settings.keys is not None
    identity = Identity.load(settings.keys)
    if (identity.name, identity.fleet) != (settings.id, settings.fleet):
        raise ValueError(
            f"the keys in {str(settings.keys)!r} are those of {identity.name!r} in the fleet "
            f"{identity.fleet!r}; received {settings.id!r} in {settings.fleet!r}: give the folder "
            "that 'colme keys issue' made for this node"
        )
    return identity
