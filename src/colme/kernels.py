"""The compiled loops: they call the rules and decide nothing.

Lives here: loops over time, agents and rows.  Must not know files, progress bars or problems.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled, kernel
from colme.algorithm import ClassTest, QueryStrategy, Weighting
from colme.model import (
    MOST_CLASSES,
    N_FACTS,
    Bench,
    Model,
    expected_mean,
    gather,
    hear,
    learn_noise,
    likely,
    mean_precision,
    meet,
    meet_all,
    refit,
    refit_due,
    reset,
)
from colme.rules import (
    Choice,
    Flags,
    Row,
    belongs,
    classify,
    next_peer,
    pool,
    remember,
    simple_sums,
    view,
)
from colme.summary import View
from colme.views import Views, seen

ClassCounts: TypeAlias = NDArray[np.int16 | np.int32]

_VECTOR = 16
"""Entries that a compiled row loop takes at once."""

__all__ = ["collaborate", "collaborate_by_model", "last_wrong_class", "last_wrong_estimate"]


@compiled
def _blank_row(n: int) -> Row:
    return Row(
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n, np.bool_),
    )


@compiled
def _forget(row: Row, class_test: int, a: int, labels: NDArray[np.int64]) -> None:
    """Make the row that of an agent that has heard of nobody, and knows its class if it may."""
    for l in range(len(row.means)):
        remember(row, l, View(0.0, 0.0, np.inf, 0.0, np.inf, np.inf, 0.0, 0.0, 0.0))
        known = l < labels.size and labels[l] == labels[a]
        row.member[l] = known or class_test != ClassTest.KNOWN


@compiled
def _recount(
    labels: NDArray[np.int64],
    member: Flags,
    counted: NDArray[np.bool_],
    members_of: NDArray[np.int64],
) -> None:
    """Bring members_of[class] up to date, from `counted` to `member`; both seldom differ."""
    for l in range(labels.size):
        if member[l] != counted[l]:
            counted[l] = member[l]
            members_of[labels[l]] += 1 if member[l] else -1


@compiled
def _last_look(choice: Choice, a: int, l: int, row: Row) -> int:
    """Rule peer l out for good if old news of it does, before new news comes; return 1 if so."""
    if choice.class_test != ClassTest.JOINT or not row.member[l]:
        return 0
    row.member[l] = belongs(choice, view(row, a), view(row, l), True)
    return 0 if row.member[l] else 1


@kernel
def collaborate(
    views: Views,
    choice: Choice,
    first: int,
    last: int,
    labels: NDArray[np.int64],
    slots: NDArray[np.int64],
    estimates: NDArray[np.float64],
    class_counts: ClassCounts,
) -> None:
    """Run agents first..last-1 over the whole horizon of one run.

    An agent needs nothing from the others but `views`, so agents run one after another.  What
    happens at time t is written to slot ``slots[t]`` of estimates[agent, slot] and
    class_counts[agent, slot, class], or nowhere if that is negative; an array without agents is
    not recorded.

    Two shortcuts leave the result as it is.  Rows are padded to whole vectors with peers that are
    never heard of, which weigh nothing.  And simple weights only need the sums over members, which
    one reply changes by one term as long as the class stays.

    Examples
    --------
    >>> one, zero = np.ones((1, 1)), np.zeros(1, np.int64)
    >>> estimates, class_counts = np.empty((1, 1)), np.empty((1, 1, 1), np.int16)
    >>> views, choice = Views(*[one] * 8), Choice(1, 0, 0, 0.0, 1.0)
    >>> collaborate(views, choice, 0, 1, zero, zero, estimates, class_counts)
    >>> estimates.item(), class_counts.item()
    (1.0, 1)
    """
    n_agents, horizon = views.means.shape
    n_row = -(-n_agents // _VECTOR) * _VECTOR
    row = _blank_row(n_row)
    counted = np.empty(n_row, np.bool_)
    members_of = np.empty(class_counts.shape[2], np.int64)
    for a in range(first, last):
        _forget(row, choice.class_test, a, labels)
        counted[:] = False
        members_of[:] = 0
        cursor = -1
        n_changed, n_uncounted = 1, 0  # the first class is new
        weights = total = 0.0
        for t in range(horizon):
            remember(row, a, seen(views, a, t))
            l = next_peer(choice, a, n_agents, cursor, row)
            count_before = mean_before = 0.0
            if l >= 0:
                # Once a round the sums are made anew, so that rounding cannot build up.
                n_changed += l <= cursor
                cursor = l
                n_changed += _last_look(choice, a, l, row)
                count_before, mean_before = row.counts[l], row.means[l]
                remember(row, l, seen(views, l, t))
            slot = slots[t]
            if slot < 0 and choice.class_test != ClassTest.JOINT:
                n_changed += 1
                continue
            if choice.query == QueryStrategy.NONE:
                # Nobody is ever asked: the class stays, and only the agent itself has weight.
                estimate = row.means[a]
            elif choice.weighting == Weighting.SIMPLE:
                n_changed += classify(choice, a, n_row, row)
                own = row.counts[a] * row.means[a]
                if n_changed > 0:
                    weights, total = simple_sums(n_row, row)
                    weights -= row.counts[a]
                    total -= own
                elif l >= 0 and row.member[l]:
                    weights += row.counts[l] - count_before
                    total += row.counts[l] * row.means[l] - count_before * mean_before
                estimate = (total + own) / (weights + row.counts[a])
            else:
                changed, estimate = pool(choice, a, n_row, row)
                n_changed += changed
            n_uncounted += n_changed
            n_changed = 0
            if slot < 0:
                continue
            if estimates.shape[0] > 0:
                estimates[a, slot] = estimate
            if class_counts.shape[0] > 0:
                if n_uncounted > 0:
                    _recount(labels, row.member, counted, members_of)
                    n_uncounted = 0
                for k in range(members_of.size):
                    class_counts[a, slot, k] = members_of[k]


@compiled
def _blank_model() -> Model:
    n = MOST_CLASSES + 1
    return Model(np.empty(N_FACTS), np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n))


@compiled
def _blank_bench(n_row: int) -> Bench:
    n = MOST_CLASSES + 1
    return Bench(
        np.empty(n_row),
        np.empty(n_row),
        np.empty(n_row),
        np.empty(n_row),
        np.empty(n_row),
        np.empty((MOST_CLASSES, n_row)),
        np.empty((MOST_CLASSES, n_row)),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
    )


@kernel
def collaborate_by_model(
    views: Views,
    choice: Choice,
    scales: NDArray[np.float64],
    first: int,
    last: int,
    labels: NDArray[np.int64],
    slots: NDArray[np.int64],
    estimates: NDArray[np.float64],
    class_counts: ClassCounts,
    likely_counts: ClassCounts,
) -> None:
    """Do what `collaborate` does with weights from a model; likely_counts are of likely classes.

    `scales` are the most that the standard deviation of each agent's samples can be.

    The model's sums over members are kept up to date with every reply, and made anew when a peer
    changes sides, after a fit, and once a round.

    Examples
    --------
    >>> one, zero = np.ones((1, 1)), np.zeros(1, np.int64)
    >>> estimates, class_counts = np.empty((1, 1)), np.empty((1, 1, 1), np.int16)
    >>> views, choice = Views(*[one] * 8), Choice(1, 2, 4, 0.0, 1.0)
    >>> counts = class_counts, class_counts[:0]
    >>> collaborate_by_model(views, choice, one[0], 0, 1, zero, zero, estimates, *counts)
    >>> estimates.item(), class_counts.item()
    (1.0, 1)
    """
    n_agents, horizon = views.means.shape
    n_row = -(-n_agents // _VECTOR) * _VECTOR
    row, model, bench = _blank_row(n_row), _blank_model(), _blank_bench(n_row)
    counted, same = np.empty(n_row, np.bool_), np.empty(n_row, np.bool_)
    members_of = np.empty(class_counts.shape[2], np.int64)
    for a in range(first, last):
        _forget(row, choice.class_test, a, labels)
        reset(model)
        counted[:] = False
        members_of[:] = 0
        cursor = -1
        n_changed, n_uncounted = 1, 0  # the first class is new
        for t in range(horizon):
            remember(row, a, seen(views, a, t))
            row.precisions[a] = mean_precision(row.counts[a], row.squares[a], model)
            l = next_peer(choice, a, n_agents, cursor, row)
            if l >= 0:
                n_changed += l <= cursor
                cursor = l
                n_changed += _last_look(choice, a, l, row)
                hear(l, seen(views, l, t), row, model, bench)
            n_changed += classify(choice, a, n_row, row)
            if l >= 0 and refit_due(model, row.counts[a]):
                learn_noise(n_agents, scales[a], row, model)
                refit(a, n_agents, row.counts[a], row, model, bench)
                n_changed += 1
            if n_changed > 0:
                gather(a, n_agents, row, model, bench)
            if likely_counts.shape[0] > 0 and n_changed > 0:
                meet_all(n_agents, row, model, bench)
            elif likely_counts.shape[0] > 0 and l >= 0:
                meet(l, row, model, bench)
            n_uncounted += n_changed
            n_changed = 0
            slot = slots[t]
            if slot < 0:
                continue
            if estimates.shape[0] > 0:
                estimates[a, slot] = expected_mean(view(row, a), model, bench)
            if class_counts.shape[0] > 0:
                if n_uncounted > 0:
                    _recount(labels, row.member, counted, members_of)
                    n_uncounted = 0
                for k in range(members_of.size):
                    class_counts[a, slot, k] = members_of[k]
            if likely_counts.shape[0] > 0:
                likely(a, n_agents, row, model, bench, same)
                for k in range(members_of.size):
                    likely_counts[a, slot, k] = 0
                for i in range(n_agents):
                    likely_counts[a, slot, labels[i]] += same[i]


@kernel
def last_wrong_estimate(
    estimates: NDArray[np.float64],
    targets: NDArray[np.float64],
    epsilon: float,
    last: NDArray[np.int64],
) -> None:
    """Write into last[run, agent] one plus the last slot with an error above ε; 0 if none has.

    `estimates` are [run, agent, slot], as they lie in memory.

    Examples
    --------
    >>> last = np.empty((1, 1), np.int64)
    >>> last_wrong_estimate(np.array([[[1.0, 0.0]]]), np.zeros(1), 0.1, last)
    >>> last.item()
    1
    """
    runs, n_agents, n_slots = estimates.shape
    for run in range(runs):
        for a in range(n_agents):
            slot = n_slots
            # A NaN estimate counts as wrong.
            while slot > 0 and abs(estimates[run, a, slot - 1] - targets[a]) <= epsilon:
                slot -= 1
            last[run, a] = slot


@kernel
def last_wrong_class(
    class_counts: ClassCounts,
    truth: NDArray[np.int64],
    last: NDArray[np.int64],
) -> None:
    """Write into last[run, agent] one plus the last slot whose class differs from truth[agent].

    `class_counts` are [run, agent, slot, class], as they lie in memory.

    Examples
    --------
    >>> last = np.empty((1, 1), np.int64)
    >>> last_wrong_class(np.array([[[[2], [1]]]], np.int16), np.array([[1]]), last)
    >>> last.item()
    1
    """
    runs, n_agents, n_slots, n_classes = class_counts.shape
    for run in range(runs):
        for a in range(n_agents):
            slot = n_slots
            while slot > 0:
                n_right = 0
                for k in range(n_classes):
                    n_right += class_counts[run, a, slot - 1, k] == truth[a, k]
                if n_right < n_classes:
                    break
                slot -= 1
            last[run, a] = slot
