"""`colme fleet` and `colme watch`: flags, what they show, and that they end and leave nothing."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from local_fleets import PROBLEM, REPORT
from rich.console import Console
from test_cli import run

from colme._terminal.fleet_tables import print_snapshots, show_agents, show_fleet, showing
from colme.live.fleet import FleetProgress, FleetSettings
from colme.live.fleet.fleet_layout import free_addresses

Capture = pytest.CaptureFixture[str]
COLME = [sys.executable, "-m", "colme"]
SMALL = ["fleet", "--class-means", "0.2", "0.8", "--agents", "6", "--sigma", "0.5", "--no-sync"]


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    """Give a list of processes that are ended, whatever happens."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


def start(started: list[subprocess.Popen[str]], *arguments: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    process = subprocess.Popen([*COLME, *arguments], stdout=pipe, stderr=pipe, text=True)
    started.append(process)
    return process


def children(process: subprocess.Popen[str], n: int) -> list[psutil.Process]:
    """Return the processes that a fleet has started, once there are so many."""
    end = time.monotonic() + 30
    while len(found := psutil.Process(process.pid).children()) < n:
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def test_a_fleet_takes_its_steps_and_tells_how_it_fared(capsys: Capture) -> None:
    flags = ["--steps", "15", "--interval", "0.02", "--liars", "0.2", "--lie", "random", "--json"]
    code, out, err = run(capsys, *SMALL, *flags)
    report = json.loads(out)
    assert code == 0
    assert "watch it from elsewhere: colme watch --fleet demo --connect 127.0.0.1:" in err
    assert (report["agents"], report["liars"], report["heard"]) == (6, 1, 6)
    assert report["samples"] == 6 * 15
    assert [row["true_mean"] for row in report["classes"]] == [0.2, 0.8]
    assert all(row["error"] < 1 for row in report["classes"])


def test_agents_of_a_fleet_relay_what_others_said(capsys: Capture) -> None:
    flags = ["--relays", "4", "--steps", "40", "--interval", "0.05", "--tls", "--json"]
    code, out, _ = run(capsys, *SMALL, *flags)
    report = json.loads(out)
    assert code == 0
    assert report["messages"]["relayed"] > 20
    assert report["refused"] == {}
    assert report["samples"] == 6 * 40


def test_others_can_watch_a_fleet_and_a_signal_ends_it_all(
    started: list[subprocess.Popen[str]],
) -> None:
    fleet = start(started, *SMALL, "--mode", "client", "--interval", "0.05", "--seconds", "60")
    assert fleet.stdout is not None
    found = re.search(r"colme watch (--fleet demo --connect \S+)", fleet.stdout.readline())
    assert found is not None
    watch = start(started, "watch", *found[1].split(), "--json", "--seconds", "30")
    assert watch.stdout is not None
    seen: set[str] = set()
    while seen < {"0", "1", "2", "3", "4", "5"}:
        seen.add(json.loads(watch.stdout.readline())["agent"])
    watch.send_signal(signal.SIGINT)
    watch.communicate(timeout=20)
    assert watch.returncode == 0
    processes = children(fleet, 3)
    begin = time.monotonic()
    fleet.terminate()
    out, err = fleet.communicate(timeout=20)
    assert time.monotonic() - begin < 4
    assert (fleet.returncode, err) == (0, "")
    assert "6 of 6 agents" in out
    assert "likely" in out
    assert not any(process.is_running() for process in processes)


def test_processes_end_when_whoever_started_them_is_killed(
    started: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    fleet = start(started, *SMALL, "--mode", "client", "--state", str(tmp_path))
    processes = children(fleet, 3)
    fleet.kill()
    _, alive = psutil.wait_procs(processes, timeout=30)
    assert alive == []


def test_a_watcher_waits_for_a_fleet(capsys: Capture) -> None:
    (address,) = free_addresses(1)
    code, out, err = run(capsys, "watch", "--fleet", "x", "--connect", address, "--seconds", "0.1")
    assert (code, err) == (0, "")
    assert out.strip() == f"waiting for agents of x: nobody at {address}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fleet", "--processes", "30"], "each process needs an agent: received 30"),
        (["fleet", "--algorithm", "magic"], "magic"),
        (["fleet", "--noise", "beta"], "missing: concentration"),
        (["fleet", "--interval", "0"], "interval: Input should be greater than 0"),
        (["watch", "--fleet", "x", "--connect", "here"], "an address is HOST:PORT"),
        (["watch", "--fleet", "x y", "--connect", "127.0.0.1:1"], "fleet must be 1 to 64"),
        (["watch", "--fleet", "x", "--connect", "example.org:1"], "--insecure"),
        (["watch", "--fleet", "x", "--connect", "127.0.0.1:1", "--keys", "no"], "colme keys issue"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_input_is_told_in_a_line(capsys: Capture, arguments: list[str], said: str) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", ["fleet", "watch --fleet x --connect 127.0.0.1:1"])
def test_without_the_libraries_the_remedy_is_told(command: str) -> None:
    code = (
        "import sys; sys.modules['zenoh'] = None\n"
        f"from colme.cli import main; main({command.split()!r})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'colme[live]'" in done.stderr
    assert done.stderr.count("\n") == 1


# What is shown


def on_terminal(height: int) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=90, height=height)


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", console.file.getvalue())


def fleet_report() -> dict[str, Any]:
    progress = FleetProgress(FleetSettings(problem=PROBLEM, liars=0.1))
    for agent in range(12):
        progress.take({**REPORT, "agent": f"{agent:02}", "refused": {"too fast": 2}})
    return progress.report() | {"present": 12, "alive": [0, 1]}


def test_a_terminal_shows_each_class_and_the_sums() -> None:
    console = on_terminal(30)
    with showing(console) as show:
        show_fleet(show, fleet_report())
    text = shown(console)
    assert "demo: 12 of 12 agents, 2 processes" in text
    assert re.search(r"0\.2 .* 0\.0500 .* 0\.3000 ", text)
    assert "+ 1 lying" in text
    assert "99 % within 10 ms" in text
    assert "refused: 24 too fast" in text


def test_elsewhere_there_is_a_line_now_and_then() -> None:
    console = Console(file=io.StringIO(), width=60)
    with showing(console) as show:
        for _ in range(3):
            show_fleet(show, fleet_report())
    (line,) = shown(console).splitlines()
    assert re.fullmatch(r"0 s: 12 of 12 agents, 48 samples, error .*, 0 messages/s", line)


def test_as_many_agents_are_shown_as_fit() -> None:
    agents = [
        REPORT | {"agent": f"a{k}", "age": 2.0, "is_here": k < 15, "estimate": None}
        for k in range(20)
    ]
    console = on_terminal(17)
    with showing(console) as show:
        show_agents(show, "home", agents, None)
    text = shown(console)
    assert "home: 15 agents here, 20 seen, 80 samples" in text
    assert len(set(re.findall(r"│ a\d+ ", text))) == 10
    assert "and 10 more" in text


def test_snapshots_are_lines_of_json(capsys: Capture) -> None:
    print_snapshots([REPORT, REPORT])
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line) for line in lines] == [REPORT, REPORT]
