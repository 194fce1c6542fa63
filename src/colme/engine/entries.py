"""One agent's row inside the compiled loop: who stands in it, who is counted, who comes and goes.

Lives here: entries that are cleared, replaced and counted.  Must not know weightings.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled
from colme.algorithm import ClassTest
from colme.engine.inputs import Agents
from colme.engine.last_wrong import ClassCounts
from colme.engine.workspace import RowIndex
from colme.rules import Choice, Row, next_room
from colme.summary import UNHEARD, set_view


@compiled
def _clear(choice: Choice, l: int, same_label: bool, row: Row) -> None:
    """Make an entry that of a peer never heard of."""
    set_view(row.views, l, UNHEARD)
    row.evidence[l] = row.heard[l] = 0.0
    row.member[l] = same_label or choice.class_test != ClassTest.KNOWN
    row.confirmed[l] = choice.within == math.inf or choice.class_test == ClassTest.KNOWN


@compiled
def init_row(
    choice: Choice, a: int, n_agents: int, agents: Agents, row: Row, index: RowIndex
) -> tuple[int, int]:
    """Make the row that of agent a before it has heard of anybody; return (own entry, entries).

    Rows are filled up to whole vectors with peers that are never heard of, which weigh nothing.

    Examples
    --------
    >>> from colme.engine import Workspace
    >>> from colme.setup import Setup
    >>> plan = Setup.of(3, "restricted-round-robin", sigma=0.5).plan([(0, 1)], 1)
    >>> row, index, *_ = Workspace.blank(longest_row=3, n_classes=1)
    >>> init_row(plan.choice, 2, 3, plan.agents, row, index), index.known[:3].tolist()
    ((2, 3), [0, 1, 2])
    """
    n, own, first = n_agents, a, 0
    everyone = agents.starts.size == 0
    if not everyone:
        first = agents.starts[a]
        n = agents.starts[a + 1] - first
    for l in range(n):
        index.known[l] = l if everyone else agents.names[first + l]
        own = l if index.known[l] == a else own
    labels = agents.labels
    for l in range(len(row.member)):
        _clear(choice, l, l < n and labels[index.known[l]] == labels[a], row)
        index.counted[l] = False
    row.confirmed[own] = True
    index.members_of[:] = 0
    return own, n


@compiled
def entry_for(
    choice: Choice, own: int, n: int, cursor: int, newcomer: int, row: Row, index: RowIndex
) -> int:
    """Return the entry that a newcomer may take; -1 if there is none, or it is known already.

    Examples
    --------
    >>> row = Row.blank(3, mean=[0.0, 1.0, 0.0], radius=[0.1] * 3)  # agent 1 is excluded
    >>> index = RowIndex([0, 1, 2], [False] * 3, [0], [False] * 3)
    >>> choice = Choice(2, 0, 0, 0.0, 1.0)
    >>> [entry_for(choice, 0, 3, -1, newcomer, row, index) for newcomer in (2, 8)]
    [-1, 1]
    """
    for l in range(n):
        if index.known[l] == newcomer:
            return -1
    return next_room(choice, own, n, cursor, row)


@compiled
def replace_peer(
    choice: Choice,
    own: int,
    l: int,
    newcomer: int,
    labels: NDArray[np.int64],
    row: Row,
    index: RowIndex,
) -> None:
    """Give entry l to a newcomer.

    Examples
    --------
    >>> index = RowIndex([4, 5], counted=[True, True], members_of=[2], same=[False] * 2)
    >>> replace_peer(Choice(2, 0, 0, 0.0, 1.0), 0, 1, 8, [0] * 9, Row.blank(2), index)
    >>> index.known, index.members_of
    ([4, 8], [1])
    """
    known = index.known
    if index.counted[l]:
        index.counted[l] = False
        index.members_of[labels[known[l]]] -= 1
    known[l] = newcomer
    _clear(choice, l, labels[newcomer] == labels[known[own]], row)


@compiled
def count_members(
    a: int,
    slot: int,
    n: int,
    changed: bool,
    labels: NDArray[np.int64],
    row: Row,
    index: RowIndex,
    class_counts: ClassCounts,
) -> None:
    """Write how many members of each class stand in the row, at class_counts[a, slot].

    Most steps change nothing: then the last counts are written again.

    Examples
    --------
    >>> row, class_counts = Row.blank(3, member=[True, False, True]), np.empty((1, 1, 1), np.int16)
    >>> index = RowIndex([0, 1, 2], [False] * 3, np.zeros(1, np.int64), [False] * 3)
    >>> count_members(0, 0, 3, True, [0] * 3, row, index, class_counts)
    >>> class_counts.item()
    2
    """
    known, counted, members_of, member = index.known, index.counted, index.members_of, row.member
    if changed:
        for l in range(n):
            if member[l] != counted[l]:
                counted[l] = member[l]
                members_of[labels[known[l]]] += 1 if member[l] else -1
    for k in range(members_of.size):
        class_counts[a, slot, k] = members_of[k]
