"""Threads: one piece of work for each part of the agents.

Lives here: how agents are dealt to threads.  Must not know what is done.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["over_agents"]

_PARTS = 4
"""Parts per thread: work can be uneven."""


def over_agents(n: int, work: Callable[[int, int], None]) -> None:
    """Do the work for all n agents, some at a time: work(first, last) for those before `last`.

    Examples
    --------
    >>> done = set()
    >>> over_agents(10, lambda first, last: done.update(range(first, last)))
    >>> sorted(done) == list(range(10))
    True
    """
    threads = os.cpu_count() or 1
    parts = max(1, min(n, _PARTS * threads))
    edges = [n * i // parts for i in range(parts + 1)]
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, edges[:-1], edges[1:]):
            pass
