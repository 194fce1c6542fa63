"""The compiled loop of algorithms that weigh peers by a model.

Lives here: one loop over agents and time.  It calls the rules and decides nothing.  Must not know
files or progress bars.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colme._compile import kernel
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
from colme.model import (
    estimate,
    forget,
    gather,
    hear,
    hurry,
    learn_noise,
    likely,
    mean_precision,
    meet,
    meet_all,
    refit,
    refit_due,
    reset,
)
from colme.rules import Choice, Turn, begin_anew, classify, remember, renew, take_turn
from colme.views import Views, seen

__all__ = ["collaborate_by_model"]


@kernel
def collaborate_by_model(
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
    likely_counts: ClassCounts,
) -> None:
    """Do what `collaborate` does with weights from a model; likely_counts are of likely classes.

    The model's sums over members are kept up to date with every reply, and made anew when a peer
    changes sides, after a fit, and once a round.  Likely classes need the whole horizon in one
    block.

    Examples
    --------
    >>> one, zero = np.ones((1, 1)), np.zeros(1, np.int64)
    >>> estimates, class_counts = np.empty((1, 1)), np.empty((1, 1, 1), np.int16)
    >>> views, choice, fleet = Views(*[one] * 8), Choice(1, 2, 4, 0.0, 1.0), Fleet.of_all(1)
    >>> counts = class_counts, class_counts[:0]
    >>> desk = Desk.blank(longest_row=1, n_classes=1)
    >>> alone = desk, np.empty((0, 0), np.int64), True, 0, 1
    >>> collaborate_by_model(views, choice, fleet, *alone, zero, zero, estimates, *counts)
    >>> estimates.item(), class_counts.item()
    (1.0, 1)
    """
    n_agents, horizon = views.means.shape
    row, tally, _, model, bench, _ = desk
    known, revisits, suggestions = tally.known, fleet.revisits, fleet.suggestions
    offered = suggestions.shape[0] > 0
    for a in range(first, last):
        if begins:
            own, n = enrol(choice, a, n_agents, fleet, labels, row, tally)
            reset(model)
            turn, revisit = Turn(-1, -1, 0), revisits[a, 0]
            n_changed, n_uncounted = 1, 0  # the first class is new
        else:
            own, n, turn, revisit, n_changed, n_uncounted = take_up(a, desk, states)
        n_row = padded(n)
        for t in range(horizon):
            news = seen(views, a, t)
            if news.epoch > row.epochs[own]:
                begin_anew(choice, own, n, row)
                hurry(model)
                turn, revisit = Turn(turn.cursor, turn.visited, 0), revisits[a, 1]
                n_changed += 1
            remember(row, own, news)
            row.precisions[own] = mean_precision(news.n_samples, news.squares, model)
            newcomer = suggestions[t, a] if offered else -1
            if newcomer >= 0:
                room = room_for(choice, own, n, turn.cursor, newcomer, row, tally)
                if room >= 0:
                    if row.counts[room] > 0.0:
                        forget(row.means[room], model)
                    admit(choice, own, room, newcomer, labels, row, tally)
                    n_changed += 1
            before = turn.cursor
            l, turn = take_turn(choice, own, n, revisit, turn, row)
            if l >= 0:
                n_changed += turn.cursor == l and l <= before
                n_changed += last_look(choice, own, l, row)
                news = seen(views, known[l], t)
                n_changed += renew(choice, l, news, row)
                hear(l, news, row, model, bench)
            n_changed += classify(choice, own, n_row, row)
            count, n_asked = row.counts[own], float(turn.n_asked)
            if l >= 0 and refit_due(model, count, n_asked):
                learn_noise(n, fleet.scales[a], row, model)
                refit(own, n, count, n_asked, row, model, bench)
                n_changed += 1
            if n_changed > 0:
                gather(own, n, row, model, bench)
            if likely_counts.shape[0] > 0 and n_changed > 0:
                meet_all(n, row, model, bench)
            elif likely_counts.shape[0] > 0 and l >= 0:
                meet(l, row, model, bench)
            n_uncounted += n_changed
            n_changed = 0
            slot = slots[t]
            if slot < 0:
                continue
            if estimates.shape[0] > 0:
                estimates[a - first, slot] = estimate(own, n, row, model, bench)
            if class_counts.shape[0] > 0:
                count_members(a - first, slot, n, n_uncounted > 0, labels, row, tally, class_counts)
                n_uncounted = 0
            if likely_counts.shape[0] > 0:
                likely(own, n, row, model, bench, tally.same)
                for k in range(likely_counts.shape[2]):
                    likely_counts[a - first, slot, k] = 0
                for i in range(n):
                    likely_counts[a - first, slot, labels[known[i]]] += tally.same[i]
        if states.shape[0] > 0:
            put_away(a, own, n, turn, revisit, n_changed, n_uncounted, desk, states)
