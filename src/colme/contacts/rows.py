"""Rows of names, one after the other: sorting, checking and joining them.

Lives here: what holds for all contacts, however many.  Must not know where they come from.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["check_rows", "find_roots", "frozen", "sort_rows"]

Ints = NDArray[np.int64]

_FEW = 8
"""So many numbers of a long list are shown."""


def frozen(values: ArrayLike) -> Ints:
    """Return numbers that cannot be written to; of those that can be, a copy.

    Examples
    --------
    >>> frozen([0, 1]).flags.writeable
    False
    """
    numbers = np.asarray(values, np.int64)
    if numbers.flags.writeable:
        numbers = numbers.copy()
        numbers.setflags(write=False)
    return numbers


def sort_rows(pairs: Sequence[tuple[Ints, Ints]], n: int) -> tuple[Ints, Ints]:
    """Return starts and names of rows with each owner and its peers, in order and once.

    Pairs are owners and peers.  Many millions of them may come, so that memory is used sparingly.

    Examples
    --------
    >>> [part.tolist() for part in sort_rows([(np.array([1, 1]), np.array([0, 0]))], 2)]
    [[0, 1, 3], [0, 0, 1]]
    """
    keys = np.empty(sum(owners.size for owners, _ in pairs) + n, np.int64)
    np.multiply(np.arange(n), n + 1, out=keys[:n])
    end = n
    for owners, peers in pairs:
        here = keys[end : end + owners.size]
        np.multiply(owners, n, out=here)
        here += peers
        end += owners.size
    keys.sort()
    new = np.append(True, keys[1:] != keys[:-1])
    keys = keys if new.all() else keys[new]
    starts = np.searchsorted(keys, np.arange(n + 1) * n)
    keys %= n
    keys.setflags(write=False)
    return starts, keys


def check_rows(starts: Ints, names: Ints) -> None:
    """Refuse anything but one row of increasing names for each agent, itself among them.

    Examples
    --------
    >>> check_rows(np.array([0, 1, 3]), np.array([0, 0, 1]))
    """
    n = starts.size - 1
    tidy = starts.ndim == names.ndim == 1 and n >= 1
    if not tidy or starts[0] != 0 or starts[-1] != names.size or (np.diff(starts) < 1).any():
        raise ValueError(
            "starts must rise from 0 to the number of names, one for each agent and one more; "
            f"received {_show(starts)} for {names.size} names"
        )
    outside = names[(names < 0) | (names >= n)]
    if outside.size:
        raise ValueError(f"contacts name agents 0 to {n - 1}; received {_show(outside)}")
    rising = names[1:] > names[:-1]
    rising[starts[1:-1] - 1] = True  # where another row begins
    owners = np.repeat(np.arange(n), np.diff(starts))
    # In a row that rises an agent is at most once.
    if not rising.all() or np.count_nonzero(names == owners) != n:
        raise ValueError(
            "every row must hold its agent and rise without repetitions: build it with of_lists"
        )


def find_roots(starts: Ints, names: Ints) -> Ints:
    """Return, for each agent, the smallest agent of its part.

    Examples
    --------
    >>> find_roots(np.array([0, 1, 3, 5]), np.array([0, 1, 2, 1, 2])).tolist()
    [0, 1, 1]

    Notes
    -----
    The larger root of a pair is hooked to the smaller, chains are shortened, and pairs with one
    root are dropped, until none are left.
    """
    # Most pairs are settled by a first look along whole rows.
    roots = _shorten(np.minimum.reduceat(names, starts[:-1]))
    firsts, seconds = np.repeat(roots, np.diff(starts)), roots[names]
    while True:
        apart = firsts != seconds
        firsts, seconds = firsts[apart], seconds[apart]
        if not firsts.size:
            return roots
        np.minimum.at(roots, np.maximum(firsts, seconds), np.minimum(firsts, seconds))
        roots = _shorten(roots)
        firsts, seconds = roots[firsts], roots[seconds]


def _shorten(roots: Ints) -> Ints:
    """Return the end of the chain that starts with each agent."""
    while True:
        further = roots[roots]
        if (further == roots).all():
            return roots
        roots = further


def _show(values: Ints) -> str:
    listed = values.ravel()[:_FEW].tolist()
    return str(listed) if values.size <= _FEW else f"{str(listed)[:-1]}, ...]"
