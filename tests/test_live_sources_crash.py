"""Processes killed in mid-stream: nothing is lost and nothing counted twice."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

N = 400
N_KILLS = 5

NODE = """
import asyncio, json, os, sys
from pathlib import Path
from colme.live.sources import source_of

async def main(word, store):
    state = json.loads(store.read_text()) if store.exists() else {"values": [], "position": None}
    source, arrived = source_of(word, interval=0.001), asyncio.Queue(20)

    async def read():
        async for sample in source.samples(state["position"]):
            await arrived.put(sample)

    reading = asyncio.create_task(read())
    while not reading.done():
        await asyncio.sleep(0.003)
        while not arrived.empty():
            sample = arrived.get_nowait()
            state["values"].append(sample.value)
            state["position"] = sample.position
        draft = store.with_suffix(".draft")
        draft.write_text(json.dumps(state))
        draft.replace(store)
        if state["position"] is not None:
            await source.acknowledge(state["position"])

asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
"""

DEVICE = """
import asyncio, sys
from colme.live.sources import socket_feed

log = [float(n) for n in range(int(sys.argv[2]))]
asyncio.run(socket_feed(sys.argv[1], log, longest_delay=0.05))
"""


class Restarted:
    """A process that can be killed without a warning and started again."""

    def __init__(self, program: str, *arguments: str) -> None:
        self._command = [sys.executable, "-c", program, *arguments]
        self.process = subprocess.Popen(self._command)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def restart(self) -> None:
        self.kill()
        self.process = subprocess.Popen(self._command)


@contextmanager
def running(program: str, *arguments: str) -> Iterator[Restarted]:
    process = Restarted(program, *arguments)
    try:
        yield process
    finally:
        process.kill()


def stored(store: Path) -> list[float]:
    return list(json.loads(store.read_text())["values"]) if store.exists() else []


def wait_for(predicate: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not predicate():
        assert time.monotonic() < end, "nothing moves any more"
        time.sleep(0.002)


def moments(seed: int) -> list[int]:
    """Return after how many samples to kill someone."""
    return sorted(random.Random(seed).sample(range(1, N), N_KILLS))


def test_a_file_survives_kills_and_rotation(tmp_path: Path) -> None:
    path, store = tmp_path / "readings", tmp_path / "store.json"
    lines = [f"{n}\n" for n in range(N)]
    half = N // 2

    def write(start: int, end: int) -> None:
        with path.open("a") as file:
            file.write("".join(lines[start:end]))

    write(0, half)
    with running(NODE, f"file:{path}", str(store)) as node:
        for moment in moments(1):
            wait_for(lambda moment=moment: len(stored(store)) >= min(moment, half))  # type: ignore[misc]
            node.kill()
            if moment > half and path.stat().st_size > half:
                path.rename(path.with_name("readings.1"))
            node.restart()
        write(half, N)
        wait_for(lambda: len(stored(store)) >= N)
    assert stored(store) == [float(n) for n in range(N)]


@pytest.mark.parametrize("victims", ["node", "device", "both"])
def test_a_socket_survives_kills_of_either_side(victims: str, tmp_path: Path) -> None:
    address, store = f"unix:{tmp_path}/socket", tmp_path / "store.json"
    with running(NODE, address, str(store)) as node, running(DEVICE, address, str(N)) as device:
        for number, moment in enumerate(moments(2)):
            wait_for(lambda moment=moment: len(stored(store)) >= moment)  # type: ignore[misc]
            if victims != "device" and (victims == "node" or number % 2):
                node.restart()
            else:
                device.restart()
        wait_for(lambda: len(stored(store)) >= N)
        assert device.process.wait(5) == 0  # it has heard that all is durable
    assert stored(store) == [float(n) for n in range(N)]
