"""An experiment ready to run: everything built and drawn once.

Lives here: the problem, arrivals, contacts, gossip and bounds of an experiment, which simulator
runs an algorithm on them, and how its result is measured.  Must not know files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from colme.algorithm import ALGORITHMS, Weighting
from colme.contacts import Contacts
from colme.experiment.bounds import bounds_of
from colme.experiment.measures import Measures, measure_result, summarise
from colme.experiment.size import Size
from colme.gossip import Gossip
from colme.neighbours import METHODS, simulate_neighbours
from colme.problem import Problem
from colme.results import Digest, Record, Trajectory, default_times, n_classmates
from colme.simulate import simulate, simulate_large

if TYPE_CHECKING:
    from colme.experiment.experiment import Experiment


@dataclass(frozen=True, eq=False)
class Scenario:
    """A problem, how its samples arrive, who knows whom and who hears of whom.

    Attributes
    ----------
    experiment, size
        What was asked for, and how large it is.
    problem
        The class and mean of each agent, and what changes.
    labels
        Which agents share a mean at all times: the classes, split by changes.
    arrivals
        How many samples arrive, int[run or 1, time, agent]; None: one at each step.
    contacts
        Who knows whom; None: every agent knows every other.
    gossip
        How agents hear of others; None: they do not.
    run_number
        The only run there is, of those of the experiment; None: all of them.

    Examples
    --------
    >>> from colme.experiment import Experiment
    >>> problem = {"class_means": [0.2, 0.8], "n_agents": 6, "sigma": 0.1}
    >>> scenario = Experiment.make({"problem": problem, "horizon": 5, "runs": 2}).build()
    >>> scenario.samples_per_step, scenario.run("local").estimates.shape
    (1.0, (2, 5, 6))
    """

    experiment: Experiment
    size: Size
    problem: Problem
    labels: NDArray[np.int64]
    arrivals: NDArray[np.int32] | None = None
    contacts: Contacts | None = None
    gossip: Gossip | None = None
    run_number: int | None = None

    @cached_property
    def samples(self) -> NDArray[np.float64]:
        """The samples that all algorithms see."""
        given = self.experiment
        if self.run_number is not None:
            return self.problem.draw_run(given.horizon, self.run_number, given.seed)
        return self.problem.draw(given.horizon, given.runs, given.seed, self.arrivals)

    @property
    def samples_per_step(self) -> float:
        """The average number of samples that an agent receives in a step."""
        return 1.0 if self.arrivals is None else float(self.arrivals.mean())

    @property
    def is_identifiable(self) -> bool:
        """Whether the true class of an agent, among those it knows, never changes."""
        return self.gossip is None and not self.problem.changes

    def run(
        self,
        name: str,
        *,
        record: Record | None = None,
        progress: Callable[[float], None] | None = None,
        **instead: Any,
    ) -> Trajectory | Digest:
        """Return the result of one algorithm, by the simulator that suits the experiment.

        Parameters
        ----------
        name
            A named algorithm, or a method on a graph.
        record
            What to keep of a trajectory.
        progress
            Called with the share of the work done, from 0 to 1.
        instead
            Arguments of the simulator that replace those of the experiment.
        """
        given = self.experiment
        settings: dict[str, Any] = {
            "delta": given.delta,
            "contacts": self.contacts,
            "progress": progress,
        }
        if name not in METHODS:
            chosen = ALGORITHMS[name]
            settings |= {"eta": given.eta, "within": given.within, "relays": given.relays}
            settings["gossip"] = self.gossip
            settings |= bounds_of(self.problem, chosen.class_test, given.bound, given.drift)
            if not self.size.is_folded:
                likely = chosen.weighting == Weighting.MODEL
                settings |= {
                    "labels": self.labels,
                    "arrivals": self.arrivals,
                    "record": record or Record(likely_counts=likely),
                }
                return simulate(self.samples, name, **(settings | instead))
        settings |= {
            "horizon": given.horizon,
            "runs": given.runs,
            "seed": given.seed,
            "epsilons": given.epsilons,
            "times": self._times_to_look(),
        }
        if name in METHODS:
            return simulate_neighbours(self.problem, name, **(settings | instead))
        settings.pop("sigma", None)  # it follows from the problem
        settings["batch"] = int(self.size.batch)
        return simulate_large(self.problem, name, **(settings | instead))

    def true_counts(self, contacts: Contacts) -> NDArray[np.int64]:
        """Return how many of each class are in the true class of each agent, [agent, class].

        The true class of an agent: those of its contacts that carry its label.

        Examples
        --------
        >>> from colme.experiment import Experiment
        >>> problem = {"class_means": [0.2, 0.8], "class_sizes": [2, 1], "sigma": 0.1}
        >>> scenario = Experiment.make({"problem": problem, "contacts": {"size": 1}}).build()
        >>> scenario.true_counts(scenario.contacts).tolist()
        [[1, 0], [1, 0], [0, 1]]
        """
        labels, mates = self.labels, n_classmates(self.labels, contacts)
        return np.where(np.arange(labels.max() + 1) == labels[:, None], mates[:, None], 0)

    def measure(self, result: Trajectory | Digest) -> Measures:
        """Return the errors and times of a result of this scenario.

        Examples
        --------
        >>> from colme.experiment import Experiment
        >>> problem = {"class_means": [0.5], "n_agents": 2, "noise": "bernoulli"}
        >>> scenario = Experiment.make({"problem": problem, "horizon": 9, "runs": 3}).build()
        >>> scenario.measure(scenario.run("local")).final_errors.shape
        (3, 2)
        """
        changes = tuple(sorted({change.time for change in self.problem.changes}))
        moving = self.problem.true_means_at(result.times) if changes else None
        return measure_result(
            result,
            self.problem.true_means if moving is None else moving,
            self.experiment.epsilons,
            identifiable=self.is_identifiable,
            true_counts=None if self.contacts is None else self.true_counts(self.contacts),
            changes=changes,
        )

    def summarise(self, result: Trajectory | Digest) -> dict[str, Any]:
        """Return the summary of a result of this scenario, as plain values.

        Examples
        --------
        >>> from colme.experiment import Experiment
        >>> problem = {"class_means": [0.5], "n_agents": 2, "noise": "bernoulli"}
        >>> scenario = Experiment.make({"problem": problem, "horizon": 9, "runs": 3}).build()
        >>> list(scenario.summarise(scenario.run("local")))
        ['algorithm', 'identification_time', 'convergence_time', 'final_error']
        """
        return summarise(self.measure(result), self.samples_per_step)

    def _times_to_look(self) -> NDArray[np.int64]:
        """Return the steps at which a digest looks at errors: evenly, and before each change."""
        before = [change.time - 1 for change in self.problem.changes if change.time > 1]
        return np.union1d(default_times(self.experiment.horizon), np.array(before, np.int64))
