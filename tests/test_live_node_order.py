"""Event, store, then publish: nobody hears of a sample before it is on the disk."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hosts import OFTEN, SETTINGS, peer, values

from colme.live.membership import Membership
from colme.live.network import Link
from colme.live.node import Node
from colme.live.node_core import NodeCore
from colme.live.schedule import Schedule
from colme.live.store import Store


class Recorded(Store):
    """A store that notes when events are about to be stored and when they are."""

    def __init__(self, folder: Path, log: list[str]) -> None:
        super().__init__(folder, "home", sync=False)
        self._log = log

    async def append(self, agent: str, *events: bytes) -> None:
        """Take a while to store events, so that whoever does not wait is seen."""
        self._log.append("storing")
        await asyncio.sleep(0.02)
        await super().append(agent, *events)
        self._log.append("stored")


@pytest.mark.parametrize("in_step", [False, True], ids=["free", "in step"])
def test_samples_are_stored_then_published_then_acknowledged(tmp_path: Path, in_step: bool) -> None:
    log: list[str] = []

    async def main() -> None:
        store = Recorded(tmp_path, log)
        life = store.register("a").life
        core = NodeCore(SETTINGS.agent("a"), "home", life, Membership(1.0), in_step=in_step)
        source = values([0.5, 0.7, 0.9], ends=True)

        async def acknowledge(position: str) -> None:
            assert core.position == position
            log.append("acknowledged")

        source.acknowledge = acknowledge  # type: ignore[method-assign]
        publish = core._publish

        def published() -> None:
            log.append("published")
            publish()

        core._publish = published  # type: ignore[method-assign]

        def emit(_: dict[str, Any]) -> None:
            log.append("reported")

        schedule = Schedule(OFTEN.interval, in_step=in_step, stop_at_end=True)
        await Node(core, store, source, Link(peer(), "home"), schedule, emit).run()
        await store.close()

    asyncio.run(main())
    orders = " ".join(log).replace(" reported", "").split(" acknowledged")
    assert orders.pop() == ""
    assert set(" ".join(orders).split()) == {"storing", "stored", "published"}
    assert all(order.split() == ["storing", "stored", "published"] for order in orders)
    assert len(orders) == (3 if in_step else log.count("storing"))
