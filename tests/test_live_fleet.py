"""A demonstration fleet: its settings, and which agents run where."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from local_fleets import PROBLEM

from colme.live.fleet import FleetSettings
from colme.live.fleet.fleet_layout import FleetLayout, ProcessSpec
from colme.problem import Problem


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"fleet": "a b"}, "a name must be 1 to 64"),
        ({"processes": 0}, "processes: Input should be greater than or equal to 1"),
        ({"processes": 13}, "13 processes for 12 agents"),
        ({"interval": 0.0}, "interval: Input should be greater than 0"),
        ({"steps": 0}, "steps: Input should be greater than or equal to 1"),
        ({"every": -1.0}, "every: Input should be greater than or equal to 0"),
        ({"liars": 1.5}, "liars: Input should be less than or equal to 1"),
        ({"shift": math.nan}, "shift: Input should be a finite number"),
        ({"mode": "router"}, "mode: Input should be 'client' or 'peer'; received 'router'"),
        ({"lie": "white"}, "lie: Input should be 'shifted', 'inflated' or 'random'"),
        ({"seed": -1}, "seed: Input should be greater than or equal to 0"),
        ({"in_step": True, "relays": 4}, "leave out relays"),
        ({"in_step": True, "liars": 0.5, "lie": "random"}, "true counts"),
    ],
    ids=str,
)
def test_settings_that_make_no_fleet_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        FleetSettings.make({"problem": PROBLEM} | changes)


def test_large_fleets_meet_at_a_router_and_remember_less() -> None:
    small, large, huge = (
        FleetSettings(problem=Problem.gaussian([0.0], n_agents=n, sigma=1.0)) for n in (20, 21, 301)
    )
    modes = [one.mode_of_agents for one in (small, large, huge)]
    assert modes == ["peer", "client", "client"]
    assert [one.room for one in (small, large, huge)] == [None, None, 64]
    assert [one.max_agents for one in (small, large, huge)] == [20, 21, 301]
    assert huge.names[0] == "000"
    assert huge.schedule.every == pytest.approx(3.01)
    assert FleetSettings(problem=huge.problem, mode="peer", in_step=True).schedule.every == 0


def test_agents_know_the_truth_about_their_noise_unless_told_otherwise() -> None:
    assert FleetSettings(problem=PROBLEM).sigma == 0.5
    assert FleetSettings(problem=PROBLEM, estimated=True).sigma is None
    assert FleetSettings(problem=PROBLEM, range=(0, 1), max_agents=50).max_agents == 50


def test_liars_are_a_share_and_the_same_each_time() -> None:
    settings = FleetSettings(problem=PROBLEM, liars=0.25)
    assert len(settings.liar_numbers) == 3
    assert settings.liar_numbers == FleetSettings(problem=PROBLEM, liars=0.25).liar_numbers


@pytest.mark.parametrize("mode", ["client", "peer"])
@pytest.mark.parametrize("tls", [False, True])
def test_every_agent_lives_in_one_place(tmp_path: Path, mode: Any, tls: bool) -> None:
    layout = FleetLayout(FleetSettings(problem=PROBLEM, mode=mode, tls=tls, processes=3), tmp_path)
    hosts = [host for spec in layout.processes for host in spec.hosts]
    assert sorted(agent for host in hosts for agent in host.agents) == list(range(12))
    assert len({host.state for host in hosts}) == len(hosts) == (12 if tls else 3)
    assert all((host.connection.keys is not None) == tls for host in hosts)
    assert (layout.router is not None) == (mode == "client")
    spec = layout.processes[1]
    again = ProcessSpec.model_validate_json(text := spec.model_dump_json())
    assert (again.hosts, again.model_dump_json()) == (spec.hosts, text)
    if mode == "peer":
        ways = [host.connection for host in hosts]
        listening = [address for way in ways for address in way.listen]
        assert len(set(listening)) == len(hosts)
        assert all(set(way.connect) <= set(listening) - set(way.listen) for way in ways)
        assert {address for way in ways for address in way.connect} == {
            spec.hosts[0].connection.listen[0] for spec in layout.processes
        }


def test_a_folder_keeps_one_fleet_and_its_keys(tmp_path: Path) -> None:
    first = FleetLayout(FleetSettings(problem=PROBLEM, tls=True), tmp_path)
    again = FleetLayout(FleetSettings(problem=PROBLEM, tls=True, interval=2.0), tmp_path)
    keys = [layout.processes[0].hosts[0].connection.keys for layout in (first, again)]
    assert keys[0] == keys[1]
    for other in ({"seed": 5}, {"processes": 3}, {"fleet": "other"}, {"tls": False}):
        with pytest.raises(ValueError, match=r"stores a fleet with another .*or an empty folder"):
            FleetLayout(FleetSettings(problem=PROBLEM, **({"tls": True} | other)), tmp_path)
    (tmp_path / "fleet.json").write_text("[")
    with pytest.raises(ValueError, match=r"cannot read .*give an empty folder"):
        FleetLayout(FleetSettings(problem=PROBLEM, tls=True), tmp_path)
