"""Who measures points: processes that die, clusters that are there, and what they listen on."""

from __future__ import annotations

import importlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from commands import free_address
from sweeps import (
    PATIENCE,
    TINY,
    are_gone,
    children,
    expected,
    journal_of,
    start,
    until,
    wait_for_points,
    written,
)

import colme
from colme.sweep import Sweep, measure_point, run_sweep
from colme.sweep.engines import PointError, Task, compute_here, compute_on_cluster
from colme.sweep.engines.local import count_cores
from colme.sweep.point_journal import Journal
from colme.sweep.spec import FORMAT
from colme.sweep.versions import versions

distributed: Any = importlib.import_module("distributed")
dask: Any = importlib.import_module("dask")


def tasks(sweep: Sweep) -> list[Task]:
    return [Task(point.number, point.content) for point in sweep.points]


def failing() -> list[Task]:
    """Return points of which one cannot be measured, for a reason that no file tells."""
    content = Sweep.make(TINY).points[0].content
    bound = {"kind": "betting", "low": 0.0, "high": 0.1}
    return [Task(0, content), Task(1, content | {"bound": bound})]


@contextmanager
def cluster(n_workers: int) -> Iterator[str]:
    """Give the address of a cluster in this very process."""
    settings = {"processes": False, "threads_per_worker": 1, "dashboard_address": None}
    http = {"dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(
        n_workers=n_workers,
        host="127.0.0.1",
        protocol="tcp://",
        scheduler_kwargs=http,
        silence_logs=100,
        **settings,
    ) as there:
        yield there.scheduler_address


LOOPBACK = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")


@contextmanager
def worker_of(address: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Give a worker of a cluster, a process that finds its modules in a folder first."""
    worker = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny", *LOOPBACK],
        env=os.environ | {"PYTHONPATH": str(folder)},
        stderr=subprocess.DEVNULL,
        cwd=folder,
    )
    try:
        yield worker
    finally:
        worker.kill()
        worker.wait()


def test_points_come_as_they_are_finished_and_workers_are_gone_afterwards() -> None:
    sweep = Sweep.make(TINY)
    n_workers = count_cores() + 1
    found = compute_here(tasks(sweep), n_workers)
    next(found)
    workers = psutil.Process().children()
    assert len(workers) == min(n_workers, len(sweep.points))
    found.close()
    assert are_gone(workers)


def test_a_point_that_fails_is_named_with_its_reason() -> None:
    with pytest.raises(PointError, match="samples must be") as caught:
        list(compute_here(failing(), n_workers=1))
    assert caught.value.number == 1


def test_a_point_that_ends_every_process_is_told_and_the_rest_is_kept(tmp_path: Path) -> None:
    spec = written(tmp_path)
    with start(spec, "--workers", "1") as sweep:
        wait_for_points(spec, sweep, 2)
        end = time.monotonic() + PATIENCE
        while sweep.poll() is None and time.monotonic() < end:
            for worker in children(sweep):
                worker.kill()
            time.sleep(0.005)
        _, err = sweep.communicate(timeout=PATIENCE)
    assert sweep.returncode == 2
    said = err.splitlines()[-1]
    assert said.startswith("colme: point ")
    assert "it ended 3 processes that measured it, by signal 9 (SIGKILL)" in said
    assert f"of 20 points are kept in '{journal_of(spec)}'" in said
    assert journal_of(spec).read_bytes().count(b"\n") >= 3


def test_workers_end_with_the_sweep_that_started_them(tmp_path: Path) -> None:
    spec = written(tmp_path)
    with start(spec) as sweep:
        until(lambda: children(sweep))
        family = children(sweep)
        sweep.kill()
    until(lambda: are_gone(family))


def test_a_cluster_that_is_there_measures_the_same(tmp_path: Path) -> None:
    sweep, path = Sweep.make(TINY), tmp_path / "results.parquet"
    with Journal(tmp_path / "results.parquet.journal") as journal:  # another engine was here before
        journal.begin({"format": FORMAT, "specification": sweep.digest, "versions": versions()})
        journal.append(3, measure_point(sweep.points[3].content))
    with cluster(2) as address:
        outcome = run_sweep(sweep, path, engine="dask", scheduler=address)
        with pytest.raises(PointError, match="samples must be") as caught:
            list(compute_on_cluster(failing(), scheduler=address))
    assert (outcome.n_measured, outcome.n_found) == (5, 1)
    assert caught.value.number == 1
    assert path.read_bytes() == expected(sweep, tmp_path / "expected.parquet")
    assert dask.config.get("scheduler", None) is None  # what else uses Dask here is left alone


def test_a_scheduler_that_is_not_there_or_has_no_workers_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("colme.sweep.engines.cluster_client.PATIENCE", 0.5)
    some = tasks(Sweep.make(TINY))
    address = f"tcp://{free_address()}"
    with pytest.raises(ValueError, match=f"cannot reach a scheduler at '{address}' within 0.5 s"):
        list(compute_on_cluster(some, scheduler=address))
    with pytest.raises(ValueError, match="cannot reach a scheduler at 'nonsense://a'"):
        list(compute_on_cluster(some, scheduler="nonsense://a"))
    with cluster(0) as address, pytest.raises(ValueError, match="has no workers: start some with"):
        list(compute_on_cluster(some, scheduler=address))
    assert dask.config.get("scheduler", None) is None


def test_a_bad_address_is_one_line_at_once(tmp_path: Path) -> None:
    spec = written(tmp_path)
    with start(spec, "--scheduler", "tcp://127.0.0.1") as sweep:
        out, err = sweep.communicate(timeout=PATIENCE)
    assert (sweep.returncode, out) == (2, "")
    assert err.splitlines()[1:] == [
        "colme: cannot reach a scheduler at 'tcp://127.0.0.1' within 10 s (missing port number in "
        "address '127.0.0.1'): start one with `dask scheduler`, and give its address as "
        "tcp://HOST:PORT or tls://HOST:PORT"
    ]


@pytest.mark.parametrize("banner", [b"", b"SSH-2.0-OpenSSH\r\n"], ids=["silent", "another"])
def test_something_else_than_a_scheduler_is_told(
    monkeypatch: pytest.MonkeyPatch, banner: bytes
) -> None:
    monkeypatch.setattr("colme.sweep.engines.cluster_client.PATIENCE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"

        def greet() -> None:
            with suppress(OSError):
                while True:
                    server.accept()[0].sendall(banner)

        threading.Thread(target=greet, daemon=True).start()
        with pytest.raises(ValueError, match=f"cannot reach a scheduler at '{address}'"):
            list(compute_on_cluster(tasks(Sweep.make(TINY)), scheduler=address))


def test_a_cluster_that_loses_its_workers_is_given_up_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("colme.sweep.engines.cluster_client.PATIENCE", PATIENCE)
    monkeypatch.setattr("colme.sweep.engines.cluster._LOOK", 0.05)
    monkeypatch.setattr("colme.sweep.engines.cluster._ABSENCE", 0.3)
    many = tasks(Sweep.make(TINY | {"grid": {"problem.n_agents": [4], "seed": list(range(40))}}))
    with cluster(0) as address, worker_of(address, tmp_path) as worker:
        found = compute_on_cluster(many, scheduler=address)
        next(found)
        worker.kill()
        with pytest.raises(OSError, match=r"no worker for 0\.3 s; finished points are kept"):
            list(found)


def other_package(folder: Path, version: str) -> None:
    """Make a package colme of another version, otherwise the same."""
    package = folder / "colme"
    package.mkdir()
    for part in Path(colme.__file__).parent.iterdir():
        if part.name not in ("__init__.py", "__pycache__"):
            (package / part.name).symlink_to(part)
    text = Path(colme.__file__).read_text()
    (package / "__init__.py").write_text(text.replace(colme.__version__, version))


def no_package(folder: Path, _: str) -> None:
    """Make a package colme that has no sweeps."""
    (folder / "colme").mkdir()
    (folder / "colme" / "__init__.py").touch()


@pytest.mark.parametrize(
    ("make", "refused"),
    [
        (other_package, f"colme 9.9.9 instead of {colme.__version__}: install the same everywhere"),
        (no_package, r"none \(.*No module named 'colme\.sweep'.*\): install the same everywhere"),
    ],
)
def test_workers_of_another_version_or_none_are_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path, str], None],
    refused: str,
) -> None:
    make(tmp_path, "9.9.9")
    monkeypatch.setattr("colme.sweep.engines.cluster_client.PATIENCE", PATIENCE)
    with (
        cluster(0) as address,
        worker_of(address, tmp_path),
        pytest.raises(ValueError, match=refused),
    ):
        list(compute_on_cluster(tasks(Sweep.make(TINY)), scheduler=address))
