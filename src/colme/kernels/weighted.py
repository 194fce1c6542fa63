"""The compiled loop of algorithms that weigh peers by counts and intervals.

Lives here: one loop over agents and time.  It calls the rules and decides nothing.  Must not know
models, files or progress bars.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from colme._compile import kernel
from colme.algorithm import ClassTest, QueryStrategy, Weighting
from colme.kernels.rows import (
    Desk,
    Fleet,
    admit,
    count_members,
    enrol,
    last_look,
    padded,
    put_away,
    room_for,
    take_up,
)
from colme.kernels.settling import ClassCounts
from colme.rules import (
    Choice,
    Turn,
    begin_anew,
    classify,
    pool,
    remember,
    renew,
    simple_sums,
    take_turn,
)
from colme.views import Views, seen

__all__ = ["collaborate"]


@kernel
def collaborate(
    views: Views,
    choice: Choice,
    fleet: Fleet,
    desk: Desk,
    states: NDArray[np.int64],
    begins: bool,
    first: int,
    last: int,
    labels: NDArray[np.int64],
    slots: NDArray[np.int64],
    estimates: NDArray[np.float64],
    class_counts: ClassCounts,
) -> None:
    """Run agents first..last-1 over a block of time, at best the whole horizon of a run.

    An agent needs nothing from the others but `views`, so agents run one after another.  What
    happens at time t is written to slot ``slots[t]`` of estimates[agent - first, slot] and
    class_counts[agent - first, slot, class], or nowhere if that is negative; an array without
    agents is not recorded.  `desk` is room to work in.  What agents know is put away in
    states[agent], unless that has no agents, and taken up from there unless the run `begins`.

    A shortcut leaves the result as it is: simple weights only need the sums over members, which
    one reply changes by one term as long as the class stays.

    Examples
    --------
    >>> one, zero = np.ones((1, 1)), np.zeros(1, np.int64)
    >>> estimates, class_counts = np.empty((1, 1)), np.empty((1, 1, 1), np.int16)
    >>> views, choice = Views(*[one] * 8), Choice(1, 0, 0, 0.0, 1.0)
    >>> fleet, desk = Fleet.of_all(1), Desk.blank(longest_row=1, n_classes=1)
    >>> states, both = np.empty((0, 0), np.int64), (estimates, class_counts)
    >>> collaborate(views, choice, fleet, desk, states, True, 0, 1, zero, zero, *both)
    >>> estimates.item(), class_counts.item()
    (1.0, 1)
    """
    n_agents, horizon = views.means.shape
    row, tally, mark, _, _, _ = desk
    known, revisits, suggestions = tally.known, fleet.revisits, fleet.suggestions
    offered = suggestions.shape[0] > 0
    for a in range(first, last):
        if begins:
            own, n = enrol(choice, a, n_agents, fleet, labels, row, tally)
            turn, revisit = Turn(-1, -1, 0), revisits[a, 0]
            n_changed, n_uncounted = 1, 0  # the first class is new
            weights = total = 0.0
        else:
            own, n, turn, revisit, n_changed, n_uncounted = take_up(a, desk, states)
            weights, total = mark.sums[0], mark.sums[1]
        n_row = padded(n)
        for t in range(horizon):
            news = seen(views, a, t)
            if news.epoch > row.epochs[own]:
                begin_anew(choice, own, n, row)
                turn, revisit = Turn(turn.cursor, turn.visited, 0), revisits[a, 1]
                n_changed += 1
            remember(row, own, news)
            newcomer = suggestions[t, a] if offered else -1
            if newcomer >= 0:
                room = room_for(choice, own, n, turn.cursor, newcomer, row, tally)
                if room >= 0:
                    admit(choice, own, room, newcomer, labels, row, tally)
                    n_changed += 1
            before = turn.cursor
            l, turn = take_turn(choice, own, n, revisit, turn, row)
            count_before = mean_before = 0.0
            if l >= 0:
                # Once a round the sums are made anew, so that rounding cannot build up.
                n_changed += turn.cursor == l and l <= before
                n_changed += last_look(choice, own, l, row)
                news = seen(views, known[l], t)
                n_changed += renew(choice, l, news, row)
                count_before, mean_before = row.counts[l], row.means[l]
                remember(row, l, news)
            slot = slots[t]
            if slot < 0 and choice.class_test != ClassTest.JOINT:
                n_changed += 1
                continue
            if choice.query == QueryStrategy.NONE:
                # Nobody is ever asked: the class stays, and only the agent itself has weight.
                estimate = row.means[own] if row.counts[own] > 0.0 else math.nan
            elif choice.weighting == Weighting.SIMPLE:
                n_changed += classify(choice, own, n_row, row)
                mine = row.counts[own] * row.means[own]
                if n_changed > 0:
                    weights, total = simple_sums(n_row, row)
                    weights -= row.counts[own]
                    total -= mine
                elif l >= 0 and row.member[l] and row.shown[l]:
                    weights += row.counts[l] - count_before
                    total += row.counts[l] * row.means[l] - count_before * mean_before
                heard = weights + row.counts[own]
                estimate = (total + mine) / heard if heard > 0.0 else math.nan
            else:
                changed, estimate = pool(choice, own, n_row, row)
                n_changed += changed
            n_uncounted += n_changed
            n_changed = 0
            if slot < 0:
                continue
            if estimates.shape[0] > 0:
                estimates[a - first, slot] = estimate
            if class_counts.shape[0] > 0:
                count_members(a - first, slot, n, n_uncounted > 0, labels, row, tally, class_counts)
                n_uncounted = 0
        if states.shape[0] > 0:
            mark.sums[0], mark.sums[1] = weights, total
            put_away(a, own, n, turn, revisit, n_changed, n_uncounted, desk, states)
