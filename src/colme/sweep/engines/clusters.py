"""Points on a Dask cluster, whichever of its workers die.

Lives here: handing points to a cluster and hearing back.  Must not know what a point is, or how a
cluster is reached.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from itertools import islice
from typing import Any

from colme.sweep.engines.connecting import connected, import_distributed
from colme.sweep.engines.local import count_cores
from colme.sweep.engines.task import (
    MOST_DEATHS,
    PointError,
    Task,
    explain_deaths,
    explain_failure,
)
from colme.sweep.measures import Rows
from colme.sweep.measuring import measure_point
from colme.sweep.versions import describe_difference, versions

__all__ = ["compute_on_cluster", "measure_checked"]

_QUEUED = 4
"""Points on their way for each thread of the cluster, so that none waits for its next one."""


def compute_on_cluster(
    tasks: Sequence[Task], n_workers: int | None = None, scheduler: str | None = None
) -> Generator[tuple[int, Rows], None, None]:
    """Yield the number and the rows of each point, as they are finished.

    Parameters
    ----------
    tasks
        The points.
    n_workers
        Number of processes of a cluster on this machine, by default one for each core.  It listens
        at 127.0.0.1 only, and its links are encrypted, so that nobody else can use it.
    scheduler
        Address of a cluster that is there, to be used instead.

    Examples
    --------
    >>> list(compute_on_cluster([]))
    []
    """
    if not tasks:
        return
    with connected(n_workers, scheduler) as client:
        n_threads = _threads_per_point(len(tasks), n_workers) if scheduler is None else 1
        n_queued = _QUEUED * max(1, sum(client.nthreads().values()))
        suspects = []
        for task, rows in _flow(client, tasks, n_threads, n_queued):
            if rows is None:
                suspects.append(task)
            else:
                yield task.number, rows
        # Several points are on a worker when it dies.  Which of them is at fault shows alone.
        for suspect in suspects:
            for _, rows in _flow(client, [suspect], n_threads, 1):
                if rows is None:
                    raise PointError(suspect.number, explain_deaths(MOST_DEATHS))
                yield suspect.number, rows


def _flow(
    client: Any, tasks: Sequence[Task], n_threads: int, n_queued: int
) -> Iterator[tuple[Task, Rows | None]]:
    """Yield points as they are finished, so many on their way at a time; None: workers died."""
    waiting, asked = iter(tasks), {}
    flying = import_distributed().as_completed(loop=client.loop, raise_errors=False)

    def launch(n: int) -> None:
        for task in islice(waiting, n):
            question = (task.content, n_threads, versions())
            future = client.submit(measure_checked, *question, pure=False)
            asked[future.key] = task
            flying.add(future)

    launch(n_queued)
    for future in flying:
        task = asked.pop(future.key)
        yield task, _rows_of(future, task.number)
        future.release()
        launch(1)


def measure_checked(content: dict[str, Any], n_threads: int, expected: dict[str, str]) -> Rows:
    """Return the rows of a point, unless this process computes with other versions.

    Examples
    --------
    >>> measure_checked({}, 1, {"colme": "9.9.9"})
    Traceback (most recent call last):
    ValueError: a worker has colme 0.1.0 instead of 9.9.9: install the same versions everywhere
    """
    differing = describe_difference(expected, versions())
    if differing:
        raise ValueError(f"a worker has {differing}: install the same versions everywhere")
    return measure_point(content, n_threads)


def _threads_per_point(n_points: int, n_workers: int | None) -> int:
    n_cores = count_cores()
    return max(1, n_cores // min(n_workers or n_cores, n_points))


def _rows_of(future: Any, number: int) -> Rows | None:
    """Return what came of a point: nothing if its workers died; raise PointError if it failed."""
    if future.status == "finished":
        rows: Rows = future.result()
        return rows
    if future.status != "error":
        raise OSError(
            f"the cluster was lost while it measured point {number} ({future.status}); finished "
            "points are kept: the same sweep goes on once it is back"
        )
    error = future.exception()
    if isinstance(error, import_distributed().KilledWorker):
        return None
    raise PointError(number, explain_failure(error)) from None
