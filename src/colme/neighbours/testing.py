"""The decisions of one agent about its links.

Lives here: rules that the loops share: which links are cut for good, and which are used now.  Must
not know what goes over a link.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled
from colme.neighbours.graph import Graph

__all__ = ["Uncut", "cut_links", "looks_alike"]


class Uncut(NamedTuple):
    """Which links are left, those of an agent one after the other so that loops pass no others.

    Attributes
    ----------
    degrees
        int64[agent]: how many links of each agent are uncut.
    order
        int64[link]: the links of each agent, the uncut ones first.

    Examples
    --------
    >>> from colme.contacts import Contacts
    >>> from colme.neighbours.graph import graph_of
    >>> Uncut.start(graph_of(Contacts.everyone(3))).degrees.tolist()
    [2, 2, 2]
    """

    degrees: NDArray[np.int64]
    order: NDArray[np.int64]

    @classmethod
    def start(cls, graph: Graph) -> Uncut:
        """Return all links."""
        return cls(np.diff(graph.starts), np.arange(graph.peers.size))

    def alive(self, graph: Graph) -> NDArray[np.bool_]:
        """Return whether each link is uncut."""
        places = np.arange(graph.peers.size) - graph.starts[graph.owners]
        alive = np.empty(graph.peers.size, np.bool_)
        alive[self.order] = places < self.degrees[graph.owners]
        return alive


@compiled
def looks_alike(own: float, heard: float, limit: float) -> bool:
    """Return whether two means are at most so far apart.

    Examples
    --------
    >>> looks_alike(0.2, 0.5, 0.4)
    True
    """
    return abs(own - heard) <= limit


@compiled
def cut_links(
    graph: Graph,
    uncut: Uncut,
    means: NDArray[np.float64],
    a: int,
    own: float,
    limit: float,
    labels: NDArray[np.int64],
) -> tuple[int, int]:
    """Cut the links of agent a to means too far from its own; return how many, and of them wrong.

    Wrong are those to another label.

    Examples
    --------
    >>> from colme.contacts import Contacts
    >>> from colme.neighbours.graph import graph_of
    >>> graph = graph_of(Contacts.everyone(3))
    >>> uncut, means = Uncut.start(graph), np.array([0.0, 0.9, 0.1])
    >>> cut_links(graph, uncut, means, 0, 0.0, 0.5, labels=np.array([0, 1, 0]))
    (1, 1)
    >>> uncut.alive(graph).tolist()
    [False, True, True, True, True, True]
    """
    n_cut = n_wrong = 0
    first, order = graph.starts[a], uncut.order
    # From the last on, so that what takes the place of a cut link has been looked at.
    for j in range(first + uncut.degrees[a] - 1, first - 1, -1):
        e = order[j]
        b = graph.peers[e]
        if not looks_alike(own, means[b], limit):
            uncut.degrees[a] -= 1
            last = first + uncut.degrees[a]
            order[j], order[last] = order[last], e
            n_cut += 1
            n_wrong += 1 if labels[a] != labels[b] else 0
    return n_cut, n_wrong
