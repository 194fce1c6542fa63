"""What methods on a graph take: memory by counting.

Lives here: bytes of a graph, and of the state of one run.  Must not know how anything runs.
"""

from __future__ import annotations

from colme.neighbours.method import Method, Sharing


def bytes_of_graph(n_ends: int) -> int:
    """Return the bytes of a graph and of the contacts it is made from; a link has two ends.

    Examples
    --------
    >>> bytes_of_graph(10)
    280
    """
    return n_ends * (4 + 8 + 16)


def bytes_of_state(method: Method, n_agents: int, n_ends: int) -> int:
    """Return the bytes that one run keeps from step to step.

    Examples
    --------
    >>> bytes_of_state(Method("consensus"), n_agents=3, n_ends=4)
    248
    """
    uncut = 8 * (n_agents + n_ends)
    if method.sharing == Sharing.CONSENSUS:
        return uncut + 2 * 4 * 8 * n_agents
    per_hop = 2 * 2 * 8  # a sum and a number, of the last step and the one before it
    to_agents = n_agents * (2 * 8 + per_hop * method.hops)
    return uncut + to_agents + n_ends * (2 * 8 + per_hop * (method.hops - 1))
