"""An experiment ready to run: how large it is, and everything built and drawn once.

Lives here: the size of an experiment, which simulator runs an algorithm on its problem, and how the
result is measured.  Must not know files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from colme.algorithm import ALGORITHMS, Weighting
from colme.contacts import Contacts
from colme.experiment import memory
from colme.experiment.bounds import bounds_of
from colme.experiment.measures import Measures, measure_result, summarise
from colme.gossip import Gossip
from colme.large import Cost
from colme.neighbours import METHODS, Method, simulate_neighbours
from colme.problem import Problem
from colme.results import DEFAULT_LIMIT, Digest, Record, Trajectory, default_times, n_classmates
from colme.simulate import simulate, simulate_large
from colme.summary import BYTES_PER_VIEW

if TYPE_CHECKING:
    from colme.experiment.experiment import Experiment

_BYTES_PER_AGENT = 200
"""Labels, true means and what is drawn to get them."""
_BYTES_PER_SAMPLE = 8.0
_BYTES_PER_CONTACT = 32
_BYTES_PER_ESTIMATE = 16
"""An estimate and the class counts beside it."""
_LITTLE = 64 << 20
"""Nobody asks the machine whether this many bytes are free: the libraries take more."""
_MANY_PAIRS = 3e10
"""Comparisons of an agent with a peer that take about ten seconds."""
_PAIRS_BY_MODEL = 10
"""A comparison by a model takes as long as this many others."""
_PAIRS_PER_LINK = 25
"""One hop over a link of a graph takes as long as this many comparisons."""
_SPARE = 1.1
"""Libraries, and what is not counted."""
_WITH_LIKELY = Record(likely_counts=True)


@dataclass(frozen=True)
class Size(Cost):
    """The numbers that decide how much memory an experiment takes, and what follows from them.

    `longest_row` is how many agents one agent knows at most, itself included; `batch` the number of
    samples per step; `kept_for` what needs all samples in memory, if anything does.  `methods` run
    on a graph, `threads` runs of them at once; the rest is as in `colme.large.Cost`.

    Attributes
    ----------
    is_folded
        Whether metrics are folded block by block, because samples would take too much memory.
    bytes
        How much memory the experiment takes at most, about.
    is_large, is_long, knows_all
        Whether it may not fit into memory, whether people want to know how long it takes, and
        whether every agent knows every other.

    Examples
    --------
    >>> Size(n_agents=200, horizon=2500, runs=20, longest_row=200).is_folded
    False
    >>> million = Size(n_agents=1_000_000, horizon=1000, runs=1, longest_row=16)
    >>> million.is_folded, round(million.bytes / 1e9)
    (True, 4)
    """

    batch: float = 1.0
    kept_for: str = ""
    methods: tuple[Method, ...] = ()
    on_graph_alone: bool = False
    threads: int = 1
    is_folded: bool = field(init=False)
    bytes: int = field(init=False)
    is_large: bool = field(init=False)
    is_long: bool = field(init=False)
    knows_all: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "knows_all", self.longest_row >= self.n_agents)
        n_values = float(self.runs) * self.horizon * self.n_agents
        n_bytes = _BYTES_PER_SAMPLE * n_values * self.batch
        is_folded = not self.kept_for and n_bytes > DEFAULT_LIMIT
        if self.on_graph_alone:
            n_bytes = 0.0
        elif is_folded:
            n_bytes = self.bytes_in_blocks
        else:
            known = 0 if self.knows_all else self.n_agents * self.longest_row
            n_bytes += 2 * self.n_agents * self.horizon * BYTES_PER_VIEW
            n_bytes += min(DEFAULT_LIMIT, n_values * _BYTES_PER_ESTIMATE)
            n_bytes += _BYTES_PER_CONTACT * known
        if self.methods:
            n_bytes = max(n_bytes, memory.bytes_on_graph(self))
        each = _PAIRS_PER_LINK * max([method.reach for method in self.methods], default=0)
        if not self.on_graph_alone:
            each += _PAIRS_BY_MODEL if self.by_model else 1
        is_long = is_folded and not self.on_graph_alone
        is_long |= n_values * self.longest_row * each > _MANY_PAIRS
        n_bytes = int(_SPARE * (n_bytes + self.n_agents * _BYTES_PER_AGENT))
        is_large = n_bytes > _LITTLE
        found = {"is_folded": is_folded, "bytes": n_bytes, "is_large": is_large, "is_long": is_long}
        for name, value in found.items():
            object.__setattr__(self, name, value)

    def check(self) -> None:
        """Raise ValueError if less memory is free, and say what would fit.

        Examples
        --------
        >>> Size(n_agents=200, horizon=2500, runs=20, longest_row=200).check()
        """
        if self.is_large:
            memory.check_memory(self)


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
            if given.bound or given.drift:
                settings |= bounds_of(self.problem, chosen.class_test, given.bound, given.drift)
            elif not self.size.is_folded:  # otherwise the simulator takes it from the problem
                settings["sigma"] = getattr(self.problem.noise, "sigmas", ()) or self.problem.sigma
            if not self.size.is_folded:
                if record is None and chosen.weighting == Weighting.MODEL:
                    record = _WITH_LIKELY
                settings |= {"labels": self.labels, "arrivals": self.arrivals, "record": record}
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
            identifiable=self.gossip is None and not changes,
            true_counts=None if self.contacts is None else self.true_counts(self.contacts),
            changes=changes,
            samples_per_step=1.0 if self.arrivals is None else self.samples_per_step,
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
        return summarise(self.measure(result))

    def _times_to_look(self) -> NDArray[np.int64]:
        """Return the steps at which a digest looks at errors: evenly, and before each change."""
        before = [change.time - 1 for change in self.problem.changes if change.time > 1]
        return np.union1d(default_times(self.experiment.horizon), np.array(before, np.int64))
