"""Killed processes and full disks: nothing acknowledged is lost, nothing counts twice."""

import asyncio
import json
import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from storing import AGENTS, FILE, FLEET, TOGETHER, numbers

from colme.live.store import Store, StoreBusy, StoreUnwritable
from colme.live.store.database_file import open_file

SCRIPT = Path(__file__).with_name("storing.py")
N_KILLS = 15


class Serving:
    """A process that forks writers, and what the last of them has acknowledged."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.acknowledged = dict.fromkeys(AGENTS, 0)
        self.writer = 0

    def start(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        word, self.writer = self.hear()
        while word != "process":  # a fast writer is heard before it is announced
            word, self.writer = self.hear()

    def hear(self) -> tuple[str, int]:
        assert self.process.stdout is not None
        word, number = self.process.stdout.readline().split()
        if word in AGENTS:
            assert int(number) == self.acknowledged[word] + 1
            self.acknowledged[word] += 1
        return word, int(number)

    def kill(self) -> None:
        os.kill(self.writer, signal.SIGKILL)
        while self.hear()[0] != "gone":
            pass
        self.writer = 0


@contextmanager
def serving(folder: Path) -> Iterator[Serving]:
    command = [sys.executable, str(SCRIPT), "serve", str(folder)]
    process = subprocess.Popen(command, stdin=-1, stdout=-1, text=True)
    server = Serving(process)
    try:
        yield server
    finally:
        if server.writer:
            os.kill(server.writer, signal.SIGKILL)
        process.communicate()
    assert process.returncode == 0


def kept(folder: Path) -> dict[str, list[int]]:
    store = Store(folder, FLEET)
    try:
        return {agent: numbers(store.register(agent)) for agent in AGENTS}
    finally:
        asyncio.run(store.close())


def test_killed_at_any_moment_a_store_keeps_what_was_acknowledged_once(tmp_path: Path) -> None:
    moments = random.Random(20)
    with serving(tmp_path / "state") as server:
        for kill in range(N_KILLS):
            server.start()
            for _ in range(moments.randrange(1, 60)):
                assert server.hear()[0] in AGENTS
            time.sleep(moments.uniform(0, 0.003))
            server.kill()
            # The image is opened in its place, so that the next writer finds what the kill left.
            image = tmp_path / f"image{kill}"
            shutil.copytree(tmp_path / "state", image)
            for agent, found in kept(image).items():
                assert found == list(range(1, len(found) + 1))
                assert 0 <= len(found) - server.acknowledged[agent] <= 1
                server.acknowledged[agent] = len(found)
        assert min(server.acknowledged.values()) > N_KILLS


def test_one_process_at_a_time_has_a_store_until_it_is_killed(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        server.start()
        server.hear()
        with pytest.raises(StoreBusy, match=r"colme\.sqlite is open elsewhere: stop the process"):
            Store(tmp_path, FLEET)
        server.hear()  # it has not noticed
        server.kill()
        assert all(kept(tmp_path).values())


@pytest.mark.parametrize("limit", [300_000, 1_500_000], ids=["log is full", "file is full"])
@pytest.mark.parametrize("end", ["die", "mend"])
def test_a_full_disk_refuses_writes_whole_until_there_is_room(
    tmp_path: Path, limit: int, end: str
) -> None:
    command = [sys.executable, str(SCRIPT), "cramp", str(tmp_path), str(limit), end]
    lines = subprocess.run(command, check=True, stdout=-1, text=True).stdout.splitlines()
    acknowledged = json.loads(lines[-1])
    assert {agent: len(found) for agent, found in kept(tmp_path).items()} == acknowledged
    for found in kept(tmp_path).values():
        assert found == list(range(1, len(found) + 1))
        assert len(found) % TOGETHER == 0
        assert len(found) > 0
    assert len(lines) == (1 if end == "die" else 2)


# What must reach the disk, and in which order


@pytest.mark.parametrize(("sync", "level"), [(True, 2), (False, 1)], ids=["sync", "no sync"])
def test_a_store_waits_for_the_disk_at_every_commit_unless_told_otherwise(
    tmp_path: Path, sync: bool, level: int
) -> None:
    """2 is FULL: every commit is synced; 1 is NORMAL: only when the log is folded in."""
    with closing(open_file(tmp_path, FLEET, sync=sync)) as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (level,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_the_name_of_a_new_file_is_synced_once_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[list[str]] = []
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            assert os.path.samestat(os.fstat(descriptor), tmp_path.stat())
            synced.append(sorted(path.name for path in tmp_path.iterdir()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    open_file(tmp_path, FLEET, sync=True).close()
    assert synced == [[FILE]]
    open_file(tmp_path, FLEET, sync=True).close()
    assert len(synced) == 1


class Unsynced:
    """A connection whose next commit fails, as if the disk had refused its last sync."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection, self.is_failing = connection, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: str, *arguments: Any) -> sqlite3.Cursor:
        if statement == "COMMIT" and self.is_failing:
            self.is_failing = False
            raise sqlite3.OperationalError("disk I/O error")
        return self._connection.execute(statement, *arguments)


def n_failed(folder: Path) -> int:
    with closing(open_file(folder, FLEET, sync=True)) as connection:
        found: int = connection.execute("SELECT n_failed FROM about").fetchone()[0]
        return found


def test_after_a_failed_commit_another_transaction_takes_its_place_in_the_log(
    tmp_path: Path,
) -> None:
    """Else a crash could bring back, from the end of the log, what was reported as failed."""

    async def main() -> None:
        store = Store(tmp_path / "state", FLEET)
        store.register("ada")
        await store.append("ada", b"1")
        connection = Unsynced(store._tables.connection)
        store._tables.connection = connection  # type: ignore[assignment]
        connection.is_failing = True
        with pytest.raises(StoreUnwritable, match="nothing of it is kept"):
            await store.append("ada", b"lost")
        shutil.copytree(tmp_path / "state", tmp_path / "image")
        assert n_failed(tmp_path / "image") == 1
        await store.append("ada", b"2")
        await store.close()

    asyncio.run(main())
    assert kept(tmp_path / "state")["ada"] == [1, 2]
    assert kept(tmp_path / "image")["ada"] == [1]
