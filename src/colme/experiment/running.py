"""One algorithm of an experiment after the other: kept whole, folded block by block, or on a graph.

Lives here: which of the three simulators runs what, and how long it will take.  Must not know files
or how anything is summed up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from colme.algorithm import Weighting, resolve
from colme.bounds import Bound
from colme.contacts import Contacts
from colme.digest import Digest
from colme.experiment.bounds import bounds_of
from colme.experiment.size import Size
from colme.experiment.world import World
from colme.large import seconds_of, simulate_large
from colme.neighbours import METHODS, simulate_neighbours
from colme.problem import Problem
from colme.simulate import simulate
from colme.trajectory import Record, Trajectory

if TYPE_CHECKING:
    from colme.experiment.experiment import Experiment

__all__ = ["Running"]

Progress = Callable[[float], None]


@dataclass(frozen=True, eq=False)
class Running:
    """An experiment in its world, ready to run.

    Parameters
    ----------
    experiment, world
        What runs, and where.
    record
        What to keep of each trajectory.
    keeps
        Whether trajectories are wanted, however large.
    threads
        Number of threads; no result depends on it.

    Examples
    --------
    >>> from colme.experiment import Experiment
    >>> problem = {"class_means": [0.2, 0.8], "n_agents": 6, "sigma": 0.1}
    >>> experiment = Experiment.make({"problem": problem, "horizon": 5, "runs": 2})
    >>> running = Running(experiment, experiment.world())
    >>> running.run("local").estimates.shape
    (2, 5, 6)
    """

    experiment: Experiment
    world: World
    record: Record | None = None
    keeps: bool = False
    threads: int | None = None

    @cached_property
    def size(self) -> Size:
        """How large the experiment is."""
        return self.experiment.size(self.keeps, self.threads)

    @property
    def is_folded(self) -> bool:
        """Whether metrics are folded block by block, because nobody asked for more."""
        return self.size.is_folded

    def run(self, name: str, progress: Progress | None = None) -> Trajectory | Digest:
        """Return what became of one algorithm; all of them see the same samples."""
        if name in METHODS:
            return self._on_graph(name, progress)
        return self._folded(name, progress) if self.is_folded else self._kept(name, progress)

    @cached_property
    def _samples(self) -> NDArray[np.float64]:
        given, world = self.experiment, self.world
        return world.problem.draw(given.horizon, given.runs, given.seed, world.arrivals)

    def _kept(self, name: str, progress: Progress | None) -> Trajectory:
        world, chosen = self.world, resolve(name)
        return simulate(
            self._samples,
            name,
            **self._bounds(name),
            **self._choices(),
            labels=world.labels,
            arrivals=world.arrivals,
            contacts=world.contacts,
            gossip=world.gossip,
            record=self.record or Record(likely_counts=chosen.weighting == Weighting.MODEL),
            threads=self.threads,
            progress=progress,
        )

    def _folded(self, name: str, progress: Progress | None) -> Digest:
        given, world = self.experiment, self.world
        return simulate_large(
            world.problem,
            name,
            horizon=given.horizon,
            runs=given.runs,
            seed=given.seed,
            times=world.times_to_look(given.horizon),
            contacts=world.contacts,
            gossip=world.gossip,
            progress=progress,
            **self._folding(name),
        )

    def _folding(self, name: str) -> dict[str, Any]:
        bound: Bound | None = self._bounds(name).get("bound")
        batch = self.experiment.batch
        epsilons = self.experiment.epsilons
        more = {"bound": bound, "batch": batch, "epsilons": epsilons, "threads": self.threads}
        return more | self._choices()

    def _on_graph(self, name: str, progress: Progress | None) -> Digest:
        given, world = self.experiment, self.world
        assert world.contacts is not None, "checked when the experiment was made"
        return simulate_neighbours(
            world.problem,
            name,
            world.contacts,
            horizon=given.horizon,
            runs=given.runs,
            seed=given.seed,
            delta=given.delta,
            epsilons=given.epsilons,
            times=world.times_to_look(given.horizon),
            threads=self.threads,
            progress=progress,
        )

    def _bounds(self, name: str) -> dict[str, Any]:
        given = self.experiment
        return bounds_of(self.world.problem, resolve(name).class_test, given.bound, given.drift)

    def _choices(self) -> dict[str, Any]:
        given = self.experiment
        return {"delta": given.delta, "eta": given.eta, "within": given.within}

    def seconds(self) -> float:
        """Return about how long all algorithms will take, from trials that take a second each."""
        given = self.experiment
        total = 0.0
        for name in given.algorithms:
            on_graph = name in METHODS
            total += seconds_of(
                partial(self._trial_on_graph if on_graph else self._trial, name),
                self.world.problem,
                given.horizon,
                -(-given.runs // self.size.threads) if on_graph else given.runs,
                knows_all=self.size.knows_all and not on_graph,
            )
        return total

    def _trial(self, name: str, problem: Problem, horizon: int) -> object:
        """Run the same on fewer agents, for fewer steps."""
        n, row = problem.n_agents, self.size.longest_row
        contacts = None if self.size.knows_all else Contacts.random(n, min(row, n))
        gossip = None if contacts is None or contacts.is_everyone else self.world.gossip
        peers: dict[str, Any] = {"contacts": contacts, "gossip": gossip}
        if self.is_folded:
            return simulate_large(problem, name, horizon=horizon, **peers, **self._folding(name))
        arrivals = self.world.arrivals
        if arrivals is not None:
            arrivals = arrivals[:1, :horizon, :n]
        return simulate(
            problem.draw(horizon, arrivals=arrivals),
            name,
            **{what: _of_first(n, value) for what, value in self._bounds(name).items()},
            **self._choices(),
            **peers,
            labels=problem.labels,
            arrivals=arrivals,
            record=Record(class_counts=False, every=horizon),
            threads=self.threads,
        )

    def _trial_on_graph(self, name: str, problem: Problem, horizon: int) -> Digest:
        n = problem.n_agents
        degree = min(self.size.longest_row, n) - 1
        even = degree - degree * n % 2
        contacts = Contacts.regular(n, even) if even else Contacts.of_lists([()] * n)
        return simulate_neighbours(
            problem, name, contacts, horizon=horizon, delta=self.experiment.delta
        )


def _of_first(n: int, value: Any) -> Any:
    """Return what the first agents are told, if each is told something else."""
    return value[:n] if isinstance(value, list) else value
