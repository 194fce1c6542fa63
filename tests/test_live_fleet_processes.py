"""A demonstration fleet in real processes: killed, started again, finished."""

from __future__ import annotations

import asyncio
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from local_fleets import PROBLEM, is_gone, samples, until

import colme
from colme.live.fleet import FleetSettings, LocalFleet, Watcher
from colme.live.fleet.fleet_problem import AgentStream
from colme.problem import Problem


def test_a_fleet_that_is_not_started_has_nobody_to_kill() -> None:
    fleet = LocalFleet(FleetSettings(problem=PROBLEM))
    with pytest.raises(ValueError, match="no process 0 in this fleet; there are none"):
        asyncio.run(fleet.kill(0))
    with pytest.raises(ValueError, match="once it is started"):
        fleet.meeting_point  # noqa: B018


def test_a_fleet_lives_through_the_death_of_a_process_and_of_its_router(tmp_path: Path) -> None:
    settings = FleetSettings(
        problem=PROBLEM, mode="client", interval=0.05, state=tmp_path, sync=False, liars=0.1
    )

    async def live() -> None:
        async with LocalFleet(settings) as fleet:
            await until(lambda: len(fleet.snapshots) == 12 == len(fleet.present), fleet)
            assert set(fleet.alive) == {"router", 0, 1}
            await until(lambda: fleet.report()["messages"].get("heard", 0) > 50, fleet)
            before = dict(fleet.snapshots)
            await fleet.kill(0)
            assert set(fleet.alive) == {"router", 1}
            await fleet.restart(0)
            await until(lambda: samples(fleet, "00") > before["00"]["samples"] + 3, fleet)
            assert fleet.snapshots["00"]["life"] == before["00"]["life"]
            assert fleet.snapshots["00"]["samples"] == fleet.snapshots["00"]["count"]
            await fleet.kill("router")
            await until(lambda: not fleet.present, fleet)
            await fleet.restart("router")
            await until(lambda: len(fleet.present) == 12, fleet)
            now = samples(fleet, "01")
            await until(lambda: samples(fleet, "01") > now, fleet)
            pids.extend(fleet.pids.values())
            assert len(pids) == 3
        before.update(fleet.snapshots)
        kept.update({name: report["samples"] for name, report in before.items()})

    pids: list[int] = []
    kept: dict[str, int] = {}
    asyncio.run(live())
    assert all(map(is_gone, pids))

    async def live_again() -> None:
        async with LocalFleet(settings) as fleet:
            await until(lambda: len(fleet.snapshots) == 12, fleet)
            assert all(samples(fleet, name) >= n for name, n in kept.items())
            pids.extend(fleet.pids.values())
            fleet.send(1, signal.SIGSTOP)
            begin = time.monotonic()
        assert time.monotonic() - begin < 3  # the frozen process is killed

    asyncio.run(live_again())
    assert all(map(is_gone, pids))


def test_with_keys_every_agent_speaks_for_itself_and_a_guest_can_watch() -> None:
    problem = Problem.gaussian([0.2], n_agents=4, sigma=0.5)
    settings = FleetSettings(problem=problem, mode="client", tls=True, interval=0.05, sync=False)

    async def live() -> Path:
        async with LocalFleet(settings) as fleet:
            await until(lambda: fleet.report()["messages"].get("heard", 0) > 40, fleet)
            report = fleet.report()
            assert len(fleet.present) == report["heard"] == 4
            assert report["refused"] == {}
            assert fleet.meeting_point[1] is not None
            assert fleet.layout is not None
            guest = Watcher(fleet.layout.watcher, "demo")
            await guest.open()
            await until(lambda: len(guest.snapshots) == 4, fleet)
            await guest.close()
            return fleet.layout.folder

    folder = asyncio.run(live())
    assert not folder.exists()


def test_in_step_a_fleet_of_peers_does_what_lockstep_does() -> None:
    problem, steps = Problem.gaussian([0.2, 0.9], class_sizes=[3, 2], sigma=0.5), 40
    settings = FleetSettings(problem=problem, in_step=True, steps=steps, interval=0.001, sync=False)

    async def live() -> dict[str, dict[str, Any]]:
        async with LocalFleet(settings) as fleet:
            await until(lambda: fleet.is_finished, fleet)
        return fleet.snapshots

    snapshots = asyncio.run(live())
    drawn = np.array([AgentStream(problem, 1, agent, 1.0).block(0)[:steps] for agent in range(5)])
    twin = colme.lockstep(drawn.T[None], "sharp", sigma=0.5, delta=0.001)
    assert twin.estimates is not None
    estimates = [snapshots[name]["estimate"] for name in settings.names]
    assert estimates == pytest.approx(twin.estimates[0, -1], abs=1e-12)
    assert [snapshots[name]["samples"] for name in settings.names] == [steps] * 5


def test_a_process_that_cannot_live_says_why(tmp_path: Path) -> None:
    (tmp_path / "process-1").write_text("in the way")

    async def live() -> None:
        async with LocalFleet(FleetSettings(problem=PROBLEM, state=tmp_path)) as fleet:
            await until(lambda: False, fleet)

    with pytest.raises(ValueError, match=r"process 1 of the fleet has ended: .*process-1"):
        asyncio.run(live())
