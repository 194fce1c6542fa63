"""A demonstration fleet: the world it lives in, its liars, its processes and how it fares."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import math
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import colme
from colme.live.fleet import Fleet, FleetSettings, Tally, usual_learning
from colme.live.fleet.layout import Layout, ProcessSpec
from colme.live.fleet.liars import LIES, Lie, tongue_of
from colme.live.fleet.watching import Watcher, read_snapshot
from colme.live.fleet.world import BLOCK, Stream, World
from colme.noise import Bernoulli, Beta, Custom, Gaussian, Noise, Uniform
from colme.problem import Change, Problem

PROBLEM = Problem.gaussian([0.2, 0.8], class_sizes=[8, 4], sigma=0.5)
REPORT: dict[str, Any] = {
    "agent": "00",
    "fleet": "demo",
    "time": 1e9,
    "life": 7,
    "epoch": 0,
    "count": 4,
    "samples": 4,
    "mean": 0.5,
    "estimate": 0.25,
    "interval": None,
    "class_size": 8,
    "likely_size": 1,
    "known": 11,
    "present": 11,
    "messages": {"asked": 3, "answered": 2},
    "refused": {"checksum": 1},
    "delay": {"p50": 0.002, "p99": 0.01},
}


async def until(holds: Callable[[], object], fleet: Fleet, seconds: float = 30.0) -> None:
    """Wait until something holds, and fail if it takes too long or a process ends."""
    end = time.monotonic() + seconds
    while not holds():
        fleet.check()
        assert time.monotonic() < end, "it has not come to hold in time"
        await asyncio.sleep(0.02)


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


# The world


@pytest.mark.parametrize(
    "noise",
    [Gaussian(0.5), Gaussian([0.1, 0.2, 0.3]), Bernoulli(), Uniform(0.3), Beta(4.0, -1.0, 2.0)],
    ids=repr,
)
def test_a_problem_reaches_another_process_as_it_is(noise: Noise) -> None:
    problem = Problem([0, 1, 1], [0.2, 0.8, 0.7], noise, [Change(5, [0, 2], 0.1)])
    told = World.model_validate_json(World.of(problem, seed=3).model_dump_json()).problem()
    assert told.noise == noise
    assert told.changes == problem.changes
    assert told.labels.tolist() == problem.labels.tolist()
    assert told.true_means.tolist() == problem.true_means.tolist()


def test_noise_that_is_a_function_cannot_be_told() -> None:
    noise = Custom(lambda *_: np.zeros((1, 1)), 1.0)
    with pytest.raises(ValueError, match=r"gaussian, bernoulli, uniform and beta.*received Custom"):
        World.of(Problem([0], [0.0], noise), seed=1)


async def first(stream: Stream, n: int, after: int = 0) -> list[float]:
    samples: list[float] = []
    async for sample in stream.after(after):
        samples.append(sample)
        if len(samples) == n:
            break
    return samples


def test_a_sample_depends_on_seed_agent_and_number_alone() -> None:
    one = Stream(PROBLEM, seed=1, agent=3, interval=1e-9)
    whole = asyncio.run(first(one, BLOCK + 10))
    for n in (1, BLOCK - 1, BLOCK, BLOCK + 1):
        assert asyncio.run(first(one, 5, after=n)) == whole[n : n + 5]
    others = [Stream(PROBLEM, seed=2, agent=3, interval=1e-9), Stream(PROBLEM, 1, 4, 1e-9)]
    for other in others:
        assert not set(asyncio.run(first(other, 20))) & set(whole)
    assert len(set(whole)) == len(whole)


def test_samples_scatter_as_the_problem_says_and_change_when_it_says() -> None:
    problem = Problem([0, 0], [0.2, 0.2], Gaussian([0.01, 0.1]), [Change(BLOCK + 101, [1], 5.0)])
    steady, moved = (np.array(asyncio.run(first(Stream(problem, 1, a, 1e-9), 400))) for a in (0, 1))
    assert np.std(steady) == pytest.approx(0.01, rel=0.2)
    assert np.mean(steady) == pytest.approx(0.2, abs=0.005)
    assert np.std(moved[: BLOCK + 100]) == pytest.approx(0.1, rel=0.2)
    assert (moved > 3).tolist() == [False] * (BLOCK + 100) + [True] * (300 - BLOCK)


def test_samples_come_when_they_are_due_and_at_once_when_overdue() -> None:
    async def times() -> tuple[float, float]:
        stream, begin = Stream(PROBLEM, 1, 0, interval=0.1), time.monotonic()
        samples = stream.after(0)
        await anext(samples)
        waited = time.monotonic() - begin
        time.sleep(0.45)  # the process is held up
        late = time.monotonic()
        for _ in range(4):
            await anext(samples)
        return waited, time.monotonic() - late

    waited, late = asyncio.run(times())
    assert waited >= 0.099
    assert late < 0.3  # and not four times 0.1


# Liars


numbers = st.floats(-1e100, 1e100)


@given(
    st.sampled_from(LIES),
    numbers,
    st.integers(0, 2**53),
    st.floats(0, 1e100),
    st.floats(1e-100, 1e100) | st.just(math.inf),
    st.floats(-1e6, 1e6),
)
def test_liars_always_tell_a_valid_reply(
    lie: Lie, mean: float, count: int, squares: float, spread: float, shift: float
) -> None:
    tongue = tongue_of(lie, shift, -1.0, 1.0, seed=1, agent=2)
    truth = colme.Reply("b", mean, count, squares, (spread, math.inf, 2.0), epoch=3)
    for _ in range(3):
        told = tongue(truth)
        assert (told.sender, told.epoch) == ("b", 3)
        if lie != "random":
            assert told.mean == mean + shift
        elif count:
            assert -1 <= told.mean <= 1
    assert tongue(colme.Reply("b", 0.5, 10)).shape is None


def test_what_each_lie_says() -> None:
    truth = colme.Reply("b", 0.5, 10, 2.0, (0.5, 1.0, 2.0))
    lies = {lie: tongue_of(lie, 0.25, 0.0, 1.0, 1, 2) for lie in LIES}
    assert lies["shifted"](truth) == dataclasses.replace(truth, mean=0.75)
    inflated = colme.Reply("b", 0.75, 1000, 200.0, (0.005, 1.0, 2.0))
    assert lies["inflated"](truth) == inflated
    told = [lies["random"](truth) for _ in range(50)]
    assert len({reply.mean for reply in told}) == 50
    assert len({reply.count for reply in told}) > 20
    for reply in told:  # they scatter as the truth does
        assert reply.squares == pytest.approx(0.2 * reply.count)
    with pytest.raises(ValueError, match="a lie is one of shifted, inflated, random; received"):
        tongue_of("white", 0.1, 0.0, 1.0, 1, 2)  # type: ignore[arg-type]


# Settings and layout


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "a b"}, "fleet must be 1 to 64"),
        ({"processes": 0}, "processes must be at least 1"),
        ({"processes": 13}, "13 processes for 12 agents"),
        ({"interval": 0.0}, "interval must be greater than 0"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"every": -1.0}, "every must be 0 or greater"),
        ({"liars": 1.5}, "liars is a share"),
        ({"shift": math.nan}, "shift must be a finite number"),
        ({"mode": "router"}, "mode is client or peer; received 'router'"),
        ({"lie": "white"}, "a lie is one of"),
        ({"seed": -1}, "seed must be 0 or greater"),
        ({"in_step": True, "liars": 0.5, "lie": "random"}, "true counts"),
    ],
    ids=str,
)
def test_settings_that_make_no_fleet_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        FleetSettings(PROBLEM, **changes)


def test_large_fleets_meet_at_a_router_and_remember_less() -> None:
    small, large, huge = (
        FleetSettings(Problem.gaussian([0.0], n_agents=n, sigma=1.0)) for n in (20, 21, 301)
    )
    assert [one.is_routed for one in (small, large, huge)] == [False, True, True]
    assert [one.told.room for one in (small, large, huge)] == [None, None, 64]
    assert [one.told.max_agents for one in (small, large, huge)] == [20, 21, 301]
    assert huge.names[0] == "000"
    assert huge.snapshot_every == pytest.approx(3.01)
    assert FleetSettings(huge.problem, mode="peer", in_step=True).snapshot_every == 0


def test_agents_know_the_truth_about_their_noise_unless_told_otherwise() -> None:
    assert usual_learning(PROBLEM).sigma == 0.5
    assert usual_learning(PROBLEM, estimated=True).sigma is None
    assert usual_learning(PROBLEM, range=(0, 1), max_agents=50).max_agents == 50


def test_liars_are_a_share_and_the_same_each_time() -> None:
    settings = FleetSettings(PROBLEM, liars=0.25)
    assert len(settings.liars_chosen) == 3
    assert settings.liars_chosen == FleetSettings(PROBLEM, liars=0.25).liars_chosen


@pytest.mark.parametrize("mode", ["client", "peer"])
@pytest.mark.parametrize("tls", [False, True])
def test_every_agent_lives_in_one_place(tmp_path: Path, mode: Any, tls: bool) -> None:
    layout = Layout(FleetSettings(PROBLEM, mode=mode, tls=tls, processes=3), tmp_path)
    hosts = [host for spec in layout.processes for host in spec.hosts]
    assert sorted(agent for host in hosts for agent in host.agents) == list(range(12))
    assert len({host.state for host in hosts}) == len(hosts) == (12 if tls else 3)
    assert all((host.keys is not None) == tls for host in hosts)
    assert (layout.router is not None) == (mode == "client")
    spec = layout.processes[1]
    assert ProcessSpec.model_validate_json(spec.model_dump_json()) == spec
    if mode == "peer":
        listening = [address for host in hosts for address in host.listen]
        assert len(set(listening)) == len(hosts)
        assert all(set(host.connect) <= set(listening) - set(host.listen) for host in hosts)


def test_a_folder_keeps_one_fleet_and_its_keys(tmp_path: Path) -> None:
    first = Layout(FleetSettings(PROBLEM, tls=True), tmp_path)
    again = Layout(FleetSettings(PROBLEM, tls=True, interval=2.0), tmp_path)
    keys = [layout.processes[0].hosts[0].keys for layout in (first, again)]
    assert keys[0] == keys[1]
    for other in ({"seed": 5}, {"processes": 3}, {"name": "other"}, {"tls": False}):
        with pytest.raises(ValueError, match=r"keeps a fleet with other .*or an empty folder"):
            Layout(FleetSettings(PROBLEM, **({"tls": True} | other)), tmp_path)
    (tmp_path / "fleet.json").write_text("[")
    with pytest.raises(ValueError, match=r"cannot read .*give an empty folder"):
        Layout(FleetSettings(PROBLEM, tls=True), tmp_path)


# Snapshots and sums


def test_a_snapshot_is_read_as_it_was_published() -> None:
    assert read_snapshot(json.dumps(REPORT).encode()) == REPORT
    undecided = {**REPORT, "estimate": math.nan}
    assert read_snapshot(json.dumps(undecided).encode())["estimate"] is None


@pytest.mark.parametrize(
    "change",
    [
        {"agent": "a b"},
        {"agent": None},
        {"fleet": "\x1b[2J"},
        {"count": -1},
        {"count": True},
        {"samples": 1.5},
        {"class_size": "8"},
        {"mean": "0.5"},
        {"estimate": [1]},
        {"messages": None},
        {"messages": {"asked": "3"}},
        {"refused": {"\x1b[2J": 1}},
        {"refused": {"x" * 65: 1}},
        {"delay": 3},
        {"delay": {"p50": "soon"}},
    ],
    ids=str,
)
def test_what_is_no_snapshot_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"not a snapshot|must be 1 to 64"):
        read_snapshot(json.dumps(REPORT | change).encode())


@given(st.binary(max_size=200))
def test_bytes_are_a_snapshot_or_refused(payload: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_snapshot(payload)


def test_nothing_long_or_deep_is_read() -> None:
    for payload in (b"[" * 60_000, b" " * 70_000):
        with pytest.raises(ValueError, match="not a snapshot"):
            read_snapshot(payload)


def test_the_sums_count_on_when_a_process_begins_anew() -> None:
    tally = Tally(FleetSettings(PROBLEM))
    tally.take(REPORT)
    tally.take({**REPORT, "messages": {"asked": 5, "answered": 3}})
    tally.take({**REPORT, "messages": {"asked": 1, "answered": 1}, "refused": {"garbage": 2}})
    tally.take({**REPORT, "agent": "stranger"})
    report = tally.report()
    assert report["messages"] == {"asked": 6, "answered": 4}
    assert report["refused"] == {"checksum": 1, "garbage": 2}
    assert (report["heard"], report["samples"]) == (1, 4)
    assert report["delay"] == {"p50": 0.002, "p99": 0.01, "worst": 0.01}
    assert json.loads(json.dumps(report)) == report


def test_only_honest_agents_are_judged() -> None:
    settings = FleetSettings(PROBLEM, liars=0.5)
    tally = Tally(settings)
    sizes = [
        sum(1 for agent in range(*ends) if agent not in settings.liars_chosen)
        for ends in ((0, 8), (8, 12))
    ]
    for agent, name in enumerate(settings.names):
        lies = agent in settings.liars_chosen
        size = sizes[0] if agent < 8 else 12
        estimate = 99.0 if lies else 0.3
        tally.take({**REPORT, "agent": name, "estimate": estimate, "class_size": size})
    first, second = tally.report()["classes"]
    assert (first["heard"], second["heard"]) == tuple(sizes)
    assert first["liars"] == 8 - sizes[0]
    assert (first["error"], second["error"]) == (pytest.approx(0.1), pytest.approx(0.5))
    assert first["local_error"] == pytest.approx(0.3)
    assert (first["identified"], second["identified"]) == (1.0, 0.0)


def test_the_truth_moves_with_the_problem() -> None:
    problem = Problem([0, 0, 1], [0.2, 0.2, 0.8], Gaussian(0.5), [Change(10, [1], 0.8)])
    tally = Tally(FleetSettings(problem))
    tally.take({**REPORT, "agent": "1", "count": 9, "estimate": 0.2, "class_size": 2})
    row = tally.report()["classes"][0]
    assert (row["error"], row["identified"]) == (0.0, 1.0)
    tally.take({**REPORT, "agent": "1", "count": 10, "estimate": 0.2, "class_size": 2})
    tally.take({**REPORT, "agent": "0", "count": 10, "estimate": 0.2, "class_size": 2})
    row = tally.report()["classes"][0]
    assert (row["error"], row["identified"]) == (pytest.approx(0.3), 0.5)


def test_nothing_is_said_of_classes_that_do_not_fit_into_a_row() -> None:
    tally = Tally(FleetSettings(PROBLEM, usual_learning(PROBLEM, room=4)))
    tally.take(REPORT)
    assert tally.report()["classes"][0]["identified"] is None


def test_a_fleet_that_is_not_started_has_nobody_to_kill() -> None:
    fleet = Fleet(FleetSettings(PROBLEM))
    with pytest.raises(ValueError, match="no process 0 in this fleet; there are none"):
        asyncio.run(fleet.kill(0))
    with pytest.raises(ValueError, match="once it is started"):
        fleet.meeting_point  # noqa: B018


# Real processes


def test_a_fleet_lives_through_the_death_of_a_process_and_of_its_router(tmp_path: Path) -> None:
    settings = FleetSettings(
        PROBLEM, mode="client", interval=0.05, state=tmp_path, sync=False, liars=0.1
    )

    async def live() -> None:
        async with Fleet(settings) as fleet:
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
        async with Fleet(settings) as fleet:
            await until(lambda: len(fleet.snapshots) == 12, fleet)
            assert all(samples(fleet, name) >= n for name, n in kept.items())
            pids.extend(fleet.pids.values())
            fleet.send(1, signal.SIGSTOP)
            begin = time.monotonic()
        assert time.monotonic() - begin < 3  # the frozen process is killed

    asyncio.run(live_again())
    assert all(map(is_gone, pids))


def samples(fleet: Fleet, name: str) -> int:
    return int(fleet.snapshots[name]["samples"])


def test_with_keys_every_agent_speaks_for_itself_and_a_guest_can_watch() -> None:
    problem = Problem.gaussian([0.2], n_agents=4, sigma=0.5)
    settings = FleetSettings(problem, mode="client", tls=True, interval=0.05, sync=False)

    async def live() -> Path:
        async with Fleet(settings) as fleet:
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
    settings = FleetSettings(problem, in_step=True, steps=steps, interval=0.001, sync=False)

    async def live() -> dict[str, dict[str, Any]]:
        async with Fleet(settings) as fleet:
            await until(lambda: fleet.is_finished, fleet)
        return fleet.snapshots

    snapshots = asyncio.run(live())
    drawn = np.array([Stream(problem, 1, agent, 1.0).block(0)[:steps] for agent in range(5)])
    twin = colme.lockstep(drawn.T[None], "sharp", sigma=0.5, delta=0.001)
    assert twin.estimates is not None
    estimates = [snapshots[name]["estimate"] for name in settings.names]
    assert estimates == pytest.approx(twin.estimates[0, -1], abs=1e-12)
    assert [snapshots[name]["samples"] for name in settings.names] == [steps] * 5


def test_a_process_that_cannot_live_says_why(tmp_path: Path) -> None:
    (tmp_path / "process-1").write_text("in the way")

    async def live() -> None:
        async with Fleet(FleetSettings(PROBLEM, state=tmp_path)) as fleet:
            await until(lambda: False, fleet)

    with pytest.raises(ValueError, match=r"process 1 of the fleet has ended: .*process-1"):
        asyncio.run(live())
