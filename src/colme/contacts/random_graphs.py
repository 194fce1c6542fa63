"""Graphs drawn at random, in time proportional to their size.

Lives here: regular and binomial graphs, trees, and rows of others.  Must not know how contacts are
kept.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Pairs = tuple[Ints, Ints]
"""The two ends of each edge."""

_MOST_SWITCHES = 1000
"""After this many switches in vain, a graph is drawn anew."""


def draw_others(rng: np.random.Generator, n: int, k: int) -> NDArray[np.integer]:
    """Return k others for each of n agents, [agent, k]; every choice of k is equally likely.

    Examples
    --------
    >>> others = draw_others(np.random.default_rng(0), n=5, k=4)
    >>> [sorted(row) for row in others.tolist()][:2]
    [[1, 2, 3, 4], [0, 2, 3, 4]]

    Notes
    -----
    Names that come twice are drawn again, which treats all names alike.  If k is more than half of
    them, the names left out are drawn instead.
    """
    chosen: NDArray[np.integer]
    if k <= (n - 1) // 2:
        chosen = _distinct_rows(rng, n, k, n - 1)
    else:
        left = np.ones((n, n - 1), np.bool_)
        np.put_along_axis(left, _distinct_rows(rng, n, n - 1 - k, n - 1), False, axis=1)
        chosen = np.nonzero(left)[1].reshape(n, k)
    chosen += chosen >= np.arange(n)[:, np.newaxis]  # skip the agent itself
    return chosen


def _distinct_rows(rng: np.random.Generator, n_rows: int, k: int, n: int) -> NDArray[np.int32]:
    """Return rows of k different numbers below n, for k up to half of n."""
    rows = rng.integers(0, max(1, n), (n_rows, k), np.int32)
    rows.sort(axis=1)
    pending = np.arange(n_rows)
    while pending.size:
        here = rows if pending.size == n_rows else rows[pending]
        again = here[:, 1:] == here[:, :-1]
        is_open = again.any(axis=1)
        pending, here, again = pending[is_open], here[is_open], again[is_open]
        here[:, 1:][again] = rng.integers(0, n, np.count_nonzero(again), np.int32)
        here.sort(axis=1)
        rows[pending] = here
    return rows


def draw_binomial(rng: np.random.Generator, n: int, p: float) -> Pairs:
    """Return the edges of a graph that has each of n (n - 1) / 2 edges with probability p.

    Examples
    --------
    >>> [ends.size for ends in draw_binomial(np.random.default_rng(0), 3, 1.0)]
    [3, 3]

    Notes
    -----
    Edge number j joins agent a = j mod n with the agent 1 + ⌊j/n⌋ further in a ring, so numbers
    below n (n - 1) / 2 name every pair once.
    """
    n_pairs = n * (n - 1) // 2
    n_edges = int(rng.binomial(n_pairs, p))
    if n_edges <= n_pairs // 2:
        numbers = _distinct(rng, n_edges, n_pairs)
    else:
        left = np.ones(n_pairs, np.bool_)
        left[_distinct(rng, n_pairs - n_edges, n_pairs)] = False
        numbers = np.flatnonzero(left)
    firsts = numbers % n
    return firsts, (firsts + 1 + numbers // n) % n


def _distinct(rng: np.random.Generator, k: int, n: int) -> Ints:
    """Return k different numbers below n in order; every choice is equally likely."""
    numbers = np.empty(0, np.int64)
    while numbers.size < k:
        numbers = np.append(numbers, rng.integers(0, n, k - numbers.size))
        numbers.sort()
        numbers = numbers[np.append(True, numbers[1:] != numbers[:-1])]
    return numbers


def draw_tree(rng: np.random.Generator, n: int, branching: int) -> Pairs:
    """Return the edges of a tree that is filled level by level, with random names.

    Examples
    --------
    >>> [ends.size for ends in draw_tree(np.random.default_rng(0), n=7, branching=2)]
    [6, 6]
    """
    names = rng.permutation(n)
    children = np.arange(1, n)
    return names[children], names[(children - 1) // min(branching, n)]


def draw_regular(rng: np.random.Generator, n: int, degree: int) -> Pairs:
    """Return the edges of a graph in which every agent has `degree` neighbours.

    Examples
    --------
    >>> ends = draw_regular(np.random.default_rng(0), n=6, degree=3)
    >>> np.bincount(np.concatenate(ends)).tolist()
    [3, 3, 3, 3, 3, 3]

    Notes
    -----
    The pairing model: every agent has `degree` half-edges, which are joined at random.  Loops and
    repeated edges, about degree²/4 of them however large the graph is, swap ends with random edges.
    Every graph is possible; if n is large, all are nearly equally likely.
    """
    if degree > (n - 1) // 2:
        return _complement(draw_regular(rng, n, n - 1 - degree), n)
    while True:
        halves = rng.permutation(np.repeat(np.arange(n, dtype=np.int32), degree))
        firsts, seconds = halves.reshape(-1, 2).T.astype(np.int64)
        if _repair(rng, firsts, seconds, n):
            return firsts, seconds


def _complement(pairs: Pairs, n: int) -> Pairs:
    """Return all pairs of different agents except these."""
    left = np.triu(np.ones((n, n), np.bool_), 1)
    left[np.minimum(*pairs), np.maximum(*pairs)] = False
    firsts, seconds = np.nonzero(left)
    return firsts, seconds


def _repair(rng: np.random.Generator, firsts: Ints, seconds: Ints, n: int) -> bool:
    """Let loops and repeated edges swap ends with others; return whether none are left."""
    keys = np.minimum(firsts, seconds) * n + np.maximum(firsts, seconds)
    edges = _EdgeCounts(keys, n)
    for i in np.append(np.flatnonzero(firsts == seconds), edges.repeated(keys)).tolist():
        for j in rng.integers(0, firsts.size, _MOST_SWITCHES).tolist():
            a, b, c, d = (int(end) for end in (firsts[i], seconds[i], firsts[j], seconds[j]))
            if edges.switch(a, b, c, d):
                seconds[i], firsts[j] = c, b
                break
        else:
            return False
    return True


class _EdgeCounts:
    """How many times each edge exists: the sorted edges of the start, and changes since then."""

    def __init__(self, keys: Ints, n: int) -> None:
        self._sorted, self._n = np.sort(keys), n
        self._changes: Counter[int] = Counter()

    def repeated(self, keys: Ints) -> Ints:
        """Return the positions of keys that stand at another position before."""
        twice = self._sorted[1:][self._sorted[1:] == self._sorted[:-1]]
        positions = np.flatnonzero(np.isin(keys, twice))
        firsts = np.unique(keys[positions], return_index=True)[1]
        return np.delete(positions, firsts)

    def switch(self, a: int, b: int, c: int, d: int) -> bool:
        """Join a with c and b with d instead of a with b and c with d, if both are new."""
        old, new = [self._key(a, b), self._key(c, d)], [self._key(a, c), self._key(b, d)]
        if a == c or b == d or new[0] == new[1] or any(self._count(key) for key in new):
            return False
        self._changes.subtract(old)
        self._changes.update(new)
        return True

    def _key(self, a: int, b: int) -> int:
        return min(a, b) * self._n + max(a, b)

    def _count(self, key: int) -> int:
        first, last = (int(np.searchsorted(self._sorted, key, side)) for side in ("left", "right"))
        return last - first + self._changes[key]
