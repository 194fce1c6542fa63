"""The memory that an experiment takes, and whether it is there.

Lives here: bytes of methods on a graph, free memory, and the refusal of what cannot fit.  Must not
know how anything runs.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from colme.neighbours import bytes_of_graph, bytes_of_state
from colme.results import BYTES_PER_AGENT

if TYPE_CHECKING:
    from colme.experiment.scenario import Size

_FEWER_CONTACTS = (64, 32, 16)
"""Numbers of contacts to suggest when there are too many."""


def bytes_on_graph(size: Size) -> int:
    """Return the bytes of methods on a graph: the graph once, and the state of each run under way.

    Examples
    --------
    >>> from colme.experiment.scenario import Size
    >>> from colme.neighbours import METHODS
    >>> graph = {"n_agents": 100, "horizon": 50, "runs": 1, "longest_row": 5}
    >>> 0 < bytes_on_graph(Size(methods=(METHODS["c-colme"],), **graph)) < 100_000
    True
    """
    n, n_ends = size.n_agents, size.n_agents * (size.longest_row - 1)
    state = max(bytes_of_state(method, n, n_ends) for method in size.methods)
    states = min(size.runs, size.threads) * state
    return bytes_of_graph(n_ends) + states + n * size.runs * BYTES_PER_AGENT


def check_memory(size: Size) -> None:
    """Raise ValueError if less memory is free, and say what would fit.

    Examples
    --------
    >>> from colme.experiment.scenario import Size
    >>> try:
    ...     check_memory(Size(n_agents=10**12, horizon=10, runs=1, longest_row=16))
    ... except ValueError as error:
    ...     print(str(error).split(",")[0])
    this experiment takes about 8.32e+05 GB of memory
    """
    free = free_memory()
    if free is not None and size.bytes > free:
        raise ValueError(
            f"this experiment takes about {size.bytes / 1e9:.3g} GB of memory, {free / 1e9:.3g} GB "
            f"are free: {_remedy(size, free)}"
        )


def _remedy(size: Size, free: int) -> str:
    """Return what would fit."""
    if size.kept_for:
        return (
            f"{size.kept_for} needs all samples at once; do without, or ask for fewer agents, "
            "runs or steps"
        )
    for row in _FEWER_CONTACTS:
        if row < size.longest_row and (few := replace(size, longest_row=row)).bytes <= free:
            return f"let each agent know {row} ({few.bytes / 1e9:.2g} GB), with contacts"
    smaller = size
    while smaller.bytes > free:
        n_agents = smaller.n_agents * 3 // 4
        if n_agents < 1:
            return "ask for fewer runs or steps"
        row = min(size.longest_row, n_agents)
        smaller = replace(size, n_agents=n_agents, longest_row=row)
    digits = 10 ** max(len(str(smaller.n_agents)) - 2, 0)
    return f"ask for at most about {smaller.n_agents // digits * digits} agents"


def free_memory() -> int | None:
    """Return how many bytes this process may still take; None if nobody says.

    Examples
    --------
    >>> free = free_memory()
    >>> free is None or free > 0
    True
    """
    found = []
    with suppress(OSError, StopIteration):  # what Linux says can be taken without swapping
        lines = Path("/proc/meminfo").read_text().splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable:"))
        found.append(int(line.split()[1]) * 1024)
    with suppress(OSError, ValueError):  # what a container leaves, unless it sets no limit
        folder = Path("/sys/fs/cgroup")
        most = int((folder / "memory.max").read_text())
        found.append(max(most - int((folder / "memory.current").read_text()), 1))
    if not found:
        with suppress(AttributeError, OSError, ValueError):
            found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(found, default=None)
