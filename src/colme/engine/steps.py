"""What an agent does in one step, on its own row.

Lives here: the parts of a step, which call the rules and decide nothing.  Must not know other
agents, time or threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled
from colme.algorithm import ClassTest
from colme.engine.entries import entry_for, init_row, replace_peer
from colme.engine.inputs import Agents
from colme.engine.workspace import Bookmark, RowIndex
from colme.model import (
    Model,
    Scratch,
    drop_member,
    mean_precision,
    note_forgotten,
    refit_soon,
    reset,
    update_peer,
)
from colme.rules import (
    Choice,
    Past,
    Row,
    Turn,
    add_evidence,
    belongs,
    first_turn,
    forget_past,
    keep_past,
    lowest_level,
    news_evidence,
    next_excluded,
    reset_peer,
    reset_peers,
    take_turn,
)
from colme.summary import View, set_view, view_at

# Where a function takes a model that may be None, compiled code has one version for either: numba
# drops the branches that cannot run.


@compiled
def begin(
    choice: Choice,
    a: int,
    n_agents: int,
    agents: Agents,
    row: Row,
    index: RowIndex,
    past: Past,
    model: Model | None,
) -> Bookmark:
    """Make everything that of agent a before its first sample; return where it is then.

    Examples
    --------
    >>> from colme.engine import Workspace
    >>> from colme.setup import Setup
    >>> plan = Setup.of(3, "round-robin", sigma=0.5).plan([(0, 1)], 1)
    >>> row, index, past, *_ = Workspace.blank(longest_row=3, n_classes=1)
    >>> mark = begin(plan.choice, 2, 3, plan.agents, row, index, past, None)
    >>> mark.own, mark.n_known, mark.cursor
    (2, 3, -1)
    """
    own, n = init_row(choice, a, n_agents, agents, row, index)
    forget_past(past)
    if model is not None:
        reset(model)
    turn = first_turn(choice, own, n)
    # The first class is new, and so counts as one change.
    return Bookmark(own, n, turn.cursor, -1, 0, agents.revisits[a, 0], 1, 0, 0.0, 0.0)


@compiled
def perceive(
    choice: Choice, own: int, n: int, news: View[float], row: Row, past: Past, model: Model | None
) -> bool:
    """Remember what the agent knows of its own stream now; return whether that has restarted.

    Examples
    --------
    >>> row, choice = Row.blank(2, member=[True, False]), Choice(1, 2, 0, 0.0, 1.0)
    >>> news = View(mean=0.5, n_samples=1, epoch=1)
    >>> perceive(choice, 0, 2, news, row, Past.blank(), None), row.member
    (True, [True, True])
    """
    restarted = news.epoch > row.views.epoch[own]
    if restarted:
        reset_peers(choice, own, n, row)
        forget_past(past)
        if model is not None:
            refit_soon(model)
    set_view(row.views, own, news)
    keep_past(news, past)
    if model is not None:
        row.views.precision[own] = mean_precision(news.n_samples, news.squares, model)
    return restarted


@compiled
def meet(
    choice: Choice,
    own: int,
    n: int,
    cursor: int,
    newcomer: int,
    labels: NDArray[np.int64],
    row: Row,
    index: RowIndex,
    model: Model | None,
) -> int:
    """Let a newcomer take the entry of a peer that is of no use; return 1 if there is one.

    Examples
    --------
    >>> row = Row.blank(3, mean=[0.0, 1.0, 0.0], radius=[0.1] * 3)  # the second is excluded
    >>> index = RowIndex([0, 1, 2], [False] * 3, [0], [False] * 3)
    >>> meet(Choice(2, 0, 0, 0.0, 1.0), 0, 3, -1, 8, [0] * 9, row, index, None), index.known
    (1, [0, 8, 2])
    """
    l = entry_for(choice, own, n, cursor, newcomer, row, index)
    if l < 0:
        return 0
    if model is not None and row.views.n_samples[l] > 0.0:
        note_forgotten(row.views.mean[l], model)
    replace_peer(choice, own, l, newcomer, labels, row, index)
    return 1


class Asked(NamedTuple):
    """What came of one query.

    Attributes
    ----------
    peer
        The entry of the peer that was asked; -1: none.
    turn
        Where the agent is in its round of queries then.
    n_changed
        How many changes the class has seen that sums do not know of yet, the end of a round counted
        as one.
    n_dropped
        How many peers were excluded that sums no longer contain.
    old_n_samples, old_mean
        What was known of the peer before.

    Examples
    --------
    >>> Asked(-1, Turn(), 0, 0, 0.0, 0.0).turn.cursor
    -1
    """

    peer: int
    turn: Turn
    n_changed: int
    n_dropped: int
    old_n_samples: float
    old_mean: float


@compiled
def ask(
    choice: Choice,
    own: int,
    n: int,
    revisit: int,
    before: Turn,
    public: View[Any],
    t: int,
    row: Row,
    index: RowIndex,
    past: Past,
    model: Model | None,
    scratch: Scratch,
) -> Asked:
    """Ask the next peer and remember its reply.

    Examples
    --------
    >>> from colme.engine import Workspace
    >>> workspace = Workspace.blank(longest_row=3, n_classes=1)
    >>> row, index, past, *_ = workspace
    >>> choice = Choice(1, 0, 0, 0.0, 1.0)
    >>> public = View(*[np.full((3, 1), 0.5)] * len(View._fields))
    >>> asked = ask(choice, 0, 3, 0, Turn(), public, 0, row, index, past, None, workspace.scratch)
    >>> asked.peer, float(row.views.mean[1])
    (1, 0.5)
    """
    l, turn = take_turn(choice, own, n, revisit, before, row)
    if l < 0:
        return Asked(l, turn, 0, 0, 0.0, 0.0)
    # Once a round the sums are computed from scratch, so that rounding cannot build up.
    n_changed = 1 if turn.cursor == l and l <= before.cursor else 0
    old_n_samples, old_mean = row.views.n_samples[l], row.views.mean[l]
    news = view_at(public, (index.known[l], t))
    n_changed += expect(choice, own, l, news, turn.n_asked, row, past)
    if model is not None:
        update_peer(l, news, row, model, scratch)
    else:
        set_view(row.views, l, news)
    n_dropped = 0
    if weigh(choice, own, l, row, past):
        n_dropped = drop(choice, n, row, model, scratch)
    return Asked(l, turn, n_changed, n_dropped, old_n_samples, old_mean)


@compiled
def expect(
    choice: Choice, own: int, l: int, news: View[float], now: int, row: Row, past: Past
) -> int:
    """Settle what is remembered of peer l before news of it, which came after `now` queries.

    Returns how many changes of the class that makes.

    Examples
    --------
    >>> row, choice = Row.blank(2, member=[True, False]), Choice(3, 3, 0, 0.0, 1.0)
    >>> expect(choice, 0, 1, View(mean=0.5, n_samples=1, epoch=1), 7, row, Past.blank()), row.heard
    (1, [0.0, 7])
    """
    n_changed, mine = 0, view_at(row.views, own)
    if choice.class_test == ClassTest.JOINT and row.member[l]:
        # Old news may rule a peer out for good, before new news comes.
        row.member[l] = belongs(choice, mine, view_at(row.views, l), True)
        n_changed += 0 if row.member[l] else 1
    is_same = row.member[l] and news.epoch == row.views.epoch[l]
    if choice.class_test == ClassTest.PAIRED and is_same:
        add_evidence(choice, mine, l, past, row)
    n_changed += reset_peer(choice, l, news, row)
    row.heard[l] = now
    return n_changed


@compiled
def weigh(choice: Choice, own: int, l: int, row: Row, past: Past) -> bool:
    """Take in the evidence of news of peer l; return whether somebody may be excluded by it.

    Examples
    --------
    >>> row = Row.blank(2, mean=[0.0, 9.0], n_samples=[1, 1], spread=[0.1] * 2)
    >>> weigh(Choice(3, 3, 0, 0.0, log_risk=14.0), 0, 1, row, Past.blank())
    True
    """
    if choice.class_test != ClassTest.PAIRED or not row.member[l]:
        return False
    found = news_evidence(choice, view_at(row.views, own), past, view_at(row.views, l))
    row.evidence[l] = found if found > row.evidence[l] else row.evidence[l]
    return row.evidence[l] >= lowest_level(choice)


@compiled
def drop(choice: Choice, n: int, row: Row, model: Model | None, scratch: Scratch) -> int:
    """Exclude whom evidence rules out, and take them out of the sums; return how many.

    Examples
    --------
    >>> row = Row.blank(2)
    >>> row.evidence[1] = 15.0
    >>> drop(Choice(3, 3, 0, 0.0, log_risk=14.0), 2, row, None, Scratch.blank(2)), row.member
    (1, [True, False])
    """
    n_dropped, l = 0, next_excluded(choice, n, row)
    while l >= 0:
        if model is not None:
            drop_member(l, row, model, scratch)
        row.member[l] = False
        n_dropped += 1
        l = next_excluded(choice, n, row)
    return n_dropped
