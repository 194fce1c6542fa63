"""Points on a Dask cluster; those of workers that die are measured again.

Lives here: handing points to a cluster and hearing back.  Must not know what a point is, or how a
cluster is reached.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from colme.sweep.engines.cluster_client import connected, import_distributed
from colme.sweep.engines.local import count_cores
from colme.sweep.engines.task import MOST_DEATHS, PointError, Task, explain_deaths, explain_failure
from colme.sweep.point_rows import Columns, measure_point
from colme.sweep.versions import describe_difference, versions

T = TypeVar("T")

_QUEUED = 4
"""Points sent ahead for each thread of the cluster, so that no thread waits for its next one."""
_LOOK = 5.0
"""Seconds without a result after which the number of workers is checked."""
_ABSENCE = 60.0
"""Seconds without any worker after which the sweep stops."""


def compute_on_cluster(
    tasks: Sequence[Task], n_workers: int | None = None, scheduler: str | None = None
) -> Generator[tuple[int, Columns], None, None]:
    """Yield the number and the rows of each point, as they are finished.

    Parameters
    ----------
    tasks
        The points.
    n_workers
        Number of processes of a cluster on this machine, by default one for each core.  It listens
        at 127.0.0.1 only, and its links are encrypted, so that other users cannot use it.
    scheduler
        Address of a cluster that is there, to be used instead.

    Examples
    --------
    >>> list(compute_on_cluster([]))
    []
    """
    if not tasks:
        return
    n_here = min(n_workers or count_cores(), len(tasks))
    n_threads = max(1, count_cores() // n_here) if scheduler is None else 1
    with connected(n_here, scheduler) as client:
        suspects = []
        for task, rows in _flow(client, tasks, n_threads):
            if rows is None:
                suspects.append(task)
            else:
                yield task.number, rows
        # Several points are on a worker when it dies.  Run alone, each shows if it was the cause.
        for suspect in suspects:
            for _, rows in _flow(client, [suspect], n_threads):
                if rows is None:
                    raise PointError(suspect.number, explain_deaths(MOST_DEATHS))
                yield suspect.number, rows


def _flow(
    client: Any, tasks: Sequence[Task], n_threads: int
) -> Iterator[tuple[Task, Columns | None]]:
    """Yield finished points, with enough in flight for all workers; None: its workers died."""
    waiting, landed = iter(tasks), SimpleQueue[Any]()
    flying: dict[str, tuple[Task, Any]] = {}
    while True:
        n_wanted = _QUEUED * max(1, _count_threads(client))
        for task in islice(waiting, max(0, n_wanted - len(flying))):
            question = (task.content, n_threads, versions())
            future = client.submit(measure_checked, *question, pure=False)
            flying[future.key] = task, future
            future.add_done_callback(landed.put)
        if not flying:
            return
        future = _patiently(client, lambda: landed.get(timeout=_LOOK))
        task, _ = flying.pop(future.key)
        yield task, _rows_of(client, future, task.number)
        future.release()


def _patiently(client: Any, attempt: Callable[[], T]) -> T:
    """Return the result of an attempt; when it times out, try again while there are workers."""
    seen_at = time.monotonic()
    while True:
        try:
            return attempt()
        except (Empty, TimeoutError):
            now = time.monotonic()
            if _count_threads(client):
                seen_at = now
            elif now - seen_at > _ABSENCE:
                raise OSError(
                    f"the cluster has had no worker for {_ABSENCE:g} s; finished points are kept: "
                    "the same sweep continues once there are some"
                ) from None


def _count_threads(client: Any) -> int:
    """Return how many points the cluster can measure at once; 0 if its scheduler is lost."""
    try:
        return sum(client.nthreads().values())
    except OSError:
        return 0


def measure_checked(content: dict[str, Any], n_threads: int, expected: dict[str, str]) -> Columns:
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


def _rows_of(client: Any, future: Any, number: int) -> Columns | None:
    """Return the rows of a point; None if its workers died; raise PointError if it failed."""
    if future.status not in ("finished", "error"):
        raise OSError(
            f"the cluster was lost while it measured point {number} ({future.status}); finished "
            "points are kept: the same sweep continues once it is back"
        )
    try:
        # The worker that has the rows may die now, and another one measure the point again.
        rows: Columns = _patiently(client, lambda: future.result(timeout=_LOOK))
    except import_distributed().KilledWorker:
        return None
    except Exception as error:
        if future.status != "error":
            raise
        raise PointError(number, explain_failure(error)) from None
    return rows
