"""Every agent's row, put away between two blocks of time.

Lives here: the work of one block, in pieces that threads can take.  Must not know samples, or which
block comes when.
"""

from __future__ import annotations

from collections.abc import Iterator
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme import kernels
from colme.algorithm import Algorithm, Weighting
from colme.bounds import Bound
from colme.contacts import Contacts
from colme.digest import Folding
from colme.rules import Choice
from colme.trajectory import count_type
from colme.views import Views

__all__ = ["Rows", "mates_of"]

_PAIRS_PER_PIECE = 25_000_000
"""(agent, peer) pairs in one piece of work, so that Ctrl-C is heard at once."""
_BYTES_PER_PIECE = 4 << 20
"""What one piece of work writes before it is folded: it should stay close to the processor."""

Labels = NDArray[np.int64]


class _Place(NamedTuple):
    """Where one thread works: a desk, and room for what comes out of a piece of work."""

    desk: kernels.Desk
    estimates: NDArray[np.float64]
    class_counts: kernels.ClassCounts

    def cut(self, n_agents: int, n_steps: int) -> tuple[NDArray[np.float64], kernels.ClassCounts]:
        """Return room for estimates[agent, step] and class_counts[agent, step, class]."""
        n, n_classes = n_agents * n_steps, self.desk.tally.members_of.size
        return (
            self.estimates[:n].reshape(n_agents, n_steps),
            self.class_counts[: n * n_classes].reshape(n_agents, n_steps, n_classes),
        )


def mates_of(labels: Labels, contacts: Contacts | None) -> NDArray[np.int64]:
    """Return how many of those that each agent knows carry its label, itself among them.

    Examples
    --------
    >>> path = Contacts.of_graph([(0, 1), (1, 2)])
    >>> mates_of(np.array([0, 0, 1]), path).tolist(), mates_of(np.array([0, 0, 1]), None).tolist()
    ([2, 2, 1], [2, 2, 1])
    """
    if contacts is None:
        return np.bincount(labels)[labels]
    same = labels[contacts.names] == np.repeat(labels, np.diff(contacts.starts))
    return np.add.reduceat(same, contacts.starts[:-1], dtype=np.int64)


class Rows:
    """What every agent knows, from block to block.

    Parameters
    ----------
    algorithm, bound
        How agents decide; the bound is the same for all.
    labels
        The true class of each agent.
    contacts
        Who knows whom; None: everybody knows everybody.
    block
        How many steps the longest block has.
    keeps
        Whether there is more than one block, so that rows have to be kept.
    n_places
        How many threads work at once.

    Examples
    --------
    >>> from colme.algorithm import resolve
    >>> from colme.bounds import Laplace
    >>> bound, labels = Laplace(0.5, 0.01), np.zeros(3, np.int64)
    >>> rows = Rows(resolve("local"), bound, labels, None, block=2, keeps=False, n_places=1)
    >>> folding = Folding(np.zeros(3), horizon=2, epsilons=(0.5,))
    >>> folding.open(0, 2)
    >>> views = Views(*np.ones((8, 3, 2)))
    >>> for first, last in rows.pieces():
    ...     rows.run(first, last, views, folding, None, begins=True)
    >>> folding.close()
    >>> folding.estimates.tolist()
    [1.0, 1.0, 1.0]
    """

    def __init__(
        self,
        algorithm: Algorithm,
        bound: Bound,
        labels: Labels,
        contacts: Contacts | None,
        *,
        block: int,
        keeps: bool,
        n_places: int,
    ) -> None:
        self._choice = Choice.of(algorithm, bound.gamma)
        self._by_model = algorithm.weighting == Weighting.MODEL
        self._labels, self._mates = labels, mates_of(labels, contacts)
        self._n_classes = int(labels.max()) + 1
        self._longest = labels.size if contacts is None else contacts.size
        self._fleet = _fleet(labels.size, bound, contacts)
        self._agents_per_piece = self._share(block, n_places)
        self._places: SimpleQueue[_Place] = SimpleQueue()
        most = self._agents_per_piece * block
        for _ in range(n_places):
            desk = kernels.Desk.blank(self._longest, self._n_classes, self._by_model)
            counts = np.empty(most * self._n_classes, count_type(self._longest))
            self._places.put(_Place(desk, np.empty(most), counts))
        self._states = np.empty((labels.size if keeps else 0, desk.kept.size), np.int64)

    def _share(self, block: int, n_places: int) -> int:
        """Return how many agents run at once: enough work for every thread, and little to write."""
        written = block * (8 + 4 * self._n_classes)
        fitting = min(_PAIRS_PER_PIECE // (block * self._longest), _BYTES_PER_PIECE // written)
        return max(1, min(fitting, -(-self._labels.size // n_places)))

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Yield the first agent of each piece of work, and the one after its last."""
        n_agents, each = self._labels.size, self._agents_per_piece
        for first in range(0, n_agents, each):
            yield first, min(first + each, n_agents)

    def run(
        self,
        first: int,
        last: int,
        views: Views,
        folding: Folding,
        suggestions: NDArray[np.int32] | None,
        *,
        begins: bool,
    ) -> None:
        """Let a piece of the agents run over a block of time, and fold what comes out.

        `suggestions` are who is offered to each agent[time, agent], if there is gossip.
        """
        fleet = self._fleet
        if suggestions is not None:
            fleet = fleet._replace(suggestions=suggestions)
        n_steps, place = views.means.shape[1], self._places.get()
        try:
            estimates, class_counts = place.cut(last - first, n_steps)
            counted = class_counts if folding.is_identifiable else class_counts[:0]
            common = fleet, place.desk, self._states, begins, first, last, self._labels
            kept = np.arange(n_steps), estimates, counted
            if self._by_model:
                kernels.collaborate_by_model(views, self._choice, *common, *kept, counted[:0])
            else:
                kernels.collaborate(views, self._choice, *common, *kept)
            folding.fold(first, estimates)
            if folding.is_identifiable:
                folding.fold_classes(first, counted, self._labels, self._mates)
        finally:
            self._places.put(place)


def _fleet(n_agents: int, bound: Bound, contacts: Contacts | None) -> kernels.Fleet:
    """Return who knows whom, as the loops read it."""
    nobody = np.empty(0, np.int64)
    nobody.setflags(write=False)  # as contacts are: one type of array, one compilation
    revisits = np.empty((n_agents, 2), np.int64)
    revisits[:] = bound.revisit_in(0), bound.revisit_in(1)
    return kernels.Fleet(
        nobody if contacts is None else contacts.names,
        nobody if contacts is None else contacts.starts,
        np.empty((0, 0), np.int32),
        revisits,
        np.full(n_agents, bound.scale),
    )
