"""Sweeps for tests, what they must come to, and real processes that run them."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import psutil

from colme.sweep import Sweep, measure_point
from colme.sweep.parquet import write_results

TINY: dict[str, Any] = {
    "algorithms": ["local", "round-robin"],
    "horizon": 30,
    "runs": 2,
    "problem": {"class_means": [0.2, 0.8], "sigma": 0.3},
    "grid": {"problem.n_agents": [4, 6], "seed": [1, 2, 3]},
}
"""Points that take a few milliseconds."""

PATIENCE = 120.0
"""Seconds until a test gives up waiting: a busy machine may take long to start a process."""

SLOW = """
algorithms = ["round-robin"]
horizon = 1500
runs = 8

[problem]
class_means = [0.2, 0.8]
n_agents = 60
sigma = 0.5

[grid]
delta = [0.1, 0.01]
seed = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
"""
"""Points that take long enough for somebody to be killed in the middle of them."""


def written(folder: Path) -> Path:
    """Write the slow sweep to a file, and return where it is."""
    path = folder / "slow.toml"
    path.write_text(SLOW)
    measure_point(Sweep.read(path).points[0].content)  # loops are compiled now, and not later
    return path


@cache
def slow_results() -> bytes:
    """Return the results of the slow sweep, measured by this process."""
    with tempfile.TemporaryDirectory() as place:
        spec = Path(place, "slow.toml")
        spec.write_text(SLOW)
        return expected(Sweep.read(spec), Path(place, "slow.parquet"))


def expected(sweep: Sweep, path: Path) -> bytes:
    """Return the results as one process gives them that measures one point after the other."""
    write_results(path, sweep, lambda number: measure_point(sweep.points[number].content))
    return path.read_bytes()


def start(spec: Path, *flags: str) -> subprocess.Popen[str]:
    """Start a sweep as the leader of a process group of its own, as a terminal does."""
    return subprocess.Popen(
        [sys.executable, "-m", "colme", "sweep", str(spec), *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def until(holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it has not come to hold in time"
        time.sleep(0.01)


def journal_of(spec: Path) -> Path:
    """Return where a sweep keeps its finished points."""
    return spec.with_suffix(".parquet.journal")


def wait_for_points(spec: Path, process: subprocess.Popen[str], n_more: int = 1) -> None:
    """Wait until so many more points are in the journal, or until the sweep has ended."""
    begin = _n_lines(spec)
    until(lambda: _n_lines(spec) >= begin + n_more or process.poll() is not None)


def children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return every process that a sweep has started, and that runs."""
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def are_gone(processes: list[psutil.Process]) -> bool:
    """Return whether none of them runs any more."""
    return all(not _runs(process) for process in processes)


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _n_lines(spec: Path) -> int:
    try:
        return max(1, journal_of(spec).read_bytes().count(b"\n"))
    except FileNotFoundError:
        return 1
