"""Links between neighbours, as the loops read them.

Lives here: from contacts to rows of neighbours, each link with its other direction.  Must not know
means, samples or methods.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme._compile import kernel
from colme.contacts import Contacts

Ints = NDArray[np.int64]


class Graph(NamedTuple):
    """Links, each counted twice: once from either end.

    Examples
    --------
    >>> graph = Graph.of(Contacts.of_graph([(0, 1), (1, 2)]))
    >>> graph.peers.tolist(), graph.reverse.tolist()
    ([1, 0, 2, 1], [1, 0, 3, 2])

    Attributes
    ----------
    starts
        int64[agent + 1]: where the links of each agent start.
    peers
        int32[link]: where each leads.
    reverse
        int64[link]: the same link from its other end.
    """

    starts: Ints
    peers: NDArray[np.int32]
    reverse: Ints

    @property
    def n_links(self) -> int:
        """How many links there are, counted once."""
        return self.peers.size // 2

    @property
    def owners(self) -> Ints:
        """The agent that each link starts from."""
        return np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))

    @property
    def largest_degree(self) -> int:
        """The largest number of neighbours of one agent."""
        return int(np.diff(self.starts).max())

    @classmethod
    def of(cls, contacts: Contacts) -> Graph:
        """Return the links of contacts, or raise ValueError if they are one-sided."""
        n = contacts.n_agents
        lengths = np.diff(contacts.starts)
        others = contacts.names != np.repeat(np.arange(n, dtype=np.int32), lengths)
        starts = contacts.starts - np.arange(n + 1)
        peers = contacts.names[others].astype(np.int32)
        graph = cls(starts, peers, np.empty(peers.size, np.int64))
        one_sided = find_reverse(starts, peers, starts[:-1].copy(), graph.reverse)
        if one_sided >= 0:
            owner, peer = graph.owners[one_sided], peers[one_sided]
            raise ValueError(
                f"neighbours know each other; received contacts in which agent {owner} knows agent "
                f"{peer}, which does not know agent {owner}: use Contacts.regular, "
                "Contacts.binomial or Contacts.of_graph"
            )
        return graph


@kernel
def find_reverse(starts: Ints, peers: NDArray[np.int32], cursors: Ints, reverse: Ints) -> int:
    """Write the position of each link from its other end; return a link that has none, or -1.

    Rows rise, so the agents linked to b come in the order of b's row: a cursor for each row, at its
    start, is enough.

    Examples
    --------
    >>> starts, reverse = np.array([0, 1, 2]), np.empty(2, np.int64)
    >>> find_reverse(starts, np.array([1, 0], np.int32), starts[:-1].copy(), reverse)
    -1
    >>> reverse.tolist()
    [1, 0]
    """
    for a in range(starts.size - 1):
        for e in range(starts[a], starts[a + 1]):
            b = peers[e]
            position = cursors[b]
            if position == starts[b + 1] or peers[position] > a:
                return e
            if peers[position] < a:
                return int(position)
            reverse[e] = position
            cursors[b] += 1
    return -1
