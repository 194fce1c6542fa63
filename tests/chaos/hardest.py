"""Disturbances that need root, a C compiler or minutes: `make chaos` runs these."""

import asyncio
import logging
import random
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from chaos.clocks import Shift, in_anything
from chaos.fleet import Fleet, free_port
from chaos.namespaces import Switch, missing, remains
from chaos.network import Faults, Relay
from chaos.worlds import World, undisturbed

STEP = 200
N_STEPS = 8
WORLD = World(n_agents=6, n_samples=N_STEPS * STEP)
RECOVERY = 40.0
REUNION = 120.0
"""Seconds in which peers that lost each other must have opened new sessions."""
DAY = 24 * 3600
LOG = logging.getLogger("colme.chaos")

Expected = Mapping[int, Sequence[float]]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Expected:
    counts = range(STEP, (N_STEPS + 1) * STEP, STEP)
    return undisturbed(WORLD, counts, tmp_path_factory.mktemp("calm"))


def test_peers_on_machines_of_their_own(expected: Expected, tmp_path: Path) -> None:
    lack = missing()
    assert not lack, f"this needs namespaces, and lacks {lack}: run it as root, with iproute2"

    async def run() -> None:
        fleet = Fleet(tmp_path, WORLD, expected, STEP, REUNION)
        async with Switch(3) as switch, fleet:
            seeds = [switch.address(1, 7447), switch.address(2, 7447)]
            for a in range(WORLD.n_agents):
                machine = 1 + a % 3
                listen = switch.address(machine, 7447 if a < 3 else 0)
                connect = [f"--connect={seed}" for seed in seeds[:a]]
                flags = ["--insecure", f"--listen={listen}", *connect]
                await fleet.add_node(*flags, wrapper=switch.wrapper(machine))
            await fleet.begin()
            nodes = list(fleet.nodes.values())
            for seconds, machine in ((4.0, 3), (14.0, 3), (25.0, 1)):
                async with fleet.disturbed(f"machine {machine} cut off {seconds} s", seconds):
                    switch.part(machine)
                    await asyncio.sleep(seconds)
                    switch.heal()
            async with fleet.disturbed("bad packets", 5.0):
                switch.faults = Faults(drop=0.05, repeat=0.1, spoil=0.05, delay=0.03)
                await asyncio.sleep(5.0)
                switch.heal()
            async with fleet.disturbed("frozen peers", 15.0):
                for node in (nodes[0], nodes[4]):
                    node.freeze()
                await asyncio.sleep(15.0)
                for node in (nodes[0], nodes[4]):
                    node.thaw()
            async with fleet.disturbed("the death of a seed", 2.0):
                await nodes[0].kill()
                await asyncio.sleep(1.0)
                await nodes[0].start()
            LOG.info("%s %s", await fleet.end(), switch.counts)

    asyncio.run(run())
    assert not remains()


@pytest.mark.parametrize("mode", ["client", "peer"])
def test_slow_networks_keep_nobody_out_and_dead_ones_nobody_in(mode: str, tmp_path: Path) -> None:
    lack = missing()
    assert not lack, f"this needs namespaces, and lacks {lack}: run it as root, with iproute2"

    async def run() -> None:
        async with Switch(3) as switch, Fleet(tmp_path, WORLD, {}, STEP, RECOVERY) as fleet:
            switch.lag = 0.3
            seed = switch.address(1, 7447)
            if mode == "client":
                await fleet.add_router(seed, "--insecure", wrapper=switch.wrapper(1))
            for machine in (1, 2, 3):
                listen = seed if machine == 1 else switch.address(machine)
                flags = ["--insecure", f"--mode={mode}"]
                flags += [f"--listen={listen}"] if mode == "peer" else []
                flags += [f"--connect={seed}"] if mode == "client" or machine > 1 else []
                await fleet.add_node(*flags, wrapper=switch.wrapper(machine))
            await fleet.meet()
            switch.part(2)
            switch.lag = 0.0
            await asyncio.sleep(1.0)
            LOG.info("%s", await fleet.end(learnt=False))

    asyncio.run(run())
    assert not remains()


def test_death_at_every_moment_of_a_start_and_of_all_at_once(
    expected: Expected, tmp_path: Path
) -> None:
    rng = random.Random(5)

    async def run() -> None:
        port = free_port()
        async with Fleet(tmp_path, WORLD, expected, STEP, RECOVERY) as fleet:
            await fleet.add_router(f"127.0.0.1:{port}")
            for _ in WORLD.names:
                await fleet.add_node("--mode=client", f"--connect=127.0.0.1:{port}")
            await fleet.begin()
            nodes = list(fleet.nodes.values())
            async with fleet.disturbed("thirty deaths while starting", 30.0):
                for _ in range(30):
                    await nodes[0].kill()
                    await nodes[0].start()
                    await asyncio.sleep(rng.uniform(0.3, 1.7))
            for _ in range(2):
                async with fleet.disturbed("the death of all at once", 3.0):
                    await asyncio.sleep(1.0)
                    await asyncio.gather(*(process.kill() for process in fleet.processes))
                    await asyncio.gather(*(process.start() for process in fleet.processes))
            LOG.info("%s", await fleet.end())

    asyncio.run(run())


def test_a_node_that_returns_by_another_way_than_it_left(
    expected: Expected, tmp_path: Path
) -> None:
    async def run() -> None:
        async with AsyncExitStack() as stack:
            port = free_port()
            relay = await stack.enter_async_context(Relay(port))
            fleet = await stack.enter_async_context(
                Fleet(tmp_path, WORLD, expected, STEP, RECOVERY)
            )
            await fleet.add_router(f"127.0.0.1:{port}")
            mover = await fleet.add_node("--mode=client", f"--connect={relay.address}")
            for _ in WORLD.names[1:]:
                await fleet.add_node("--mode=client", f"--connect=127.0.0.1:{port}")
            await fleet.begin()
            relay.hold()  # nobody hears of what happens to its first link
            async with fleet.disturbed("another way", 2.0):
                await mover.kill()
                mover.command[-1] = f"--connect=127.0.0.1:{port}"
                await mover.start()
            async with fleet.disturbed("the end of the first link", 14.0):
                await asyncio.sleep(14.0)
            LOG.info("%s", await fleet.end())

    asyncio.run(run())


def test_clocks_that_jump_beneath_everything(expected: Expected, tmp_path: Path) -> None:
    assert shutil.which("cc"), "this needs a C compiler, to set the clock of a single process: cc"

    async def run() -> None:
        port = free_port()
        wall, boot = Shift(tmp_path / "wall"), Shift(tmp_path / "boot")
        wrapper = in_anything(wall, boot, tmp_path)
        async with Fleet(tmp_path, WORLD, expected, STEP, RECOVERY) as fleet:
            await fleet.add_router(f"127.0.0.1:{port}")
            for a in range(WORLD.n_agents):
                flags = ["--mode=client", f"--connect=127.0.0.1:{port}"]
                await fleet.add_node(*flags, wrapper=wrapper if a < WORLD.n_agents // 2 else ())
            await fleet.begin()
            node = fleet.nodes["n00"]
            for days in (400, -400, 0):
                async with fleet.disturbed(f"wall clocks {days} days off", 2.0):
                    before = node.last["time"]
                    wall.set(days * DAY)
                    await asyncio.sleep(1.0)
                    assert abs(node.last["time"] - before) > DAY
            async with fleet.disturbed("a sleep of a day", 2.0):
                boot.set(DAY)
                await asyncio.sleep(1.0)
                assert node.last["messages"]["skipped"] > DAY
            LOG.info("%s", await fleet.end())

    asyncio.run(run())


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    made = subprocess.run(mounting, capture_output=True, check=False)
    assert made.returncode == 0, f"this needs the right to mount a small disk: {made.stderr!r}"
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Write to a disk until it is full; return the file that fills it."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return filler


def test_a_disk_without_room(expected: Expected, tmp_path: Path, small_disk: Path) -> None:
    async def run() -> None:
        port = free_port()
        async with Fleet(tmp_path, WORLD, expected, STEP, RECOVERY) as fleet:
            await fleet.add_router(f"127.0.0.1:{port}")
            for a, name in enumerate(WORLD.names):
                flags = ["--mode=client", f"--connect=127.0.0.1:{port}"]
                await fleet.add_node(*flags, state=small_disk / name if a < 3 else None)
            await fleet.begin()
            nodes = list(fleet.nodes.values())
            async with fleet.disturbed("a disk without room", 5.0):
                filler = fill(small_disk)
                await asyncio.sleep(5.0)
                for node in nodes[:3]:
                    assert (await fleet.told(node.name)).count <= fleet.feeds[node.name].allowed
                await nodes[0].kill()
                await nodes[0].start()
                await asyncio.sleep(2.0)
                filler.unlink()
                if nodes[0].code is not None:  # it could not start without room
                    assert nodes[0].code == 2
                    assert "could not be written" in nodes[0].tail
                    await nodes[0].start()
            assert all(node.last["refused"].get("unwritable", 0) > 1 for node in nodes[1:3])
            LOG.info("%s", await fleet.end())

    asyncio.run(run())
