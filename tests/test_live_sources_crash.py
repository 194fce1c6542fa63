"""Processes killed in mid-stream: nothing is lost and nothing counted twice."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

N = 400
N_KILLS = 4

NODE = """
import asyncio, json, os, sys
from pathlib import Path
from colme.live.sources import FileSource, make_source

async def main(word, store):
    state = json.loads(store.read_text()) if store.exists() else {"values": [], "position": None}
    path = word.removeprefix("file:")
    source = make_source(word) if path == word else FileSource(path, interval=0.001)
    arrived = asyncio.Queue(5)

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


def wait_for_samples(store: Path, number: int) -> None:
    end = time.monotonic() + 20
    while len(stored(store)) < number:
        assert time.monotonic() < end, "nothing moves any more"
        time.sleep(0.002)


def moments(start: int, end: int, seed: int) -> list[int]:
    """Return after how many samples to kill someone."""
    return sorted(random.Random(seed).sample(range(start, end), N_KILLS))


def write(path: Path, start: int, end: int) -> None:
    with path.open("a") as file:
        file.writelines(f"{number}\n" for number in range(start, end))


def test_a_file_survives_kills_and_rotation_while_no_one_looks(tmp_path: Path) -> None:
    path, store = tmp_path / "readings", tmp_path / "store.json"
    *before, last = moments(1, N // 4, seed=1)
    write(path, 0, N // 4)
    with running(NODE, f"file:{path}", str(store)) as node:
        for moment in before:
            wait_for_samples(store, moment)
            node.restart()
        wait_for_samples(store, last)
        node.kill()
        write(path, N // 4, N // 2)
        path.rename(path.with_name("readings.1"))
        write(path, N // 2, N)
        node.restart()
        for moment in moments(N // 2, N, seed=2)[::2]:
            wait_for_samples(store, moment)
            node.restart()
        wait_for_samples(store, N)
    assert stored(store) == [float(number) for number in range(N)]


def test_a_socket_survives_kills_of_either_side(tmp_path: Path) -> None:
    address, store = f"unix:{tmp_path}/socket", tmp_path / "store.json"
    with running(NODE, address, str(store)) as node, running(DEVICE, address, str(N)) as device:
        for number, moment in enumerate(moments(1, N, seed=3)):
            wait_for_samples(store, moment)
            (device if number % 2 else node).restart()
        wait_for_samples(store, N)
        assert device.process.wait(20) == 0  # it has heard that all is durable
    assert stored(store) == [float(number) for number in range(N)]
