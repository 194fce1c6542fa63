"""A service that offers peers to agents.

Lives here: its settings, and the offers of a run, block by block.  Must not know how caches are
exchanged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colme import _check
from colme.contacts import Contacts
from colme.gossip.caches import Caches, exchange

_SPAWN_KEY = 3
"""Separates the seeds of gossip (key, run) from those of samples (run,) and of arrivals."""


@dataclass(frozen=True)
class Gossip:
    """Peer sampling: each agent is offered peers from a small cache that it keeps fresh.

    Every period each agent exchanges half of its cache, with its own name added, with the peer it
    has not heard from for longest.  Both then drop what they keep twice, the `healing` oldest,
    `swap` of the names they have given away, and others at random until the cache fits again.

    Parameters
    ----------
    every
        Steps from one exchange, and one offer, to the next.
    healing
        How many of the oldest names are dropped: with more, lost agents are forgotten sooner.
    swap
        How many of the names given away are dropped, by default all: with more, names spread more
        evenly.
    seed
        For everything that is drawn at random.

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

        Caches start with the contacts.  They hold as many names as the longest row of contacts, but
        at least eight: with fewer, a fleet soon falls into separate parts.

        Examples
        --------
        >>> Gossip().suggestions(Contacts.everyone(2), horizon=3).tolist()
        [[1, 0], [1, 0], [1, 0]]
        """
        return Offers(self, contacts, run).take(_check.positive_int("horizon", horizon))

    def offers(self, contacts: Contacts, run: int = 0) -> Offers:
        """Return the peers offered in one run, to be taken block by block.

        Examples
        --------
        >>> offers = Gossip(every=2).offers(Contacts.everyone(2))
        >>> offers.take(1).tolist(), offers.take(2).tolist()
        ([[1, 0]], [[-1, -1], [1, 0]])
        """
        return Offers(self, contacts, run)


class Offers:
    """The peers offered to agents in one run, taken block by block.

    Examples
    --------
    >>> Offers(Gossip(), Contacts.everyone(2)).take(2).shape
    (2, 2)
    """

    def __init__(self, gossip: Gossip, contacts: Contacts, run: int = 0) -> None:
        seeds = np.random.SeedSequence(gossip.seed, spawn_key=(_SPAWN_KEY, run))
        self._state = seeds.generate_state(4).astype(np.int64) | 1
        self._gossip, self._caches = gossip, Caches.of(contacts)
        self._time = 0

    def take(self, n_steps: int) -> NDArray[np.int32]:
        """Return the peer offered to each agent at each of the next steps, [time, agent]; -1: none.

        The numbers do not depend on the blocks.
        """
        every, caches = self._gossip.every, self._caches
        shape = _check.positive_int("n_steps", n_steps), caches.sizes.size
        offers = np.full(shape, -1, np.int32)
        at_periods = offers[-self._time % every :: every]
        periods = np.empty(at_periods.shape, np.int32)
        swap = caches.names.shape[1] if self._gossip.swap is None else self._gossip.swap
        exchange(caches, self._state, self._gossip.healing, swap, periods)
        at_periods[:] = periods
        self._time += n_steps
        return offers
