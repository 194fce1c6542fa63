"""Who knows whom.

Lives here: the agents that each agent may ask, given, drawn or read from a graph.  Must not know
means, samples or algorithms.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme import _check

__all__ = ["Contacts"]

Names = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Contacts:
    """The agents that each agent knows, itself among them, in increasing order.

    Parameters
    ----------
    starts
        int64[agent + 1]: where the row of each agent starts in `names`, and where the last ends.
    names
        int64: the rows, one after the other.

    Examples
    --------
    >>> contacts = Contacts.of_graph([(0, 1), (1, 2)])
    >>> [contacts.known_by(a).tolist() for a in range(contacts.n_agents)]
    [[0, 1], [0, 1, 2], [1, 2]]
    """

    starts: Names
    names: Names

    def __post_init__(self) -> None:
        starts = np.array(self.starts, np.int64)
        names = np.array(self.names, np.int64)
        _check_rows(starts, names)
        for name, values in (("starts", starts), ("names", names)):
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    @property
    def n_agents(self) -> int:
        """How many agents there are."""
        return self.starts.size - 1

    @property
    def size(self) -> int:
        """How many agents somebody knows at most, itself included."""
        return int(np.diff(self.starts).max())

    @property
    def is_everyone(self) -> bool:
        """Whether everybody knows everybody."""
        return self.names.size == self.n_agents**2

    def known_by(self, agent: int) -> Names:
        """Return the agents that an agent knows, itself among them.

        Examples
        --------
        >>> Contacts.everyone(3).known_by(1).tolist()
        [0, 1, 2]
        """
        if not 0 <= agent < self.n_agents:
            raise ValueError(f"agents are 0 to {self.n_agents - 1}; received {agent!r}")
        return self.names[self.starts[agent] : self.starts[agent + 1]]

    def components(self) -> int:
        """Return into how many parts the agents fall that know nobody of another part.

        Examples
        --------
        >>> Contacts.of_lists([[1], [0], []]).components()
        2
        """
        owners = np.repeat(np.arange(self.n_agents), np.diff(self.starts))
        return np.unique(_roots(owners, self.names, self.n_agents)).size

    @classmethod
    def everyone(cls, n_agents: int) -> Contacts:
        """Return contacts in which everybody knows everybody.

        Examples
        --------
        >>> Contacts.everyone(3).is_everyone
        True
        """
        n = _check.positive_int("n_agents", n_agents)
        return cls(np.arange(0, n * n + 1, n), np.tile(np.arange(n), n))

    @classmethod
    def random(cls, n_agents: int, size: int, seed: int = 0) -> Contacts:
        """Return contacts in which each agent knows `size` agents: itself, and others at random.

        Who knows somebody is not always known by it.

        Examples
        --------
        >>> contacts = Contacts.random(n_agents=50, size=5, seed=1)
        >>> {contacts.known_by(a).size for a in range(50)}
        {5}
        """
        n = _check.positive_int("n_agents", n_agents)
        if not 1 <= _check.positive_int("size", size) <= n:
            raise ValueError(
                f"size counts the agent itself and others of its fleet of {n}: it must be 1 to "
                f"{n}; received {size}"
            )
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2, 0)))
        others = [rng.choice(n - 1, size - 1, replace=False) for _ in range(n)]
        owners = np.repeat(np.arange(n), size - 1)
        peers = np.concatenate(others)
        return cls._of_pairs(owners, peers + (peers >= owners), n)

    @classmethod
    def of_lists(cls, lists: Iterable[Iterable[int]]) -> Contacts:
        """Return given contacts: whom agent 0 knows, whom agent 1 knows, and so on.

        Examples
        --------
        >>> Contacts.of_lists([[2], [], [0, 1]]).known_by(0).tolist()
        [0, 2]
        """
        rows = [[_node(name) for name in names] for names in lists]
        owners = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        peers = np.array([name for row in rows for name in row], np.int64)
        return cls._of_pairs(owners, peers, len(rows))

    @classmethod
    def of_graph(
        cls, graph: Any, n_agents: int | None = None, *, disconnected: bool = False
    ) -> Contacts:
        """Return the contacts of a graph: both ends of an edge know each other.

        Parameters
        ----------
        graph
            A graph with `nodes` and `edges`, as networkx makes them; or an iterable of pairs; or
            the path of a text file with a pair per line, ``#`` before comments, and columns after
            the first two ignored.  Agents are numbered 0, 1, 2, ...
        n_agents
            How many agents there are; by default all that the graph names.
        disconnected
            Whether agents that no path joins are wanted.

        Examples
        --------
        >>> ring = Contacts.of_graph([(a, (a + 1) % 5) for a in range(5)])
        >>> ring.size, ring.known_by(0).tolist()
        (3, [0, 1, 4])
        """
        pairs = [_pair(edge) for edge in _edges(graph)]
        named = {name for pair in pairs for name in pair}
        named.update(_node(name) for name in getattr(graph, "nodes", ()))
        n = _fleet(named, n_agents, all_named=hasattr(graph, "nodes"))
        ends = np.array(pairs, np.int64).reshape(-1, 2)
        contacts = cls._of_pairs(ends.ravel(), ends[:, ::-1].ravel(), n)
        parts = 1 if disconnected else contacts.components()
        if parts > 1:
            raise ValueError(
                f"the graph must be connected; received {parts} parts: agents can never learn "
                "from another part, pass disconnected=True if that is meant"
            )
        return contacts

    @classmethod
    def _of_pairs(cls, owners: Names, peers: Names, n: int) -> Contacts:
        """Sort pairs into rows, each with its owner and without repetitions."""
        outside = peers[(peers < 0) | (peers >= n)]
        if n == 0 or outside.size:
            received = f"agent {outside[0]}" if outside.size else "none"
            raise ValueError(f"contacts name agents of a fleet of {n}; received {received}")
        keys = np.unique(np.concatenate([owners * n + peers, np.arange(n) * (n + 1)]))
        return cls(np.searchsorted(keys, np.arange(n + 1) * n), keys % n)


def _check_rows(starts: Names, names: Names) -> None:
    """Refuse anything but one row of increasing names for each agent, itself among them."""
    n = starts.size - 1
    tidy = starts.ndim == names.ndim == 1 and n >= 1
    if not tidy or starts[0] != 0 or starts[-1] != names.size or (np.diff(starts) < 1).any():
        raise ValueError(
            "starts must rise from 0 to the number of names, one for each agent and one more; "
            f"received {starts.tolist()} for {names.size} names"
        )
    if ((names < 0) | (names >= n)).any():
        raise ValueError(f"contacts name agents 0 to {n - 1}; received {names.tolist()}")
    owners = np.repeat(np.arange(n), np.diff(starts))
    own = np.bincount(owners[names == owners], minlength=n)
    if (own != 1).any() or (np.diff(owners * n + names) <= 0).any():
        raise ValueError(
            "every row must hold its agent and rise without repetitions: build it with of_lists"
        )


def _roots(owners: Names, peers: Names, n: int) -> Names:
    """Return, for each agent, the smallest agent of its part: hook the larger root, shorten."""
    roots = np.arange(n)
    while True:
        before = roots.copy()
        lower = np.minimum(roots[owners], roots[peers])
        np.minimum.at(roots, before[owners], lower)
        np.minimum.at(roots, before[peers], lower)
        roots = roots[roots]
        if (roots == before).all():
            return roots


def _edges(graph: Any) -> Iterator[Any]:
    if isinstance(graph, str | os.PathLike):
        return _edges_of_file(Path(graph))
    edges = getattr(graph, "edges", graph)
    try:
        return iter(edges)
    except TypeError:
        raise ValueError(
            f"a graph has edges, is an iterable of pairs, or a path of a file; received {graph!r}"
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


def _pair(edge: Any) -> tuple[int, int]:
    try:
        first, second = edge[0], edge[1]
    except (TypeError, IndexError):
        raise ValueError(f"an edge is a pair of agents; received {edge!r}") from None
    return _node(first), _node(second)


def _node(value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise ValueError(
            f"agents are numbered 0, 1, 2, ...; received {value!r}: renumber them"
        ) from None


def _fleet(named: set[int], n_agents: int | None, *, all_named: bool) -> int:
    """Return how many agents there are, or raise ValueError if a graph names others."""
    n = (
        max(named, default=-1) + 1
        if n_agents is None
        else _check.positive_int("n_agents", n_agents)
    )
    wrong = [name for name in named if not 0 <= name < n]
    missing = all_named and n_agents is None and len(named) < n
    if n == 0 or wrong or missing:
        received = f"agent {wrong[0]}" if wrong else f"{len(named)} nodes up to {n - 1}"
        raise ValueError(
            f"a graph names agents 0, 1, 2, ... {'' if n_agents is None else f'below {n}'}; "
            f"received {received}: renumber its nodes"
        )
    return n
