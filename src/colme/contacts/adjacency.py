"""Rows of names, one after the other in one array: sorting, checking, and their connected parts.

Lives here: what holds for all contacts, however many.  Must not know where they come from.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]

_N_SHOWN = 8
"""How many numbers of a long list a message shows."""


def frozen(values: ArrayLike) -> Ints:
    """Return read-only numbers: a copy, unless they are read-only already.

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
    """Return starts and names of rows: each owner with its peers, in order and without repetitions.

    Pairs are owners and peers.  There may be many millions of them, so memory is used sparingly.

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
    """Raise ValueError unless each agent has a row of increasing names, itself among them.

    Examples
    --------
    >>> check_rows(np.array([0, 1, 3]), np.array([0, 0, 1]))
    """
    n = starts.size - 1
    is_flat = starts.ndim == names.ndim == 1 and n >= 1
    if not is_flat or starts[0] != 0 or starts[-1] != names.size or (np.diff(starts) < 1).any():
        raise ValueError(
            "starts must rise from 0 to the number of names, one for each agent and one more; "
            f"received {_show(starts)} for {names.size} names"
        )
    outside = names[(names < 0) | (names >= n)]
    if outside.size:
        raise ValueError(f"contacts name agents 0 to {n - 1}; received {_show(outside)}")
    rising = names[1:] > names[:-1]
    rising[starts[1:-1] - 1] = True  # another row begins there
    owners = np.repeat(np.arange(n), np.diff(starts))
    # An agent is at most once in a row that rises.
    if not rising.all() or np.count_nonzero(names == owners) != n:
        raise ValueError(
            "every row must hold its agent and rise without repetitions: build it with of_lists"
        )


def find_roots(starts: Ints, names: Ints) -> Ints:
    """Return, for each agent, the smallest agent of its connected part.

    Examples
    --------
    >>> find_roots(np.array([0, 1, 3, 5]), np.array([0, 1, 2, 1, 2])).tolist()
    [0, 1, 1]

    Notes
    -----
    The larger root of a pair is hooked to the smaller, chains are shortened, and pairs with one
    root are dropped, until none are left.
    """
    # A first look along whole rows settles most pairs.
    roots = _shorten(np.minimum.reduceat(names, starts[:-1]))
    firsts, seconds = np.repeat(roots, np.diff(starts)), roots[names]
    while (apart := firsts != seconds).any():
        firsts, seconds = firsts[apart], seconds[apart]
        np.minimum.at(roots, np.maximum(firsts, seconds), np.minimum(firsts, seconds))
        roots = _shorten(roots)
        firsts, seconds = roots[firsts], roots[seconds]
    return roots


def _shorten(roots: Ints) -> Ints:
    """Return the end of the chain that starts with each agent."""
    while ((further := roots[roots]) != roots).any():
        roots = further
    return roots


def _show(values: Ints) -> str:
    listed = values.ravel()[:_N_SHOWN].tolist()
    return str(listed) if values.size <= _N_SHOWN else f"{str(listed)[:-1]}, ...]"
