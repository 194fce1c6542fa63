"""A small problem for demonstration fleets, one snapshot of it, and how to wait for a fleet."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any

from colme.live.fleet import LocalFleet
from colme.problem import Problem

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


async def until(holds: Callable[[], object], fleet: LocalFleet, seconds: float = 30.0) -> None:
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


def samples(fleet: LocalFleet, name: str) -> int:
    return int(fleet.snapshots[name]["samples"])
