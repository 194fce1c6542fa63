"""`colme node` and `colme router` as real processes: what they take, print, refuse and leave."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.request import urlopen

import pytest
from commands import Command, free_address, until
from test_cli import run

from colme.live.keys import Authority
from colme.live.sources import socket_feed
from colme.live.store import Store

Capture = pytest.CaptureFixture[str]
HALL = ["--fleet", "home", "--id", "hall", "--state", "hall", "--sigma", "0.5"]
SOON = 2.0
"""Seconds in which a node ends when it is told to."""


class Home:
    """Three nodes that find each other, each with samples from elsewhere."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self.meeting, self.metrics = folder, free_address(), free_address()
        (folder / "attic.toml").write_text(
            'fleet = "home"\nid = "attic"\nstate = "elsewhere"\nsigma = 0.5\ninterval = 60\n'
            f'connect = ["{self.meeting}"]\n'
        )
        (folder / "readings").write_text("0.5\nwarm\n0.7\n")
        often = ["--interval", "0.05", "--log", "info"]
        flags = {
            "hall": [*HALL, "--listen", self.meeting, "--metrics", self.metrics]
            + ["--source", f"unix:{folder / 's'}"],
            "attic": ["attic.toml", "--state", "attic"],
            "cellar": [*HALL, "--id", "cellar", "--state", "cellar", "--connect", self.meeting]
            + ["--source", "file:readings"],
        }
        self.nodes = {
            name: stack.enter_context(Command("node", *more, *often, folder=folder))
            for name, more in flags.items()
        }


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    with ExitStack() as stack:
        yield Home(tmp_path_factory.mktemp("home"), stack)


def test_nodes_take_samples_from_files_sockets_and_standard_input_and_pool_them(home: Home) -> None:
    nodes = home.nodes
    nodes["attic"].feed(0.4, '{"value": 0.6}', "nan", "", "0.5")
    until((home.folder / "s").exists)
    sent = asyncio.run(socket_feed(f"unix:{home.folder / 's'}", [0.3, 0.6, 0.9]))
    with (home.folder / "readings").open("a") as file:
        file.write("0.6\n")
    expected = {"attic": (3, 1, 0.5), "hall": (sent, 0, 0.6), "cellar": (3, 1, 0.6)}
    for name, (count, bad, mean) in expected.items():
        last = nodes[name].until(
            lambda one, n=count: (
                one["samples"] == n and one["present"] == 2 and one["messages"].get("heard", 0) > 4
            )
        )
        assert (last["agent"], last["fleet"], last["count"]) == (name, "home", count)
        assert last["mean"] == pytest.approx(mean)
        assert last["refused"] == ({"sample": bad} if bad else {})
        assert last["class_size"] == 3
    assert (home.folder / "attic").is_dir()
    assert not (home.folder / "elsewhere").exists()


def test_all_that_is_printed_is_json_a_line_each(home: Home) -> None:
    for name, node in home.nodes.items():
        node.until(lambda one: one["messages"].get("ticks", 0) > 2)
        assert {one["agent"] for one in node.snapshots} == {name}
        assert all(one.keys() >= {"time", "level", "message"} for one in node.logs)
    home.nodes["attic"].feed("hot")
    home.nodes["attic"].until(lambda one: one["refused"])
    until(lambda: any("'hot'" in one["message"] for one in home.nodes["attic"].logs))


def test_metrics_can_be_fetched(home: Home) -> None:
    home.nodes["hall"].until(lambda one: one["messages"].get("ticks", 0) > 0)
    with urlopen(f"http://{home.metrics}/metrics", timeout=20) as page:
        text = page.read().decode()
    assert 'colme_ticks_total{agent="hall",fleet="home"}' in text


def test_a_state_that_is_in_use_is_not_touched(home: Home, capsys: Capture) -> None:
    home.nodes["hall"].until(lambda _: True)
    state = str(home.folder / "hall")
    code, out, err = run(capsys, "node", *HALL, "--state", state)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "is open elsewhere: stop the process that has it" in err


def test_an_address_in_use_is_one_line_and_exit_code_2(home: Home, tmp_path: Path) -> None:
    home.nodes["hall"].until(lambda _: True)
    source = f"unix:{home.folder / 's'}"
    calls = {
        "cannot open the network": ["node", *HALL, "--listen", home.meeting],
        f"cannot serve metrics at {home.metrics}": ["node", *HALL, "--metrics", home.metrics],
        f"cannot listen at {source}": ["node", *HALL, "--source", source],
        f"cannot open the network ({home.meeting})": ["router", "--fleet", "home", "--listen"]
        + [home.meeting],
    }
    with ExitStack() as stack:
        started = {
            message: stack.enter_context(Command(*call, folder=_new(tmp_path / str(number))))
            for number, (message, call) in enumerate(calls.items())
        }
        for command in started.values():
            command.feed(0.5)
        for message, command in started.items():
            assert command.wait() == 2
            (line,) = [line for line in command.err if not line.startswith("{")]
            assert line.startswith("colme: ")
            assert message in line
            assert command.out == []
    assert home.nodes["hall"].process.poll() is None


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder
