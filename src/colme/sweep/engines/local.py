"""Points on this machine: one process for each core, replaced when it dies.

Lives here: which process measures which point, with how many threads.  Must not know what a point
is.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Generator, Sequence
from queue import SimpleQueue
from typing import TypeAlias

from colme.sweep.engines.task import MOST_DEATHS, PointError, Task, explain_deaths
from colme.sweep.engines.worker import Died, Worker
from colme.sweep.measures import Columns

Answer: TypeAlias = tuple[int, Columns] | Exception


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
    n_cores = count_cores()
    schedule = _Schedule(tasks, n_cores, n_workers or n_cores)
    threads = [
        threading.Thread(target=schedule.work, args=(worker,), daemon=True)
        for worker in schedule.workers
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in tasks:
            found = schedule.answers.get()
            if isinstance(found, Exception):
                raise found
            yield found
    finally:
        schedule.close()
        for thread in threads:
            thread.join()
        for worker in schedule.workers:
            worker.close()


class _Schedule:
    """Tasks not yet begun, answers received, and the number of points left."""

    def __init__(self, tasks: Sequence[Task], n_cores: int, n_workers: int) -> None:
        self.answers: SimpleQueue[Answer] = SimpleQueue()
        self.workers = [Worker() for _ in range(min(n_workers, len(tasks)))]
        self._open, self._n_left, self._n_cores = deque(tasks), len(tasks), n_cores
        self._lock, self._is_closed = threading.Lock(), False

    def work(self, worker: Worker) -> None:
        """Let one process measure points until none is left."""
        while (given := self._take()) is not None:
            try:
                answer: Answer = given[0].number, _measure(worker, *given)
            except Exception as error:  # raised where the sweep runs
                answer = error
            with self._lock:
                self._n_left -= 1
            self.answers.put(answer)

    def close(self) -> None:
        """Let all processes end, now."""
        with self._lock:
            self._is_closed = True
        for worker in self.workers:
            worker.end()

    def _take(self) -> tuple[Task, int] | None:
        """Return the next point and its number of threads, which fill the cores together."""
        with self._lock:
            if self._is_closed or not self._open:
                return None
            n_busy = min(len(self.workers), self._n_left)
            return self._open.popleft(), max(1, self._n_cores // n_busy)


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
