"""Killed at any moment, as often as you like: what comes out is the same to the byte."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import psutil
import pytest
from sweeps import (
    PATIENCE,
    are_gone,
    children,
    journal_of,
    slow_results,
    start,
    until,
    wait_for_points,
    written,
)

from colme.sweep.point_journal import unpack

LONGEST = 0.06
"""Seconds from a finished point to the kill."""


def kill(spec: Path, delay: float, flags: list[str], how: signal.Signals) -> tuple[int, str]:
    """Start a sweep, send its leader a signal soon after it has come on; return how it ended."""
    with start(spec, *flags) as sweep:
        wait_for_points(spec, sweep)
        time.sleep(delay)
        family = children(sweep)
        sweep.send_signal(how)
        _, err = sweep.communicate(timeout=PATIENCE)
    until(lambda: are_gone(family))
    return sweep.returncode, err


@pytest.mark.parametrize("engine", ["local", "dask"])
def test_a_sweep_that_is_killed_goes_on_and_gives_the_same_bytes(
    tmp_path: Path, engine: str
) -> None:
    spec, delays = written(tmp_path), random.Random(20240117)
    kept = 0
    flags = ["--engine", engine, "--workers", "1"]
    for how in (signal.SIGKILL, signal.SIGINT, signal.SIGKILL):
        code, err = kill(spec, delays.uniform(0, LONGEST), flags, how)
        check_end(spec, how, code, err)
        lines = journal_of(spec).read_bytes().splitlines(keepends=True)[1:]
        numbers = [unpack(line)["point"] for line in lines if line.endswith(b"\n")]
        assert kept < len(numbers) == len(set(numbers)) < 20
        kept = len(numbers)
        assert not spec.with_suffix(".parquet").exists()
    out, listening = go_on_without_a_worker(spec, delays.uniform(0, LONGEST), flags, kept)
    assert listening == ({"127.0.0.1"} if engine == "dask" else set())
    assert f"20 points measured, {kept} of them before" in out
    assert spec.with_suffix(".parquet").read_bytes() == slow_results()
    assert not journal_of(spec).exists()


def go_on_without_a_worker(
    spec: Path, delay: float, flags: list[str], kept: int
) -> tuple[str, set[str]]:
    """Go on with a sweep and kill its only worker, who must be replaced for it to come to an end.

    Return what it printed, and where it listened.
    """
    with start(spec, *flags) as sweep:
        wait_for_points(spec, sweep)
        family = children(sweep)
        (worker,) = [one for one in family if "resource_tracker" not in " ".join(one.cmdline())]
        listening = {
            connection.laddr.ip
            for one in [psutil.Process(sweep.pid), *family]
            for connection in one.net_connections()
            if connection.status == psutil.CONN_LISTEN
        }
        time.sleep(delay)
        worker.kill()
        out, err = sweep.communicate(timeout=PATIENCE)
    assert sweep.returncode == 0, err
    told = [kept, *range(kept // 2 * 2 + 2, 21, 2)]
    assert err.splitlines() == [f"{done} of 20 points" for done in told]
    until(lambda: are_gone(family))
    return out, listening


def check_end(spec: Path, how: signal.Signals, code: int, err: str) -> None:
    """Check that a sweep ended as it was told to; after Ctrl-C it says what is kept."""
    if how == signal.SIGKILL:
        assert code == -signal.SIGKILL
        return
    assert code == 130, err
    *progress, kept, last = err.splitlines()
    assert all(line.endswith(" of 20 points") for line in progress)
    where = f"finished points are kept in {journal_of(spec)}"
    assert kept == f"colme: {where}: the same command continues from there"
    assert last == "colme: interrupted"
