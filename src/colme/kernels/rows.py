"""One agent's row inside a compiled loop: who stands in it, who is counted, who comes and goes.

Lives here: what the loops of all algorithms have in common, and room to work in.  Must not know
weightings.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled
from colme.algorithm import ClassTest
from colme.kernels.settling import ClassCounts
from colme.model import Bench, Model
from colme.rules import Choice, Row, Turn, belongs, next_room, remember, view
from colme.summary import View

__all__ = [
    "Desk",
    "Fleet",
    "Mark",
    "Tally",
    "admit",
    "count_members",
    "enrol",
    "last_look",
    "padded",
    "put_away",
    "room_for",
    "take_up",
]

_VECTOR = 16
"""Entries that a compiled row loop takes at once."""
_LINE = 64
"""Bytes that a processor fetches at once."""


class Fleet(NamedTuple):
    """Who knows whom, and what each agent believes about its own stream.

    Attributes
    ----------
    names, starts
        Agent a knows names[starts[a] : starts[a + 1]], itself among them; without `starts`
        everybody knows everybody.
    suggestions
        int32[time, agent]: who is offered to each agent, -1 for nobody; without times nobody ever
        is.
    revisits
        int[agent, 2]: every so many queries one goes to an excluded peer, 0: none; in the first
        epoch of the agent's own stream, and later.
    scales
        The most that the standard deviation of each agent's samples can be.

    Examples
    --------
    >>> Fleet.of_all(2).revisits.tolist()
    [[0, 0], [0, 0]]
    """

    names: NDArray[np.int64]
    starts: NDArray[np.int64]
    suggestions: NDArray[np.int32]
    revisits: NDArray[np.int64]
    scales: NDArray[np.float64]

    @staticmethod
    def of_all(n_agents: int) -> Fleet:
        """Return a fleet where everybody knows everybody and nothing changes."""
        nobody = np.empty((0, 0), np.int32)
        nothing = np.empty(0, np.int64)
        nothing.setflags(write=False)  # as contacts are: one type of array, one compilation
        return Fleet(nothing, nothing, nobody, np.zeros((n_agents, 2), np.int64), np.ones(n_agents))


class Tally(NamedTuple):
    """The names behind one row, who was counted last, and who is likely the same.

    Examples
    --------
    >>> Desk.blank(longest_row=3, n_classes=2).tally.members_of.shape
    (2,)
    """

    known: NDArray[np.int64]
    counted: NDArray[np.bool_]
    members_of: NDArray[np.int64]
    same: NDArray[np.bool_]


class Mark(NamedTuple):
    """Where an agent stopped at the end of a block of time, beside its row and its model.

    Attributes
    ----------
    places
        Its own entry, the entries of its row, where it is in its round of queries (a `Turn`), how
        often it goes to an excluded peer, and how many changes of its class were not summed up, or
        not counted, yet.
    sums
        Σ weights and Σ weights · means of its peers, where these are kept up to date.

    Examples
    --------
    >>> Desk.blank(longest_row=3, n_classes=2).mark.places.size
    8
    """

    places: NDArray[np.int64]
    sums: NDArray[np.float64]


class Desk(NamedTuple):
    """Room for one agent after another to work in: a loop takes no memory of its own.

    Attributes
    ----------
    row, tally, mark, model
        What an agent knows; its model only where peers are weighed by one.
    bench
        Room to work in: nothing here outlives a step.
    kept
        The memory of all but the bench, word by word: what to put away to go on from later.

    Examples
    --------
    >>> Desk.blank(longest_row=20, n_classes=2).row.means.shape
    (32,)
    >>> Desk.blank(longest_row=20, n_classes=2, by_model=False).kept.nbytes
    3008
    """

    row: Row
    tally: Tally
    mark: Mark
    model: Model
    bench: Bench
    kept: NDArray[np.int64]

    @staticmethod
    def blank(longest_row: int, n_classes: int, by_model: bool = True) -> Desk:
        """Return a desk with room for rows of that length."""
        n = padded(longest_row)
        row, model, bench = Row.blank(n), Model.blank(), Bench.blank(n)
        tally = [[0] * n, [False] * n, [0] * n_classes, [False] * n]
        mark = [[0] * 8, [0.0] * 2]
        parts = [np.array(part) for part in (*row, *tally, *mark, *model, *bench)]
        memory, places = _side_by_side(parts)
        n_kept = len(row) + len(tally) + len(mark) + (len(model) if by_model else 0)
        n_words = sum(map(_room, parts[:n_kept])) // 8
        rest = iter(places)
        return Desk(
            Row(*(next(rest) for _ in row)),
            Tally(*(next(rest) for _ in tally)),
            Mark(*(next(rest) for _ in mark)),
            Model(*(next(rest) for _ in model)),
            Bench(*(next(rest) for _ in bench)),
            memory[:n_words],
        )


def _room(part: NDArray[Any]) -> int:
    """Return the bytes that a part takes: whole lines."""
    return -(-part.nbytes // _LINE) * _LINE


def _side_by_side(parts: list[NDArray[Any]]) -> tuple[NDArray[np.int64], list[NDArray[Any]]]:
    """Return one piece of memory, and in it copies, always at the same distances from each other.

    Compiled loops ask whether their arrays could overlap, and sum in another order if they could;
    the answer, and so the last bit of a sum, must not depend on where memory happened to be free.
    """
    size = sum(map(_room, parts))
    raw = np.zeros(size + _LINE, np.uint8)
    start = -raw.ctypes.data % _LINE
    memory = raw[start : start + size]
    copies, place = [], 0
    for part in parts:
        copy = memory[place : place + part.nbytes].view(part.dtype).reshape(part.shape)
        copy[...] = part
        copies.append(copy)
        place += _room(part)
    return memory.view(np.int64), copies


@compiled
def padded(n: int) -> int:
    """Return the number of entries that whole vectors of them take.

    Examples
    --------
    >>> padded(17)
    32
    """
    return -(-n // _VECTOR) * _VECTOR


@compiled
def _clear(choice: Choice, l: int, known: bool, row: Row) -> None:
    """Make an entry that of a peer never heard of; `known` says whether its class is known so."""
    remember(row, l, View(0.0, 0.0, np.inf, 0.0, np.inf, np.inf, 0.0, 0.0, 0.0))
    row.member[l] = known or choice.class_test != ClassTest.KNOWN
    row.shown[l] = choice.within == math.inf or choice.class_test == ClassTest.KNOWN


@compiled
def enrol(
    choice: Choice,
    a: int,
    n_agents: int,
    fleet: Fleet,
    labels: NDArray[np.int64],
    row: Row,
    tally: Tally,
) -> tuple[int, int]:
    """Make the row that of agent a before it has heard of anybody; return (own entry, entries).

    Rows are filled up to whole vectors with peers that are never heard of, which weigh nothing.

    Examples
    --------
    >>> row, tally, *_ = Desk.blank(longest_row=3, n_classes=1)
    >>> choice, labels = Choice(1, 0, 0, 0.0, 1.0), np.zeros(3, np.int64)
    >>> enrol(choice, 2, 3, Fleet.of_all(3), labels, row, tally), tally.known[:3].tolist()
    ((2, 3), [0, 1, 2])
    """
    n, own, first = n_agents, a, 0
    everyone = fleet.starts.size == 0
    if not everyone:
        first = fleet.starts[a]
        n = fleet.starts[a + 1] - first
    for l in range(n):
        tally.known[l] = l if everyone else fleet.names[first + l]
        own = l if tally.known[l] == a else own
    for l in range(len(row.means)):
        _clear(choice, l, l < n and labels[tally.known[l]] == labels[a], row)
        tally.counted[l] = False
    row.shown[own] = True
    tally.members_of[:] = 0
    return own, n


@compiled
def put_away(
    a: int,
    own: int,
    n: int,
    turn: Turn,
    revisit: int,
    n_changed: int,
    n_uncounted: int,
    desk: Desk,
    states: NDArray[np.int64],
) -> None:
    """Keep all that agent a knows in states[agent], to `take_up` in the next block of time.

    Examples
    --------
    >>> desk = Desk.blank(longest_row=3, n_classes=1)
    >>> states = np.empty((1, desk.kept.size), np.int64)
    >>> put_away(0, 2, 3, Turn(1, -1, 9), 0, 1, 0, desk, states)
    >>> desk.mark.places[:] = 0
    >>> take_up(0, desk, states)[:3]
    (2, 3, Turn(cursor=1, visited=-1, n_asked=9))
    """
    places = desk.mark.places
    places[0], places[1], places[2], places[3] = own, n, turn.cursor, turn.visited
    places[4], places[5], places[6], places[7] = turn.n_asked, revisit, n_changed, n_uncounted
    for i in range(desk.kept.size):
        states[a, i] = desk.kept[i]


@compiled
def take_up(a: int, desk: Desk, states: NDArray[np.int64]) -> tuple[int, int, Turn, int, int, int]:
    """Lay out on the desk what agent a knew; return what `put_away` was told beside it.

    Examples
    --------
    >>> desk = Desk.blank(longest_row=3, n_classes=1)
    >>> states = np.zeros((1, desk.kept.size), np.int64)
    >>> take_up(0, desk, states)[2]
    Turn(cursor=0, visited=0, n_asked=0)
    """
    for i in range(desk.kept.size):
        desk.kept[i] = states[a, i]
    places = desk.mark.places
    turn = Turn(int(places[2]), int(places[3]), int(places[4]))
    return int(places[0]), int(places[1]), turn, int(places[5]), int(places[6]), int(places[7])


@compiled
def room_for(
    choice: Choice, own: int, n: int, cursor: int, newcomer: int, row: Row, tally: Tally
) -> int:
    """Return the entry that makes room for a newcomer; -1 if none does, or it is known already.

    Examples
    --------
    >>> row, tally, *_ = Desk.blank(longest_row=3, n_classes=1)
    >>> choice, labels = Choice(1, 2, 0, 0.0, 1.0), np.zeros(9, np.int64)
    >>> own, n = enrol(choice, 0, 3, Fleet.of_all(3), labels, row, tally)
    >>> row.member[1] = False
    >>> [room_for(choice, own, n, -1, newcomer, row, tally) for newcomer in (2, 8)]
    [-1, 1]
    """
    for l in range(n):
        if tally.known[l] == newcomer:
            return -1
    return next_room(choice, own, n, cursor, row)


@compiled
def admit(
    choice: Choice,
    own: int,
    l: int,
    newcomer: int,
    labels: NDArray[np.int64],
    row: Row,
    tally: Tally,
) -> None:
    """Give entry l to a newcomer.

    Examples
    --------
    >>> row, tally, *_ = Desk.blank(longest_row=3, n_classes=1)
    >>> choice, labels = Choice(1, 2, 0, 0.0, 1.0), np.zeros(9, np.int64)
    >>> own, n = enrol(choice, 0, 3, Fleet.of_all(3), labels, row, tally)
    >>> admit(choice, own, 1, 8, labels, row, tally)
    >>> tally.known[:n].tolist()
    [0, 8, 2]
    """
    known = tally.known
    if tally.counted[l]:
        tally.counted[l] = False
        tally.members_of[labels[known[l]]] -= 1
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
    tally: Tally,
    class_counts: ClassCounts,
) -> None:
    """Write how many members of each class stand in the row; both seldom differ from last time.

    Examples
    --------
    >>> row, tally, *_ = Desk.blank(longest_row=3, n_classes=1)
    >>> choice, labels = Choice(1, 2, 0, 0.0, 1.0), np.zeros(3, np.int64)
    >>> own, n = enrol(choice, 0, 3, Fleet.of_all(3), labels, row, tally)
    >>> class_counts = np.empty((1, 1, 1), np.int16)
    >>> count_members(0, 0, n, True, labels, row, tally, class_counts)
    >>> class_counts.item()
    3
    """
    known, counted, members_of, _ = tally
    member = row.member
    if changed:
        for l in range(n):
            if member[l] != counted[l]:
                counted[l] = member[l]
                members_of[labels[known[l]]] += 1 if member[l] else -1
    for k in range(members_of.size):
        class_counts[a, slot, k] = members_of[k]


@compiled
def last_look(choice: Choice, own: int, l: int, row: Row) -> int:
    """Rule peer l out for good if old news of it does, before new news comes; return 1 if so.

    Examples
    --------
    >>> row, tally, *_ = Desk.blank(longest_row=3, n_classes=1)
    >>> choice = Choice(1, 2, 0, 0.0, 1.0)
    >>> _ = enrol(choice, 0, 3, Fleet.of_all(3), np.zeros(3, np.int64), row, tally)
    >>> last_look(choice, 0, 1, row)
    0
    """
    if choice.class_test != ClassTest.JOINT or not row.member[l]:
        return 0
    row.member[l] = belongs(choice, view(row, own), view(row, l), True)
    return 0 if row.member[l] else 1
