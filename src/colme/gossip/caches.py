"""Caches of names that agents exchange with each other.

Lives here: the caches of a fleet and the compiled loop over periods and agents.  Must not know
steps, runs or seeds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled, kernel
from colme.contacts import Contacts

Ints = NDArray[np.int64]

SMALLEST_CACHE = 8
"""With fewer names, a fleet soon falls into parts that never hear of each other again."""
_MASK = 0xFFFFFFFF


class _MergeScratch(NamedTuple):
    """Where caches are merged: two messages [2, entry], a table, and where each agent is in it."""

    messages: Ints
    message_ages: Ints
    names: Ints
    ages: Ints
    is_given: NDArray[np.bool_]
    position: Ints


class Caches(NamedTuple):
    """What every agent keeps: names, and for how many periods they have been under way.

    Examples
    --------
    >>> Caches.of(Contacts.of_graph([(0, 1), (1, 2)])).names[1, :2].tolist()
    [0, 2]

    Attributes
    ----------
    names, ages
        int64[agent, slot]
    sizes
        int64[agent]: how many slots of each agent are in use.
    scratch
        Where they are merged.
    """

    names: Ints
    ages: Ints
    sizes: Ints
    scratch: _MergeScratch

    @classmethod
    def of(cls, contacts: Contacts) -> Caches:
        """Return caches that hold the contacts of each agent, without the agent itself."""
        n_agents, capacity = contacts.n_agents, max(contacts.size, SMALLEST_CACHE)
        sizes = np.diff(contacts.starts) - 1
        names = np.full((n_agents, capacity), -1)
        own = np.repeat(np.arange(n_agents), sizes + 1)
        # Row by row, as the contacts: each row fills the first slots of its agent.
        names[np.arange(capacity) < sizes[:, np.newaxis]] = contacts.names[contacts.names != own]
        messages = np.empty((2, 2, capacity + 1), np.int64)
        table = np.empty((2, 2 * capacity + 1), np.int64)
        is_given, position = np.empty(2 * capacity + 1, np.bool_), np.full(n_agents, -1)
        scratch = _MergeScratch(messages[0], messages[1], table[0], table[1], is_given, position)
        return cls(names, np.zeros_like(names), sizes, scratch)


@compiled
def random_below(state: Ints, n: int) -> int:
    """Return a random whole number from 0 to n - 1, and move the state of four 32-bit numbers on.

    Notes
    -----
    An exclusive-or shift generator, of period 2¹²⁸ - 1: only shifts of numbers below 2³², which are
    the same in Python, in arrays and compiled.

    Examples
    --------
    >>> state = np.array([123456789, 362436069, 521288629, 88675123])
    >>> [int(random_below(state, 1000)) for _ in range(3)]
    [861, 106, 582]
    """
    t = state[0] ^ ((state[0] << 11) & _MASK)
    w = state[3]
    state[0], state[1], state[2] = state[1], state[2], w
    state[3] = (w ^ (w >> 19)) ^ (t ^ (t >> 8))
    return int((state[3] * n) >> 32)


@kernel
def exchange(
    caches: Caches, state: Ints, healing: int, swap: int, offers: NDArray[np.int32]
) -> None:
    """Run one period after the other; write the peer offered to each agent, [period, agent].

    Examples
    --------
    >>> caches = Caches.of(Contacts.of_lists([[1], [2], [0]]))
    >>> exchange(caches, np.array([1, 2, 3, 4]), 0, 1, np.empty((1, 3), np.int32))
    >>> caches.sizes.tolist()
    [2, 2, 2]
    """
    n_agents = caches.sizes.size
    for period in range(offers.shape[0]):
        for a in range(n_agents):
            if caches.sizes[a] > 0:
                b = caches.names[a, _oldest(caches.ages[a], caches.sizes[a])]
                from_a = _write_message(caches, state, a, 0, healing)
                from_b = _write_message(caches, state, b, 1, healing)
                _merge(caches, state, a, from_a - 1, 1, from_b, healing, swap)
                _merge(caches, state, b, from_b - 1, 0, from_a, healing, swap)
        for a in range(n_agents):
            size = caches.sizes[a]
            offers[period, a] = caches.names[a, random_below(state, size)] if size > 0 else -1
            for i in range(size):
                caches.ages[a, i] += 1


@compiled
def _oldest(ages: Ints, size: int) -> int:
    return int(np.argmax(ages[:size]))


@compiled
def _swap(names: Ints, ages: Ints, i: int, j: int) -> None:
    names[i], names[j] = names[j], names[i]
    ages[i], ages[j] = ages[j], ages[i]


@compiled
def _write_message(caches: Caches, state: Ints, a: int, message: int, healing: int) -> int:
    """Write the agent's own name and some of its cache, moved to the head of it; count them.

    The oldest names go to the tail first, where they are given away only if nothing else is left.
    """
    written, written_ages = caches.scratch.messages[message], caches.scratch.message_ages[message]
    names, ages, size = caches.names[a], caches.ages[a], int(caches.sizes[a])
    n_given: int = min(size, max(1, names.size // 2 - 1))
    young = max(size - healing, n_given)
    for last in range(size - 1, young - 1, -1):
        _swap(names, ages, _oldest(ages, last + 1), last)
    written[0], written_ages[0] = a, 0
    for i in range(n_given):
        _swap(names, ages, i, i + random_below(state, young - i))
        written[i + 1], written_ages[i + 1] = names[i], ages[i]
    return n_given + 1


@compiled
def _merge(
    caches: Caches,
    state: Ints,
    a: int,
    n_given: int,
    message: int,
    length: int,
    healing: int,
    swap: int,
) -> None:
    """Merge a message into the cache of agent a, whose first `n_given` names were given away."""
    table, capacity = caches.scratch, caches.names.shape[1]
    size = _join(caches, a, n_given, message, length)
    for _ in range(min(healing, size - capacity)):
        size = _drop(table, _oldest(table.ages, size), size)
    excess = min(swap, size - capacity)
    i = 0
    while i < size and excess > 0:
        if table.is_given[i]:
            size = _drop(table, i, size)
            excess -= 1
        else:
            i += 1
    while size > capacity:
        size = _drop(table, random_below(state, size), size)
    caches.sizes[a] = size
    for i in range(size):
        caches.names[a, i], caches.ages[a, i] = table.names[i], table.ages[i]


@compiled
def _join(caches: Caches, a: int, n_given: int, message: int, length: int) -> int:
    """Put cache and message into the table, each name once, with its lowest age; count them."""
    table, size = caches.scratch, int(caches.sizes[a])
    for i in range(size):
        name = caches.names[a, i]
        table.names[i], table.ages[i], table.is_given[i] = name, caches.ages[a, i], i < n_given
        table.position[name] = i
    for i in range(length):
        name, age = table.messages[message, i], table.message_ages[message, i]
        found = table.position[name]
        if found < 0 and name != a:
            table.names[size], table.ages[size], table.is_given[size] = name, age, False
            table.position[name] = size
            size += 1
        elif found >= 0 and age < table.ages[found]:
            table.ages[found], table.is_given[found] = age, False
    for i in range(size):
        table.position[table.names[i]] = -1
    return size


@compiled
def _drop(table: _MergeScratch, i: int, size: int) -> int:
    """Take entry i from the table; return how many are left."""
    last = size - 1
    table.names[i], table.ages[i] = table.names[last], table.ages[last]
    table.is_given[i] = table.is_given[last]
    return last
