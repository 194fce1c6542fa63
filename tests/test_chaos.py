"""Real fleets through whatever may happen to them: killed, frozen, cut off, spoilt, full, set back.

After each disturbance: every sample that was sent is there once, everybody sees everybody, and
every estimate is within a tenth of a standard error of an undisturbed fleet's.  In the end every
process ends soon after being told to, whatever has become of the router.

`make test` runs short versions; `make chaos` sets COLME_CHAOS=full, which makes them longer, holds
processes to the two seconds that are promised for their end, and runs those in `chaos/hardest.py`,
which need more rights.
"""

import asyncio
import logging
import random
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from chaos.clocks import Shift, in_python
from chaos.fleet import IS_FULL, PATIENCE, Fleet, free_port
from chaos.network import Faults, Relay
from chaos.processes import Process
from chaos.worlds import World, undisturbed

STEP = 200
N_STEPS = 7 if IS_FULL else 6
WORLD = World(n_agents=12 if IS_FULL else 6, n_samples=N_STEPS * STEP)
KILLING = 60.0 if IS_FULL else 8.0
"""Seconds in which a node is killed every second."""
LONG = 15.0 if IS_FULL else 3.0
"""Seconds of standing still; links that are silent for ten are given up."""
RECOVERY = 40.0
YEAR = 365 * 24 * 3600
LOG = logging.getLogger("colme.chaos")

Expected = Mapping[int, Sequence[float]]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Expected:
    counts = range(STEP, (N_STEPS + 1) * STEP, STEP)
    return undisturbed(WORLD, counts, tmp_path_factory.mktemp("calm"))


async def kill_and_start(*processes: Process) -> None:
    await asyncio.gather(*(process.kill() for process in processes))
    await asyncio.gather(*(process.start() for process in processes))


def fill_disk(node: Process, full: bool) -> None:
    """Let a process write nothing to any file, or anything again."""
    _, most = resource.prlimit(node.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(node.pid, resource.RLIMIT_FSIZE, (0 if full else most, most))


def test_a_fleet_outlives_deaths_and_full_disks(expected: Expected, tmp_path: Path) -> None:
    rng = random.Random(3)

    async def run() -> None:
        async with Fleet(tmp_path, WORLD, expected, STEP, RECOVERY) as fleet:
            port = free_port()
            await fleet.add_router(f"127.0.0.1:{port}")
            for _ in WORLD.names:
                await fleet.add_node("--mode=client", f"--connect=127.0.0.1:{port}")
            await fleet.begin()
            nodes, router = list(fleet.nodes.values()), fleet.router
            assert router is not None
            async with fleet.disturbed("a death every second", KILLING):
                for _ in range(int(KILLING)):
                    await kill_and_start(rng.choice(nodes))
                    await asyncio.sleep(1.0)
            async with fleet.disturbed("a third dead at once", 2.0):
                await asyncio.sleep(0.5)
                await kill_and_start(*rng.sample(nodes, len(nodes) // 3))
            async with fleet.disturbed("a dead router", 2.0):
                await asyncio.sleep(0.5)
                await router.kill()
                await asyncio.sleep(1.0)
                await router.start()
            async with fleet.disturbed("a full disk", 1.0):
                await full_disks(fleet, *nodes[:3])
            assert nodes[2].last["refused"]["unwritable"] > 0
            await router.kill()
            LOG.info("%s", await fleet.end())

    asyncio.run(run())


async def full_disks(fleet: Fleet, killed: Process, stopped: Process, patient: Process) -> None:
    """Fill the disks of three nodes: one is killed, one is stopped, one waits for room."""
    for node in (killed, stopped, patient):
        fill_disk(node, full=True)
    await asyncio.sleep(0.3)
    told = {node: (await fleet.told(node.name)).count for node in (killed, stopped, patient)}
    await asyncio.sleep(0.3)
    for node, count in told.items():  # it answers, and speaks of no sample that is not safe
        assert (await fleet.told(node.name)).count == count < fleet.feeds[node.name].allowed
    await killed.kill()
    assert await fleet.stored(killed.name) == told[killed]
    await stopped.stop(PATIENCE)
    assert stopped.code == 0, stopped.tail
    assert await fleet.stored(stopped.name) == told[stopped]
    fill_disk(patient, full=False)
    await killed.start()
    await stopped.start()


OUTPUT = """
import resource, sys
from colme.live.logs import capture_output

_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (20, most))
capture_output(lambda *_: None)
for line in ("the first", "the second", "the third"):
    sys.stdout.write(line + "\\n")
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
sys.stdout.write("the fourth\\n")
"""


def test_on_a_full_disk_lines_are_lost_and_nothing_else(tmp_path: Path) -> None:
    printed = tmp_path / "printed"
    with printed.open("wb") as file:
        command = [sys.executable, "-c", OUTPUT]
        done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert printed.read_text().splitlines() == ["the first", "the second", "the fourth"]


def test_a_fleet_outlives_bad_networks_and_bad_clocks(expected: Expected, tmp_path: Path) -> None:
    async def run() -> None:
        async with AsyncExitStack() as stack:
            port, clock = free_port(), Shift(tmp_path / "wall")
            relays = [
                await stack.enter_async_context(Relay(port, seed)) for seed in range(WORLD.n_agents)
            ]
            fleet = Fleet(tmp_path, WORLD, expected, STEP, RECOVERY)
            await stack.enter_async_context(fleet)
            await fleet.add_router(
                f"127.0.0.1:{port}", wrapper=("sh", "-c", 'exec "$@" >/dev/full', "sh")
            )
            for a, relay in enumerate(relays):
                wrapper = in_python(clock) if a % 2 else ()
                await fleet.add_node("--mode=client", f"--connect={relay.address}", wrapper=wrapper)
            await fleet.begin()
            await stand_still(fleet)
            await be_cut_off(fleet, relays)
            async with fleet.disturbed("clocks that jump", 2.0):
                for shift in (YEAR, -YEAR):
                    clock.set(shift)
                    await asyncio.sleep(0.5)
            assert fleet.router is not None
            fleet.router.freeze()
            LOG.info("%s", await fleet.end())
            LOG.info("%s", [relay.counts for relay in relays])

    asyncio.run(run())


async def stand_still(fleet: Fleet) -> None:
    """Freeze nodes, and in full the router too."""
    nodes = list(fleet.nodes.values())
    frozen = [[nodes[0], nodes[-1]]]
    if IS_FULL:
        assert fleet.router is not None
        frozen.append([fleet.router])
    for processes in frozen:
        async with fleet.disturbed(f"{processes[0].name} frozen", LONG):
            for process in processes:
                process.freeze()
            await asyncio.sleep(LONG)
            for process in processes:
                process.thaw()


async def be_cut_off(fleet: Fleet, relays: Sequence[Relay]) -> None:
    """Part the fleet, hang up on half of it, then lose, repeat, swap, spoil and delay messages."""
    half = relays[: len(relays) // 2]
    async with fleet.disturbed("a partition", LONG):
        for relay in half:
            relay.hold()
        await asyncio.sleep(LONG)
        for relay in half:
            relay.heal()
    async with fleet.disturbed("links cut", 2.0):
        for relay in half:
            relay.refuse()
        await asyncio.sleep(1.0)
        for relay in half:
            relay.heal()
    async with fleet.disturbed("bad links", 3.0):
        for relay in relays:
            relay.faults = Faults(drop=0.1, repeat=0.1, swap=0.1, spoil=0.1, delay=0.02)
        await asyncio.sleep(3.0)
        for relay in relays:
            relay.heal()
    for what in ("dropped", "repeated", "swapped", "spoilt"):
        assert sum(relay.counts[what] for relay in relays) > 10
    reasons = {reason for node in fleet.nodes.values() for reason in node.last["refused"]}
    assert "checksum" in reasons
    assert reasons <= {"checksum", "garbage", "version", "unasked"}
