"""Points on this machine: one process for each core, replaced when it dies.

Lives here: which process measures which point, with how many threads.  Must not know what a point
is.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue

from colme.sweep.engines.task import MOST_DEATHS, PointError, Task, explain_deaths
from colme.sweep.engines.worker import Died, Worker
from colme.sweep.point_rows import Columns


def count_cores() -> int:
    """Return how many cores this process may use.

    Examples
    --------
    >>> count_cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def compute_here(
    tasks: Sequence[Task], n_workers: int | None = None
) -> Generator[tuple[int, Columns], None, None]:
    """Yield the number and the rows of each point, as they are finished.

    Processes and not threads, since small points spend their time in Python, and since a point
    that exhausts the memory then takes its process with it, but not the sweep.

    Parameters
    ----------
    tasks
        The points.
    n_workers
        Number of processes, by default one for each core.  Cores that have no process of their own
        are given to the points that are left as threads.

    Examples
    --------
    >>> problem = {"class_means": [0.2], "n_agents": 2, "sigma": 0.1}
    >>> content = {"problem": problem, "horizon": 5, "runs": 1, "algorithms": ["local"]}
    >>> [(number, rows["run"]) for number, rows in compute_here([Task(7, content)])]
    [(7, [0])]
    """
    n_cores, finished = count_cores(), list[int]()
    workers = [Worker() for _ in range(min(n_workers or n_cores, len(tasks)))]
    idle = SimpleQueue[Worker]()
    for worker in workers:
        idle.put(worker)

    def measure(task: Task) -> tuple[int, Columns]:
        # A thread for each process; points that are left fill the cores together.
        worker, n_left = idle.get(), len(tasks) - len(finished)
        n_threads = max(1, n_cores // min(len(workers), n_left))
        try:
            return task.number, _measure(worker, task, n_threads)
        finally:
            finished.append(task.number)
            idle.put(worker)

    pool = ThreadPoolExecutor(max(1, len(workers)))
    try:
        for future in as_completed([pool.submit(measure, task) for task in tasks]):
            yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.end()
        pool.shutdown()
        for worker in workers:
            worker.close()


def _measure(worker: Worker, task: Task, n_threads: int) -> Columns:
    """Return the rows of a point; a process that dies is replaced, a few times."""
    how = ""
    for _ in range(MOST_DEATHS):
        try:
            answer = worker.ask({"content": task.content, "threads": n_threads})
        except Died as error:
            how = str(error)
            continue
        if "failure" in answer:
            raise PointError(task.number, answer["failure"])
        rows: Columns = answer["rows"]
        return rows
    raise PointError(task.number, explain_deaths(MOST_DEATHS, how))
