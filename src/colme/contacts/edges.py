"""Graphs from elsewhere: from a library, from pairs, or from a file.

Lives here: reading edges and refusing what is none.  Must not know how contacts are kept.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme import _check


def read_graph(graph: Any, n_agents: int | None = None) -> tuple[NDArray[np.int64], int]:
    """Return the edges [edge, end] of a graph, and its number of agents.

    Examples
    --------
    >>> edges, n = read_graph([(0, 1), (1, 2)])
    >>> edges.tolist(), n
    ([[0, 1], [1, 2]], 3)
    """
    pairs = []
    for edge in _edges(graph):
        try:
            first, second = edge[0], edge[1]
        except (TypeError, IndexError):
            raise ValueError(f"an edge is a pair of agents; received {edge!r}") from None
        pairs.append((check_name(first), check_name(second)))
    named = {name for pair in pairs for name in pair}
    named.update(check_name(name) for name in getattr(graph, "nodes", ()))
    n = (
        max(named, default=-1) + 1
        if n_agents is None
        else _check.positive_int("n_agents", n_agents)
    )
    wrong = [name for name in named if not 0 <= name < n]
    incomplete = hasattr(graph, "nodes") and n_agents is None and len(named) < n
    if n == 0 or wrong or incomplete:
        received = f"agent {wrong[0]}" if wrong else f"{len(named)} nodes up to {n - 1}"
        raise ValueError(
            f"a graph names agents 0, 1, 2, ... {'' if n_agents is None else f'below {n}'}; "
            f"received {received}: renumber its nodes"
        )
    return np.array(pairs, np.int64).reshape(-1, 2), n


def check_name(value: Any) -> int:
    """Return the number of an agent, or raise ValueError.

    Examples
    --------
    >>> check_name(np.int64(3))
    3
    """
    try:
        return operator.index(value)
    except TypeError:
        raise ValueError(
            f"agents are numbered 0, 1, 2, ...; received {value!r}: renumber them"
        ) from None


def _edges(graph: Any) -> Iterator[Any]:
    if isinstance(graph, str | os.PathLike):
        return _edges_of_file(Path(graph))
    try:
        return iter(getattr(graph, "edges", graph))
    except TypeError:
        raise ValueError(
            "a graph has edges, or is an iterable of pairs, or the path of a file; received "
            f"{graph!r}"
        ) from None


def _edges_of_file(path: Path) -> Iterator[tuple[int, int]]:
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            yield int(words[0]), int(words[1])
        except (IndexError, ValueError):
            raise ValueError(
                f"{path}, line {number}: an edge is two whole numbers; received {line!r}"
            ) from None
