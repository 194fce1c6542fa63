"""Everything an experiment happens in, built and drawn once.

Lives here: the problem, arrivals, contacts and gossip of an experiment, and what they mean for its
summary.  Must not know files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme.contacts import Contacts
from colme.digest import Digest, usual_times
from colme.experiment.summary import summarise, summarise_digest
from colme.gossip import Gossip
from colme.large.rows import mates_of
from colme.problem import Problem
from colme.trajectory import Trajectory

__all__ = ["World"]


@dataclass(frozen=True, eq=False)
class World:
    """A problem, how its samples arrive, who knows whom and who hears of whom.

    Parameters
    ----------
    problem
        Who is of which class, and what changes.
    arrivals
        How many samples arrive, int[run or 1, time, agent]; None: one at each step.
    contacts
        Who knows whom; None: everybody knows everybody.
    gossip
        How agents hear of others; None: they do not.

    Examples
    --------
    >>> world = World(Problem.bernoulli([0.2, 0.8], n_agents=4))
    >>> world.samples_per_step, world.is_identifiable
    (1.0, True)
    """

    problem: Problem
    arrivals: NDArray[np.int32] | None = None
    contacts: Contacts | None = None
    gossip: Gossip | None = None

    @property
    def labels(self) -> NDArray[np.int64]:
        """Who shares a mean with whom at all times: the classes, split by changes."""
        return self.problem.cohorts

    @property
    def samples_per_step(self) -> float:
        """How many samples an agent receives in a step, on average over all."""
        return 1.0 if self.arrivals is None else float(self.arrivals.mean())

    @property
    def is_identifiable(self) -> bool:
        """Whether the true class of an agent, among those it knows, is the same throughout."""
        return self.gossip is None and not self.problem.changes

    def true_counts(self) -> NDArray[np.int64] | None:
        """Return how many of each class stand in the true class of each agent, [agent, class].

        The true class are those of its contacts that carry its label; None: all that do.

        Examples
        --------
        >>> problem = Problem.bernoulli([0.2, 0.8], class_sizes=[2, 1])
        >>> World(problem, contacts=Contacts.of_graph([(0, 1), (1, 2)])).true_counts().tolist()
        [[2, 0], [2, 0], [0, 1]]
        """
        if self.contacts is None:
            return None
        labels, mates = self.labels, mates_of(self.labels, self.contacts)
        return np.where(np.arange(labels.max() + 1) == labels[:, None], mates[:, None], 0)

    def times_to_look(self, horizon: int) -> NDArray[np.int64]:
        """Return the steps at which a digest looks at errors: evenly, and before each change.

        Examples
        --------
        >>> World(Problem.bernoulli([0.5], n_agents=2)).times_to_look(3).tolist()
        [1, 2, 3]
        """
        before = [change.time - 1 for change in self.problem.changes if change.time > 1]
        return np.union1d(usual_times(horizon), np.array(before, np.int64))

    def summarise(
        self, trajectory: Trajectory | Digest, epsilons: tuple[float, ...]
    ) -> dict[str, Any]:
        """Return the summary of what an algorithm did in this world.

        Examples
        --------
        >>> from colme import simulate
        >>> world = World(Problem.bernoulli([0.5], n_agents=2))
        >>> trajectory = simulate(world.problem.draw(9), "local", sigma=0.5)
        >>> list(world.summarise(trajectory, (0.1,)))
        ['algorithm', 'identification_time', 'convergence_time', 'final_error']
        """
        changes = tuple(sorted({change.time for change in self.problem.changes}))
        if isinstance(trajectory, Digest):
            return summarise_digest(
                trajectory, changes=changes, samples_per_step=self.samples_per_step
            )
        moving = self.problem.true_means_at(trajectory.times) if changes else None
        return summarise(
            trajectory,
            self.problem.true_means if moving is None else moving,
            epsilons,
            identifiable=self.is_identifiable,
            true_counts=self.true_counts(),
            changes=changes,
            samples_per_step=self.samples_per_step,
        )
