"""Who knows whom.

Lives here: the agents that each agent may ask, given, drawn or read from a graph.  Must not know
means, samples or algorithms.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme import _check
from colme.contacts.adjacency import check_rows, find_roots, frozen, sort_rows
from colme.contacts.edges import check_name, read_graph
from colme.contacts.random_graphs import draw_binomial, draw_others, draw_regular, draw_tree

Names = NDArray[np.int64]

_SPAWN_KEY = 2
"""Separates the seeds of graphs (key, kind) from those of samples, arrivals and gossip."""


@dataclass(frozen=True, eq=False)
class Contacts:
    """The agents that each agent knows, itself among them, in increasing order.

    Examples
    --------
    >>> contacts = Contacts.of_graph([(0, 1), (1, 2)])
    >>> [contacts.known_by(a).tolist() for a in range(contacts.n_agents)]
    [[0, 1], [0, 1, 2], [1, 2]]

    Parameters
    ----------
    starts
        int64[agent + 1]: where the row of each agent starts in `names`, and where the last ends.
    names
        int64: the rows, one after the other.
    """

    starts: Names
    names: Names

    def __post_init__(self) -> None:
        starts, names = frozen(self.starts), frozen(self.names)
        check_rows(starts, names)
        object.__setattr__(self, "starts", starts)
        object.__setattr__(self, "names", names)

    @property
    def n_agents(self) -> int:
        """How many agents there are."""
        return self.starts.size - 1

    @property
    def size(self) -> int:
        """The largest number of agents that one agent knows, itself included."""
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

    def check_n_agents(self, n_agents: int) -> None:
        """Raise ValueError unless these are the contacts of `n_agents` agents.

        Examples
        --------
        >>> Contacts.everyone(3).check_n_agents(3)
        """
        if self.n_agents != n_agents:
            raise ValueError(
                f"contacts must be of {n_agents} agents, as the samples are; received contacts of "
                f"{self.n_agents}"
            )

    def components(self) -> int:
        """Return the number of connected parts: nobody knows anybody of another part.

        Examples
        --------
        >>> Contacts.of_lists([[1], [0], []]).components()
        2
        """
        roots = find_roots(self.starts, self.names)
        return int(np.count_nonzero(roots == np.arange(roots.size)))

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

        An agent need not be known by those it knows.

        Examples
        --------
        >>> contacts = Contacts.random(n_agents=50, size=5, seed=1)
        >>> {contacts.known_by(a).size for a in range(50)}
        {5}
        """
        n = _check.positive_int("n_agents", n_agents)
        if not 1 <= _check.positive_int("size", size) <= n:
            raise ValueError(
                f"size counts the agent itself and others among {n} agents: it must be 1 to {n}; "
                f"received {size}"
            )
        rows = np.empty((n, size), np.int64)
        rows[:, 0] = np.arange(n)
        rows[:, 1:] = draw_others(_rng(seed, 0), n, size - 1)
        rows.sort(axis=1)
        rows.setflags(write=False)
        return cls(np.arange(0, n * size + 1, size), rows.ravel())

    @classmethod
    def regular(cls, n_agents: int, degree: int, seed: int = 0) -> Contacts:
        """Return a random graph in which every agent has exactly `degree` neighbours.

        Examples
        --------
        >>> contacts = Contacts.regular(n_agents=50, degree=4, seed=1)
        >>> {contacts.known_by(a).size for a in range(50)}, contacts.components()
        ({5}, 1)
        """
        n, degree = _check.positive_int("n_agents", n_agents), _check.positive_int("degree", degree)
        if degree >= n or n * degree % 2:
            raise ValueError(
                "degree must be below n_agents, and one of the two even, since an edge has two "
                f"ends; received degree={degree} for {n} agents: add or drop an agent, or change "
                "degree"
            )
        return cls._of_edges(*draw_regular(_rng(seed, 1), n, degree), n)

    @classmethod
    def binomial(cls, n_agents: int, p: float, seed: int = 0) -> Contacts:
        """Return a random graph in which any two agents know each other with probability p.

        Some agents may know nobody: see `components`.

        Examples
        --------
        >>> contacts = Contacts.binomial(n_agents=200, p=0.05, seed=1)
        >>> contacts.names.size - 200  # both directions; 1990 expected
        1942
        """
        n, p = _check.positive_int("n_agents", n_agents), _check.share("p", p)
        return cls._of_edges(*draw_binomial(_rng(seed, 2), n, p), n)

    @classmethod
    def tree(cls, n_agents: int, branching: int, seed: int = 0) -> Contacts:
        """Return a tree with `branching` agents under each one, filled level by level.

        All levels but the last are full.  The position of each agent is random.

        Examples
        --------
        >>> tree = Contacts.tree(n_agents=7, branching=2, seed=1)
        >>> sorted(tree.known_by(a).size - 1 for a in range(7))
        [1, 1, 1, 1, 2, 3, 3]
        """
        n = _check.positive_int("n_agents", n_agents)
        each = _check.positive_int("branching", branching)
        return cls._of_edges(*draw_tree(_rng(seed, 3), n, each), n)

    @classmethod
    def of_lists(cls, lists: Iterable[Iterable[int]]) -> Contacts:
        """Return given contacts: those of agent 0, those of agent 1, and so on.

        Examples
        --------
        >>> Contacts.of_lists([[2], [], [0, 1]]).known_by(0).tolist()
        [0, 2]
        """
        rows = [[check_name(name) for name in names] for names in lists]
        n, owners = len(rows), np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        peers = np.array([name for row in rows for name in row], np.int64)
        outside = peers[(peers < 0) | (peers >= n)]
        if n == 0 or outside.size:
            received = f"agent {outside[0]}" if outside.size else "no agent"
            raise ValueError(f"contacts name agents of a fleet of {n}; received {received}")
        return cls(*sort_rows([(owners, peers)], n))

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
            Whether the graph may have several connected parts.

        Examples
        --------
        >>> ring = Contacts.of_graph([(a, (a + 1) % 5) for a in range(5)])
        >>> ring.size, ring.known_by(0).tolist()
        (3, [0, 1, 4])
        """
        ends, n = read_graph(graph, n_agents)
        contacts = cls._of_edges(ends[:, 0], ends[:, 1], n)
        parts = 1 if disconnected else contacts.components()
        if parts > 1:
            raise ValueError(
                f"the graph must be connected; received {parts} parts: agents can never learn "
                "from another part; pass disconnected=True to allow that"
            )
        return contacts

    @classmethod
    def _of_edges(cls, firsts: Names, seconds: Names, n: int) -> Contacts:
        """Return contacts in which both ends of an edge know each other."""
        return cls(*sort_rows([(firsts, seconds), (seconds, firsts)], n))


def _rng(seed: int, kind: int) -> np.random.Generator:
    """Return random numbers used for no samples, no changes and no other kind of graph."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_SPAWN_KEY, kind)))
