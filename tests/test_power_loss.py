"""What was acknowledged outlives a loss of power: stores, journals of sweeps, and nodes."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from hosts import peer
from power import Disk, watched_disk

from colme import Agent
from colme.live.membership import Membership
from colme.live.network import Link
from colme.live.node import Node
from colme.live.node_core import NodeCore
from colme.live.schedule import Schedule
from colme.live.sources import Sample
from colme.live.store import SavedState, Store, StoreUnwritable
from colme.sweep.point_journal import Journal


@pytest.fixture
def disk() -> Iterator[Disk]:
    with watched_disk() as watched:
        yield watched


def run(call: Coroutine[Any, Any, None]) -> None:
    asyncio.run(call)


def close(store: Store) -> None:
    run(store.close())


def past_of(folder: Path) -> SavedState:
    """Return what a store holds of ada."""
    store = Store(folder, "garden")
    try:
        return store.register("ada")
    finally:
        close(store)


# The store


def test_a_store_that_was_opened_is_there_after_a_power_loss(disk: Disk, tmp_path: Path) -> None:
    store = Store(tmp_path / "state", "garden")
    left = disk.lose_power(tmp_path / "state", tmp_path / "left")
    close(store)
    assert (left / "colme.sqlite").stat().st_size > 0
    with pytest.raises(ValueError, match="belongs to fleet 'garden'"):
        Store(left, "another")


def test_what_was_awaited_outlives_a_power_loss(disk: Disk, tmp_path: Path) -> None:
    store, events = Store(tmp_path / "state", "garden"), []
    life = store.register("ada").life
    for number in range(8):
        events.append(b"%d" % number)
        run(store.append("ada", events[-1]))
        left = disk.lose_power(tmp_path / "state", tmp_path / f"left {number}")
        assert (past_of(left).life, past_of(left).events) == (life, tuple(events))
    run(store.checkpoint("ada", b"all of them"))
    left = disk.lose_power(tmp_path / "state", tmp_path / "left")
    assert (past_of(left).checkpoint, past_of(left).events) == (b"all of them", ())
    close(store)
    left = disk.lose_power(tmp_path / "state", tmp_path / "closed")
    assert past_of(left).checkpoint == b"all of them"


def test_without_sync_a_power_loss_takes_events_and_no_more(disk: Disk, tmp_path: Path) -> None:
    store = Store(tmp_path / "state", "garden", sync=False)
    store.register("ada")
    run(store.append("ada", b"heard"))
    before = disk.lose_power(tmp_path / "state", tmp_path / "before")
    close(store)
    after = disk.lose_power(tmp_path / "state", tmp_path / "after")
    assert past_of(before).events == ()  # so the disk of these tests does lose what it should
    assert past_of(after).events == (b"heard",)


def test_an_event_whose_sync_failed_never_comes_back(disk: Disk, tmp_path: Path) -> None:
    store = Store(tmp_path / "state", "garden")
    store.register("ada")
    run(store.append("ada", b"kept"))
    disk.fail_sync("-wal")
    with pytest.raises(StoreUnwritable):
        run(store.append("ada", b"failed"))
    shutil.copytree(tmp_path / "state", tmp_path / "crash")  # the process dies, the kernel does not
    left = disk.lose_power(tmp_path / "state", tmp_path / "left")
    run(store.append("ada", b"again"))
    close(store)
    assert past_of(tmp_path / "crash").events == (b"kept",)
    assert past_of(left).events == (b"kept",)
    assert past_of(tmp_path / "state").events == (b"kept", b"again")


# The journal of a sweep


def test_a_finished_point_outlives_a_power_loss(disk: Disk, tmp_path: Path) -> None:
    head = {"specification": "abc"}
    (tmp_path / "here").mkdir()
    with Journal(tmp_path / "here" / "points.journal") as journal:
        journal.begin(head)
        begun = disk.lose_power(tmp_path / "here", tmp_path / "begun")
        journal.append(3, {"run": [0, 1]})
        one = disk.lose_power(tmp_path / "here", tmp_path / "one")
        journal.append(5, {"run": [2]})
        two = disk.lose_power(tmp_path / "here", tmp_path / "two")
    for left, points in ((begun, set()), (one, {3}), (two, {3, 5})):
        with Journal(left / "points.journal") as journal:
            assert journal.go_on(head)
            assert journal.finished == points


# A node


class Device:
    """A source that looks, whenever it is told that samples are durable, whether they are."""

    def __init__(self, disk: Disk, state: Path) -> None:
        self.disk, self.state = disk, state
        self.kept: list[tuple[int, int]] = []

    async def samples(self, resume: str | None) -> AsyncIterator[Sample]:
        for number in range(int(resume or 0) + 1, 6):
            yield Sample(number / 10, str(number))
            await asyncio.sleep(0.02)

    async def acknowledge(self, position: str) -> None:
        left = self.disk.lose_power(self.state, self.state.with_name(f"left {position}"))
        again = core_in(past := Store(left, "home"))
        await past.close()
        self.kept.append((int(position), again.n_samples))

    async def close(self) -> None:
        pass


def core_in(store: Store) -> NodeCore:
    """Return the core of a node as a store has kept it."""
    past = store.register("a")
    agent = Agent("a", sigma=0.5, delta=0.01)
    core = NodeCore(agent, "home", past.life, Membership(1.0))
    core.resume(past.checkpoint, past.events)
    return core


def test_a_node_acknowledges_only_samples_that_outlive_a_power_loss(
    disk: Disk, tmp_path: Path
) -> None:
    device = Device(disk, tmp_path / "state")

    async def live() -> None:
        store = Store(tmp_path / "state", "home")
        schedule = Schedule(interval=0.01, stop_at_end=True)
        link = Link(peer(), "home")
        node = Node(core_in(store), store, device, link, schedule, lambda _: None)
        await node.run()
        await store.close()

    asyncio.run(live())
    assert device.kept[-1] == (5, 5)
    assert all(kept >= told for told, kept in device.kept)
