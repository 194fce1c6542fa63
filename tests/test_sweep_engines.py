"""Who measures points: processes that die, clusters that are there, and what they listen on."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
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
from colme.sweep.journal import Journal
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
    monkeypatch.setattr("colme.sweep.engines.connecting.PATIENCE", 0.5)
    some = tasks(Sweep.make(TINY))
    address = f"tcp://{free_address()}"
    with pytest.raises(ValueError, match=f"cannot reach a scheduler at '{address}' within 0.5 s"):
        list(compute_on_cluster(some, scheduler=address))
    with pytest.raises(ValueError, match="cannot reach a scheduler at 'nonsense://a'"):
        list(compute_on_cluster(some, scheduler="nonsense://a"))
    with cluster(0) as address, pytest.raises(ValueError, match="has no workers: start some with"):
        list(compute_on_cluster(some, scheduler=address))
    assert dask.config.get("scheduler", None) is None


def test_workers_of_another_version_are_refused(tmp_path: Path) -> None:
    package = tmp_path / "colme"
    package.mkdir()
    for part in Path(colme.__file__).parent.iterdir():
        if part.name not in ("__init__.py", "__pycache__"):
            (package / part.name).symlink_to(part)
    text = Path(colme.__file__).read_text()
    (package / "__init__.py").write_text(text.replace(colme.__version__, "9.9.9"))
    with cluster(0) as address:
        worker = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny"],
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
            stderr=subprocess.DEVNULL,
            cwd=tmp_path,
        )
        try:
            refused = f"colme 9.9.9 instead of {colme.__version__}: install the same everywhere"
            with pytest.raises(ValueError, match=refused):
                list(compute_on_cluster(tasks(Sweep.make(TINY)), scheduler=address))
        finally:
            worker.send_signal(signal.SIGKILL)
            worker.wait()
