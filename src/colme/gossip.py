"""A service that offers agents peers, of which each keeps only a few.

Lives here: caches of names that agents exchange with each other.  Must not know means, samples or
algorithms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme import _check
from colme._compile import compiled, kernel
from colme.contacts import Contacts

__all__ = ["SMALLEST_CACHE", "Caches", "Gossip", "Offers", "below", "exchange", "start"]

Ints = NDArray[np.int64]

_SPAWN_KEY = 3
"""Tells the seeds of gossip (key, run) from those of samples (run,) and of arrivals."""
SMALLEST_CACHE = 8
"""With fewer names, a fleet soon falls into parts that never hear of each other again."""
_MASK = 0xFFFFFFFF


class _Desk(NamedTuple):
    """Where caches are merged: two letters [2, entry], a table [entry], where each agent is."""

    letters: Ints
    letter_ages: Ints
    names: Ints
    ages: Ints
    given: NDArray[np.bool_]
    place: Ints


class Caches(NamedTuple):
    """What every agent keeps: names, and for how many periods they have been under way.

    Attributes
    ----------
    names
        [agent, slot]
    ages
        [agent, slot]
    sizes
        How many slots of each agent are in use, [agent].
    desk
        Where they are merged.

    Examples
    --------
    >>> start(Contacts.of_graph([(0, 1), (1, 2)])).names[1, :2].tolist()
    [0, 2]
    """

    names: Ints
    ages: Ints
    sizes: Ints
    desk: _Desk


@dataclass(frozen=True)
class Gossip:
    """Peer sampling: each agent is offered peers from a small cache that it keeps fresh.

    Every period each agent exchanges half of its cache, its own name added, with the peer it has
    not heard from for longest.  Both then drop what they keep twice, the `healing` oldest, `swap`
    of the names they have given away, and others at random until the cache fits again.

    Parameters
    ----------
    every
        Steps from one exchange, and one offer, to the next.
    healing
        How many of the oldest names are dropped: more of them forgets lost agents sooner.
    swap
        How many of the names given away are dropped, by default all: more of them spreads names
        more evenly.
    seed
        For all that is drawn at random.

    Notes
    -----
    The protocol is from M. Jelasity, S. Voulgaris, R. Guerraoui, A.-M. Kermarrec, M. van Steen,
    *Gossip-based peer sampling*, ACM Transactions on Computer Systems, 2007.

    Examples
    --------
    >>> ring = Contacts.of_graph([(a, (a + 1) % 9) for a in range(9)])
    >>> offers = Gossip(every=2).suggestions(ring, horizon=5)
    >>> offers.shape, (offers[::2] >= 0).all().item(), (offers[1::2] == -1).all().item()
    ((5, 9), True, True)
    """

    every: int = 1
    healing: int = 0
    swap: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        _check.positive_int("every", self.every)
        _check.non_negative_int("healing", self.healing)
        _check.non_negative_int("swap", self.swap or 0)
        _check.non_negative_int("seed", self.seed)

    def suggestions(self, contacts: Contacts, horizon: int, run: int = 0) -> NDArray[np.int32]:
        """Return the peer offered to each agent at each step, [time, agent]; -1: none.

        Caches start as the contacts, and hold as many names as the longest row of these, but at
        least eight: with fewer, a fleet soon falls into parts.

        Examples
        --------
        >>> Gossip().suggestions(Contacts.everyone(2), horizon=3).tolist()
        [[1, 0], [1, 0], [1, 0]]
        """
        return self.offers(contacts, run).take(_check.positive_int("horizon", horizon))

    def offers(self, contacts: Contacts, run: int = 0) -> Offers:
        """Return the peers offered in one run, to be taken block by block.

        Examples
        --------
        >>> offers = Gossip(every=2).offers(Contacts.everyone(2))
        >>> offers.take(1).tolist(), offers.take(2).tolist()
        ([[1, 0]], [[-1, -1], [1, 0]])
        """
        return Offers(self, contacts, self._state(run))

    def _state(self, run: int) -> Ints:
        seeds = np.random.SeedSequence(self.seed, spawn_key=(_SPAWN_KEY, run))
        return seeds.generate_state(4).astype(np.int64) | 1


class Offers:
    """The peers offered to agents in one run, taken block by block.

    Examples
    --------
    >>> Gossip().offers(Contacts.everyone(2)).take(2).shape
    (2, 2)
    """

    def __init__(self, gossip: Gossip, contacts: Contacts, state: Ints) -> None:
        self._gossip, self._state = gossip, state
        self._caches = start(contacts)
        self._time = 0

    def take(self, n_steps: int) -> NDArray[np.int32]:
        """Return who is offered to each agent at each of the next steps, [time, agent]; -1: none.

        The numbers do not depend on the blocks.
        """
        every, caches = self._gossip.every, self._caches
        shape = _check.positive_int("n_steps", n_steps), caches.sizes.size
        offers = np.full(shape, -1, np.int32)
        here = offers[-self._time % every :: every]
        periods = np.empty(here.shape, np.int32)
        swap = caches.names.shape[1] if self._gossip.swap is None else self._gossip.swap
        exchange(caches, self._state, self._gossip.healing, swap, periods)
        here[:] = periods
        self._time += n_steps
        return offers


def start(contacts: Contacts) -> Caches:
    """Return caches that hold the contacts of each agent, without the agent itself.

    Examples
    --------
    >>> start(Contacts.everyone(4)).sizes.tolist()
    [3, 3, 3, 3]
    """
    shape = contacts.n_agents, max(contacts.size, SMALLEST_CACHE)
    sizes = np.diff(contacts.starts) - 1
    caches = Caches(np.full(shape, -1), np.zeros(shape, np.int64), sizes, _blank_desk(*shape))
    owners = np.repeat(np.arange(contacts.n_agents), sizes)
    others = contacts.names[contacts.names != np.repeat(np.arange(contacts.n_agents), sizes + 1)]
    places = np.arange(others.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    caches.names[owners, places] = others
    return caches


def _blank_desk(n_agents: int, capacity: int) -> _Desk:
    letters = np.empty((2, 2, capacity + 1), np.int64)
    table = np.empty((2, 2 * capacity + 1), np.int64)
    given, place = np.empty(2 * capacity + 1, np.bool_), np.full(n_agents, -1)
    return _Desk(letters[0], letters[1], table[0], table[1], given, place)


@compiled
def below(state: Ints, n: int) -> int:
    """Return a random whole number from 0 to n - 1, and move the state of four 32-bit numbers on.

    Notes
    -----
    An exclusive-or shift generator, of period 2¹²⁸ - 1: only shifts of numbers below 2³², which are
    the same in Python, in arrays and compiled.

    Examples
    --------
    >>> state = np.array([123456789, 362436069, 521288629, 88675123])
    >>> [int(below(state, 1000)) for _ in range(3)]
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
    >>> caches = start(Contacts.of_lists([[1], [2], [0]]))
    >>> offers = np.empty((1, 3), np.int32)
    >>> exchange(caches, np.array([1, 2, 3, 4]), 0, 1, offers)
    >>> caches.sizes.tolist()
    [2, 2, 2]
    """
    n_agents, desk = caches.sizes.size, caches.desk
    for period in range(offers.shape[0]):
        for a in range(n_agents):
            if caches.sizes[a] > 0:
                b = caches.names[a, _oldest(caches.ages[a], caches.sizes[a])]
                from_a = _write(caches, desk, state, a, 0, healing)
                from_b = _write(caches, desk, state, b, 1, healing)
                _merge(caches, desk, state, a, from_a - 1, 1, from_b, healing, swap)
                _merge(caches, desk, state, b, from_b - 1, 0, from_a, healing, swap)
        for a in range(n_agents):
            size = caches.sizes[a]
            offers[period, a] = caches.names[a, below(state, size)] if size > 0 else -1
            for i in range(size):
                caches.ages[a, i] += 1


@compiled
def _oldest(ages: Ints, size: int) -> int:
    best, most = 0, ages[0]
    for i in range(1, size):
        if ages[i] > most:
            best, most = i, ages[i]
    return best


@compiled
def _swap(names: Ints, ages: Ints, i: int, j: int) -> None:
    names[i], names[j] = names[j], names[i]
    ages[i], ages[j] = ages[j], ages[i]


@compiled
def _write(caches: Caches, desk: _Desk, state: Ints, a: int, letter: int, healing: int) -> int:
    """Write a letter: the agent's own name and some of its cache, moved to the head of this.

    The oldest names go to the tail first, where they are given away only if nothing else is left.
    """
    names, ages, size = caches.names[a], caches.ages[a], int(caches.sizes[a])
    n_given: int = min(size, max(1, names.size // 2 - 1))
    young = max(size - healing, n_given)
    for last in range(size - 1, young - 1, -1):
        _swap(names, ages, _oldest(ages, last + 1), last)
    desk.letters[letter, 0], desk.letter_ages[letter, 0] = a, 0
    for i in range(n_given):
        _swap(names, ages, i, i + below(state, young - i))
        desk.letters[letter, i + 1], desk.letter_ages[letter, i + 1] = names[i], ages[i]
    return n_given + 1


@compiled
def _merge(
    caches: Caches,
    desk: _Desk,
    state: Ints,
    a: int,
    n_given: int,
    letter: int,
    length: int,
    healing: int,
    swap: int,
) -> None:
    """Merge a letter into the cache of agent a, whose first `n_given` names were given away."""
    size = _lay_out(caches, desk, a, n_given, letter, length)
    excess = size - caches.names.shape[1]
    for _ in range(min(healing, excess)):
        size = _drop(desk, _oldest(desk.ages, size), size)
    excess = min(swap, size - caches.names.shape[1])
    i = 0
    while i < size and excess > 0:
        if desk.given[i]:
            size = _drop(desk, i, size)
            excess -= 1
        else:
            i += 1
    while size > caches.names.shape[1]:
        size = _drop(desk, below(state, size), size)
    caches.sizes[a] = size
    for i in range(size):
        caches.names[a, i], caches.ages[a, i] = desk.names[i], desk.ages[i]


@compiled
def _lay_out(caches: Caches, desk: _Desk, a: int, n_given: int, letter: int, length: int) -> int:
    """Put cache and letter on the table, each name once, as young as it is known; count them."""
    size = int(caches.sizes[a])
    for i in range(size):
        name = caches.names[a, i]
        desk.names[i], desk.ages[i], desk.given[i] = name, caches.ages[a, i], i < n_given
        desk.place[name] = i
    for i in range(length):
        name, age = desk.letters[letter, i], desk.letter_ages[letter, i]
        place = desk.place[name]
        if place < 0 and name != a:
            desk.names[size], desk.ages[size], desk.given[size] = name, age, False
            desk.place[name] = size
            size += 1
        elif place >= 0 and age < desk.ages[place]:
            desk.ages[place], desk.given[place] = age, False
    for i in range(size):
        desk.place[desk.names[i]] = -1
    return size


@compiled
def _drop(desk: _Desk, i: int, size: int) -> int:
    """Take entry i from the table; return how many are left."""
    last = size - 1
    desk.names[i], desk.ages[i] = desk.names[last], desk.ages[last]
    desk.given[i] = desk.given[last]
    return last
