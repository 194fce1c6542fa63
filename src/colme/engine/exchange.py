"""The compiled loop for agents whose replies carry relays: all agents, step by step, together.

Lives here: the order of a step of the whole fleet.  What an agent relays depends on what it has
heard, so nobody can run ahead.  Must not know files, progress bars or threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled, kernel
from colme.algorithm import ClassTest
from colme.engine.inputs import Agents, Block, Output
from colme.engine.outcome import Left, conclude
from colme.engine.steps import Asked, begin, drop, expect, meet, perceive, weigh
from colme.engine.workspace import RowIndex, write_bookmark
from colme.model import Model, Scratch, update_peers
from colme.rules import Choice, Past, Row, Turn, pick_relays, take_turn, test_remembered
from colme.summary import View, set_view, view_at

ALL, PREPARE, REPLY, LEARN = 0, 1, 2, 3
"""The phases of a step: all in turn, or one of them.  Nobody may begin one before all agents have
ended the one before."""


class Mail(NamedTuple):
    """What is on its way in one step.

    Attributes
    ----------
    asked
        The entry of the peer that each agent asks; -1: none.
    wrapped
        Whether its round of queries began anew with that.
    n_news
        How many views each agent is sent.
    entries, views
        [agent, 1 + relays]: the entries in its row that they are about, and the views.
    wanted
        [agent, entry]: of what the peer holds, what the agent wants.
    picked
        [agent, relays]: the entries that the peer relays.

    Examples
    --------
    >>> Mail.blank(n_agents=3, longest_row=3, relays=2).views.mean.shape
    (3, 3)
    """

    asked: NDArray[np.int64]
    wrapped: NDArray[np.bool_]
    n_news: NDArray[np.int64]
    entries: NDArray[np.int64]
    views: View[NDArray[np.float64]]
    wanted: NDArray[np.bool_]
    picked: NDArray[np.int64]

    @staticmethod
    def blank(n_agents: int, longest_row: int, relays: int) -> Mail:
        """Return memory for the mail of all agents."""
        shape = n_agents, 1 + relays
        return Mail(
            np.empty(n_agents, np.int64),
            np.empty(n_agents, np.bool_),
            np.empty(n_agents, np.int64),
            np.empty(shape, np.int64),
            View(*(np.empty(shape) for _ in View._fields)),
            np.empty((n_agents, longest_row), np.bool_),
            np.empty((n_agents, relays), np.int64),
        )


# The functions below spell the fields of records out, because compiled code cannot go through them
# by name.


@compiled
def row_of(fleet: Any, a: int) -> Row:
    """Return the row of one agent.

    Examples
    --------
    >>> from colme.engine import Workspace
    >>> row_of(Workspace.of_all(2, longest_row=3, n_classes=1), 1).views.mean.shape
    (16,)
    """
    row = fleet.row
    views: Any = view_at(row.views, a)  # of columns [agent, entry], those of one agent
    return Row(
        views,
        row.member[a],
        row.confirmed[a],
        row.evidence[a],
        row.heard[a],
    )


@compiled
def _index_of(fleet: Any, a: int) -> RowIndex:
    index = fleet.row_index
    return RowIndex(index.known[a], index.counted[a], index.members_of[a], index.same[a])


@compiled
def _past_of(fleet: Any, a: int) -> Past:
    return Past(fleet.past.counts[a], fleet.past.means[a])


@compiled
def _prepare(
    choice: Choice,
    agents: Agents,
    block: Block,
    fleet: Any,
    model: Model | None,
    mail: Mail,
    step: tuple[int, int],
) -> None:
    """Let agent a take its samples and choose whom to ask; step is (t, a)."""
    t, a = step
    row, index, past = row_of(fleet, a), _index_of(fleet, a), _past_of(fleet, a)
    mark = fleet.bookmark[a]
    if t == 0 and block.is_first:
        first = begin(choice, a, block.public.mean.shape[0], agents, row, index, past, model)
        write_bookmark(mark, first)
    own, n = int(mark.own), int(mark.n_known)
    if perceive(choice, own, n, view_at(block.private, (a, t)), row, past, model):
        mark.n_asked, mark.revisit = 0, agents.revisits[a, 1]
        mark.n_changed += 1
    mark.n_changed += test_remembered(choice, own, n, row)
    newcomer = block.suggestions[t, a] if block.suggestions.shape[0] > 0 else -1
    if newcomer >= 0:
        mark.n_changed += meet(
            choice, own, n, int(mark.cursor), newcomer, agents.labels, row, index, model
        )
    before = Turn(int(mark.cursor), int(mark.visited), int(mark.n_asked))
    l, turn = take_turn(choice, own, n, int(mark.revisit), before, row)
    mail.asked[a] = l
    mail.wrapped[a] = l >= 0 and turn.cursor == l and l <= before.cursor
    mark.cursor, mark.visited, mark.n_asked = turn.cursor, turn.visited, turn.n_asked


@compiled
def _entry_of(name: int, everyone: bool, n: int, known: NDArray[np.int64]) -> int:
    """Return the entry of an agent in a row; -1: it is not there."""
    if everyone:
        return name
    for l in range(n):
        if known[l] == name:
            return l
    return -1


@compiled
def _reply(choice: Choice, agents: Agents, block: Block, fleet: Any, mail: Mail, step: Any) -> None:
    """Send agent a the view of the peer that it asks, and what that peer relays; step is (t, a)."""
    t, a = step
    l, mail.n_news[a] = mail.asked[a], 0
    if l < 0:
        return
    known, everyone = fleet.row_index.known, agents.starts.size == 0
    peer = known[a, l]
    mail.n_news[a], mail.entries[a, 0] = 1, l
    set_view(mail.views, (a, 0), view_at(block.public, (peer, t)))
    n, its_n, wanted = (
        int(fleet.bookmark[a].n_known),
        int(fleet.bookmark[peer].n_known),
        mail.wanted[a],
    )
    member, own, its_own = fleet.row.member[a], fleet.bookmark[a].own, fleet.bookmark[peer].own
    start, is_final = 0, choice.class_test != ClassTest.OVERLAP  # intervals may overlap again
    if everyone:
        for j in range(its_n):
            wanted[j] = member[j] or not is_final
        wanted[own] = wanted[its_own] = False
        start = own
    else:
        for j in range(its_n):
            mine = _entry_of(known[peer, j], everyone, n, known[a])
            is_wanted = mine >= 0 and (member[mine] or not is_final)
            wanted[j] = is_wanted and mine != own and j != its_own
            start = j if known[peer, j] == a else start
    counts, picked = fleet.row.views.n_samples[peer], mail.picked[a]
    for i in range(pick_relays(choice.relays, its_n, start, wanted, counts, picked)):
        j = picked[i]
        mail.entries[a, 1 + i] = _entry_of(known[peer, j], everyone, n, known[a])
        set_view(mail.views, (a, 1 + i), view_at(fleet.row.views, (peer, j)))
        mail.n_news[a] += 1


@compiled
def _is_news(news: View[float], epoch: float, count: float) -> bool:
    return news.epoch > epoch or (news.epoch == epoch and news.n_samples > count)


@compiled
def _learn(
    choice: Choice,
    agents: Agents,
    fleet: Any,
    model: Model | None,
    mail: Mail,
    scratch: Scratch,
    a: int,
    where: tuple[int, int],
    output: Output,
) -> None:
    """Let agent a remember what it was sent, and estimate."""
    row, index, past = row_of(fleet, a), _index_of(fleet, a), _past_of(fleet, a)
    mark = fleet.bookmark[a]
    own, n, l = int(mark.own), int(mark.n_known), mail.asked[a]
    n_changed = 1 if mail.wrapped[a] else 0
    old_n_samples, old_mean = 0.0, 0.0
    if l >= 0:
        old_n_samples, old_mean = row.views.n_samples[l], row.views.mean[l]
    turn = Turn(int(mark.cursor), int(mark.visited), int(mark.n_asked))
    n_news = 0
    for i in range(mail.n_news[a]):
        entry, news = mail.entries[a, i], view_at(mail.views, (a, i))
        if i == 0 or _is_news(news, row.views.epoch[entry], row.views.n_samples[entry]):
            n_changed += expect(choice, own, entry, news, turn.n_asked, row, past)
            mail.entries[a, n_news] = entry
            set_view(mail.views, (a, n_news), news)
            n_news += 1
    if model is not None:
        update_peers(n_news, mail.entries[a], view_at(mail.views, a), row, model, scratch)
    else:
        for i in range(n_news):
            set_view(row.views, mail.entries[a, i], view_at(mail.views, (a, i)))
        n_changed += n_news > 1  # sums are kept up to date with the reply alone
    is_enough = False
    for i in range(n_news):
        is_enough = weigh(choice, own, mail.entries[a, i], row, past) or is_enough
    n_dropped = drop(choice, n, row, model, scratch) if is_enough else 0
    asked = Asked(l, turn, n_changed, n_dropped, old_n_samples, old_mean)
    left = Left(int(mark.n_changed), int(mark.n_uncounted), float(mark.weights), float(mark.total))
    left = conclude(
        choice, own, n, asked, n_changed, left, where, agents.scales[a], True,
        agents.labels, row, index, model, scratch, output,
    )  # fmt: skip
    mark.n_changed, mark.n_uncounted = left.n_changed, left.n_uncounted
    mark.weights, mark.total = left.weights, left.total


@kernel
def exchange(
    choice: Choice,
    agents: Agents,
    block: Block,
    fleet: Any,
    models: Any,
    mail: Mail,
    steps: tuple[int, int],
    some: tuple[int, int],
    phase: int,
    scratch: Scratch,
    output: Output,
) -> None:
    """Run one phase, or all, of steps steps[0]..steps[1]-1 for agents some[0]..some[1]-1.

    `fleet` is the memory of all agents, `models` its model or None for algorithms that weigh
    without one.  All phases together need all agents.

    Examples
    --------
    >>> from colme import simulate
    >>> samples = [[0.0, 1.0, 2.0]] * 3
    >>> simulate(samples, "sharp", sigma=0.5, relays=1).estimates.shape
    (1, 3, 3)
    """
    first, last = some
    for t in range(steps[0], steps[1]):
        if phase in (ALL, PREPARE):
            for a in range(first, last):
                if models is None:
                    _prepare(choice, agents, block, fleet, None, mail, (t, a))
                else:
                    # Compiled code cannot return a record: no function can give one agent's model.
                    model = Model(
                        models.fit[a], models.atoms[a], models.shares[a], models.variances[a],
                        models.weights[a], models.totals[a],
                    )  # fmt: skip
                    _prepare(choice, agents, block, fleet, model, mail, (t, a))
        if phase in (ALL, REPLY):
            for a in range(first, last):
                _reply(choice, agents, block, fleet, mail, (t, a))
        if phase in (ALL, LEARN):
            for a in range(first, last):
                where = a - first, block.slots[t]
                if models is None:
                    _learn(choice, agents, fleet, None, mail, scratch, a, where, output)
                else:
                    model = Model(
                        models.fit[a], models.atoms[a], models.shares[a], models.variances[a],
                        models.weights[a], models.totals[a],
                    )  # fmt: skip
                    _learn(choice, agents, fleet, model, mail, scratch, a, where, output)
