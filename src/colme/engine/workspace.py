"""Memory for one agent after another to work in, laid out the same way every time.

Lives here: what an agent carries from step to step, and how it is saved between blocks of time.
Must not know rules or weightings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled
from colme.model import Model, Scratch
from colme.rules import Past, Row, Turn
from colme.summary import View

_VECTOR = 16
"""Entries that a compiled loop over a row takes at once."""
_LINE = 64
"""Bytes that a processor fetches at once."""


class RowIndex(NamedTuple):
    """Which agents the entries of a row stand for, and how they were counted last.

    Attributes
    ----------
    known
        The agent behind each entry.
    counted
        Whether each entry was a member when members were counted last.
    members_of
        How many members carry each label.
    same
        Which entries are in the likely class.

    Examples
    --------
    >>> Workspace.blank(longest_row=3, n_classes=2).row_index.members_of.shape
    (2,)
    """

    known: NDArray[np.int64]
    counted: NDArray[np.bool_]
    members_of: NDArray[np.int64]
    same: NDArray[np.bool_]


class Bookmark(NamedTuple):
    """Where an agent is, beside its row and its model; between blocks of time kept as a record.

    Attributes
    ----------
    own, n_known
        Its own entry, and the number of entries.
    cursor, visited, n_asked
        Where it is in its round of queries, see `colme.rules.Turn`.
    revisit
        Every `revisit`-th query goes to an excluded peer; 0: none.
    n_changed, n_uncounted
        Changes of its class that are not summed up yet, or not counted yet.
    weights, total
        Σ weights and Σ weights · means of its peers, where these are kept up to date.

    Examples
    --------
    >>> Workspace.blank(longest_row=3, n_classes=2).bookmark.n_known
    np.int64(0)
    """

    own: int = 0
    n_known: int = 0
    cursor: int = -1
    visited: int = -1
    n_asked: int = 0
    revisit: int = 0
    n_changed: int = 0
    n_uncounted: int = 0
    weights: float = 0.0
    total: float = 0.0


class Workspace(NamedTuple):
    """Memory for one agent after another: a loop takes none of its own.

    Attributes
    ----------
    row, row_index, past, bookmark, model
        What an agent knows; its model only where peers are weighed by one.
    scratch
        Scratch memory: nothing here outlives a step.
    kept
        The memory of all but the scratch memory, word by word: what to save to go on later.

    Examples
    --------
    >>> Workspace.blank(longest_row=20, n_classes=2).row.views.mean.shape
    (32,)
    >>> Workspace.blank(longest_row=20, n_classes=2, by_model=False).kept.nbytes
    3904
    """

    row: Row
    row_index: RowIndex
    past: Past
    bookmark: Any
    model: Model
    scratch: Scratch
    kept: NDArray[np.int64]

    @staticmethod
    def blank(
        longest_row: int, n_classes: int, by_model: bool = True, past_length: int = 1
    ) -> Workspace:
        """Return a workspace for rows of that length."""
        made: Any = Workspace.of_all(1, longest_row, n_classes, by_model, past_length)
        first = [part[0] for part in made.row[1:]]
        return Workspace(
            Row(View(*(column[0] for column in made.row.views)), *first),
            RowIndex(*(part[0] for part in made.row_index)),
            Past(*(part[0] for part in made.past)),
            made.bookmark[0],
            Model(*(part[0] for part in made.model)),
            made.scratch,
            made.kept,
        )

    @staticmethod
    def of_all(
        n_agents: int, longest_row: int, n_classes: int, by_model: bool = True, past_length: int = 1
    ) -> Workspace:
        """Return a workspace for agents that run together: arrays that begin with the agent.

        The scratch memory is for one of them at a time.
        """
        n = padded(longest_row)
        row, model, scratch = Row.blank(n), Model.blank(), Scratch.blank(n)
        index = RowIndex(*map(np.array, ([0] * n, [False] * n, [0] * n_classes, [False] * n)))
        past = Past.blank(past_length)
        lists = [*row.views, *row[1:], *index, *past]
        parts = [*map(np.array, lists), _record(Bookmark()._asdict())]
        n_kept = len(parts) + (len(model) if by_model else 0)
        parts += [_record(asdict(model.fit)), *map(np.array, model[1:])]
        parts = [
            np.broadcast_to(part, (n_agents if i < n_kept else 1, *part.shape))
            for i, part in enumerate(parts)
        ]
        memory, copies = _side_by_side([*parts, *map(np.array, scratch)])
        rest: Iterator[Any] = iter(copies)
        return Workspace(
            Row(View(*(next(rest) for _ in View._fields)), *(next(rest) for _ in row[1:])),
            RowIndex(*(next(rest) for _ in index)),
            Past(*(next(rest) for _ in past)),
            next(rest),
            Model(*(next(rest) for _ in model)),
            Scratch(*rest),
            memory[: sum(map(_whole_lines, parts[:n_kept])) // 8],
        )


def _record(values: dict[str, Any]) -> NDArray[Any]:
    """Return an array without axes of one record with these values."""
    fields = [(name, np.array(value).dtype) for name, value in values.items()]
    return np.array(tuple(values.values()), np.dtype((np.record, fields)))


def _whole_lines(part: NDArray[Any]) -> int:
    """Return the bytes that a part takes: whole lines."""
    return -(-part.nbytes // _LINE) * _LINE


def _side_by_side(parts: list[NDArray[Any]]) -> tuple[NDArray[np.int64], list[NDArray[Any]]]:
    """Return one piece of memory, and in it copies, always at the same distances from each other.

    Compiled loops ask whether their arrays could overlap, and sum in another order if they could;
    the answer, and so the last bit of a sum, must not depend on where memory happened to be free.
    """
    size = sum(map(_whole_lines, parts))
    raw = np.zeros(size + _LINE, np.uint8)
    start = -raw.ctypes.data % _LINE
    memory = raw[start : start + size]
    copies, place = [], 0
    for part in parts:
        copy = memory[place : place + part.nbytes].view(part.dtype).reshape(part.shape)
        copy[...] = part
        copies.append(copy)
        place += _whole_lines(part)
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
def write_bookmark(record: Any, mark: Bookmark) -> None:
    """Write a bookmark into the record that keeps one.

    Examples
    --------
    >>> record = Workspace.blank(longest_row=3, n_classes=1).bookmark
    >>> write_bookmark(record, Bookmark(own=2))
    >>> int(record.own)
    2
    """
    record.own, record.n_known, record.revisit = mark.own, mark.n_known, mark.revisit
    record.cursor, record.visited, record.n_asked = mark.cursor, mark.visited, mark.n_asked
    record.n_changed, record.n_uncounted = mark.n_changed, mark.n_uncounted
    record.weights, record.total = mark.weights, mark.total


@compiled
def save_state(
    a: int,
    own: int,
    n: int,
    turn: Turn,
    revisit: int,
    left: tuple[int, int],
    sums: tuple[float, float],
    workspace: Workspace,
    states: NDArray[np.int64],
) -> None:
    """Keep all that agent a knows in states[agent], for `load_state` in the next block of time.

    `left` are changes that are not summed up yet, and not counted yet.

    Examples
    --------
    >>> workspace = Workspace.blank(longest_row=3, n_classes=1)
    >>> states = np.empty((1, workspace.kept.size), np.int64)
    >>> save_state(0, 2, 3, Turn(n_asked=9), 0, (1, 0), (0.0, 0.0), workspace, states)
    >>> load_state(0, workspace, states).n_asked
    9
    """
    n_changed, n_uncounted = left
    weights, total = sums
    now = Bookmark(
        own,
        n,
        turn.cursor,
        turn.visited,
        turn.n_asked,
        revisit,
        n_changed,
        n_uncounted,
        weights,
        total,
    )
    write_bookmark(workspace.bookmark, now)
    for i in range(workspace.kept.size):
        states[a, i] = workspace.kept[i]


@compiled
def load_state(a: int, workspace: Workspace, states: NDArray[np.int64]) -> Bookmark:
    """Write what agent a knew into the workspace; return where it was.

    Examples
    --------
    >>> workspace = Workspace.blank(longest_row=3, n_classes=1)
    >>> load_state(0, workspace, workspace.kept[np.newaxis]).own
    0
    """
    for i in range(workspace.kept.size):
        workspace.kept[i] = states[a, i]
    kept = workspace.bookmark
    return Bookmark(
        int(kept.own),
        int(kept.n_known),
        int(kept.cursor),
        int(kept.visited),
        int(kept.n_asked),
        int(kept.revisit),
        int(kept.n_changed),
        int(kept.n_uncounted),
        float(kept.weights),
        float(kept.total),
    )
