"""An experiment: read from a file, checked in one go, built, run.

Lives here: the whole of a file, and what its tables require of each other.  Must not know the
command line, tables for people or plots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from colme import _check
from colme._settings import Table, read_toml
from colme.algorithm import ALGORITHMS, Weighting
from colme.experiment.arrivals import ArrivalsSpec
from colme.experiment.bounds import BoundSpec, DriftSpec, bounds_of, bytes_of
from colme.experiment.contacts import ContactsSpec
from colme.experiment.problem import ProblemSpec
from colme.experiment.scenario import Scenario, Size
from colme.neighbours import METHODS
from colme.results import Digest, Record, Trajectory

_MOST_CHECKED = 20_000
"""Contacts of larger fleets are drawn only when they run."""

Progress = Callable[[str, float], None]


class Experiment(Table):
    """A problem, algorithms that see the same samples, and how long and how often they run.

    Attributes
    ----------
    algorithms
        One or more names; `colme algorithms` lists them.
    horizon
        Number of time steps.
    runs
        Number of runs with fresh samples.
    delta
        Total risk of each agent's guarantees.
    eta
        Agents whose means differ by at most this much count as one class.
    within
        Pool a peer only once its mean is shown to be less than this away.
    relays
        How many summaries of others each reply carries.
    epsilons
        Accuracies for the convergence times.
    seed
        Seed for the samples.

    Examples
    --------
    >>> experiment = Experiment(
    ...     problem=ProblemSpec(class_means=(0.2, 0.8), n_agents=6, sigma=0.1),
    ...     algorithms=("local", "oracle"), horizon=50, runs=2,
    ... )
    >>> [trajectory.name for trajectory in experiment.run()]
    ['local', 'oracle']
    >>> Experiment.make({"problem": {"class_means": [0.2], "n_agents": 2, "sigma": -1}})
    Traceback (most recent call last):
    ValueError: problem.sigma: Input should be greater than 0; received -1
    """

    problem: ProblemSpec
    algorithms: tuple[str, ...] = Field(default=("sharp",), min_length=1)
    horizon: int = Field(default=2500, ge=1)
    runs: int = Field(default=20, ge=1)
    delta: float = Field(default=0.001, gt=0, lt=1)
    eta: float | None = Field(default=None, ge=0)
    within: float | None = Field(default=None, gt=0)
    relays: int | None = Field(default=None, ge=0)
    epsilons: tuple[float, ...] = (0.1, 0.01)
    seed: int = Field(default=1, ge=0)
    arrivals: ArrivalsSpec | None = None
    contacts: ContactsSpec | None = None
    bound: BoundSpec | None = None
    drift: DriftSpec | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        faults = []
        known = (*ALGORITHMS, *METHODS)
        unknown = [name for name in self.algorithms if name not in known]
        if unknown:
            faults.append(f"unknown algorithm {unknown[0]!r}; known: {', '.join(known)}")
        if len(set(self.algorithms)) < len(self.algorithms):
            faults.append(f"each algorithm runs once; received {', '.join(self.algorithms)}")
        if any(not epsilon > 0 for epsilon in self.epsilons):
            faults.append(f"each epsilon must be greater than 0; received {self.epsilons}")
        if len({f"{epsilon:g}" for epsilon in self.epsilons}) < len(self.epsilons):
            faults.append(f"epsilons must differ in six digits; received {self.epsilons}")
        late = [change.at for change in self.problem.changes if change.at > self.horizon]
        if late:
            faults.append(
                f"problem.changes: a change must lie within the horizon, at step 1 to "
                f"{self.horizon}; received {', '.join(map(str, late))}"
            )
        on_graph = [name for name in self.algorithms if name in METHODS]
        if on_graph:
            faults += self._faults_on_graph(on_graph[0])
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def _faults_on_graph(self, name: str) -> list[str]:
        """Return what a method on a graph cannot work with."""
        if self.contacts is None or self.contacts.size is not None:
            received = "none" if self.contacts is None else f"size = {self.contacts.size}"
            return [
                f"{name} works on a graph: give contacts as graph, regular, probability or tree; "
                f"received {received}"
            ]
        only_by_row = ("arrivals", "bound", "drift", "eta", "within", "relays")
        surplus = [name for name in only_by_row if getattr(self, name) is not None]
        surplus += ["problem.changes"] * bool(self.problem.changes)
        surplus += ["contacts.gossip"] * self.contacts.gossip
        if not surplus:
            return []
        return [
            f"{name} takes one sample a step, on a graph that only loses edges; received "
            f"{', '.join(surplus)}: drop that, or the method"
        ]

    @classmethod
    def read(cls, path: str | Path) -> dict[str, Any]:
        """Return the content of a TOML file, for `make`; raise ValueError if it is not TOML.

        The path of a graph is relative to the file.
        """
        content = read_toml(path)
        contacts = content.get("contacts")
        if isinstance(contacts, dict) and isinstance(contacts.get("graph"), str):
            contacts["graph"] = str(Path(path).parent / contacts["graph"])
        return content

    def size(self, keeps: bool = False, threads: int | None = None) -> Size:
        """Return how large the experiment is: the memory it takes, and whether it is folded.

        With `keeps`, trajectories are wanted, however large; `threads` run at once.

        Examples
        --------
        >>> problem = ProblemSpec(class_means=(0.2, 0.8), n_agents=6, sigma=0.1)
        >>> Experiment(problem=problem).size().is_folded
        False
        """
        weightings = [ALGORITHMS[name].weighting for name in self.algorithms if name in ALGORITHMS]
        n_agents = row = self.problem.n_agents or sum(self.problem.class_sizes or ())
        bytes_each = {}
        if self.bound or self.drift:
            bytes_each = bytes_of(self.bound, self.drift)
        if self.contacts is not None:
            try:
                row = self.contacts.longest_row(n_agents)
            except ValueError as error:  # a graph that cannot be read
                raise ValueError(f"contacts: {error}") from None
        needs_all_samples = {
            "a trajectory that is kept": keeps,
            "samples at uneven rates": self.arrivals is not None and self.arrivals.batch is None,
            "a stream that restarts": self.drift is not None and self.drift.restart,
            "a scale for each agent": isinstance(self.problem.sigma, tuple),
        }
        reasons = [reason for reason, holds in needs_all_samples.items() if holds and weightings]
        return Size(
            n_agents,
            row,
            self.horizon,
            runs=self.runs,
            n_classes=len(self.problem.class_means) + len(self.problem.changes),
            batch=1 if self.arrivals is None else self.arrivals.batch or 1,
            kept_for=reasons[0] if reasons else "",
            by_model=Weighting.MODEL in weightings,
            gossip=self.contacts is not None and self.contacts.gossip,
            **bytes_each,
            methods=tuple(METHODS[name] for name in self.algorithms if name in METHODS),
            on_graph_alone=not weightings,
            threads=_check.threads(threads),
        )

    def build(self, size: Size | None = None) -> Scenario:
        """Return the experiment ready to run: its problem built, arrivals and contacts drawn.

        Errors that need the problem to be seen are reported here, all at once.

        Parameters
        ----------
        size
            What `size` returned, if the memory was checked; by default that of `size()`, of which
            only the problem itself must fit.

        Examples
        --------
        >>> problem = ProblemSpec(class_means=(0.2, 0.8), n_agents=6, sigma=0.1)
        >>> Experiment(problem=problem, arrivals=ArrivalsSpec(batch=5)).build().samples_per_step
        5.0
        """
        is_checked, size = size is not None, size or self.size()
        try:
            if not is_checked:
                replace(size, horizon=1, runs=1, longest_row=1).check()
            problem = self.problem.build()
        except ValueError as error:
            raise ValueError(f"problem: {error}") from None
        makers: list[tuple[str, Callable[[], Any]]] = []
        if self.arrivals is not None:
            draw = partial(self.arrivals.draw, self.horizon, problem.n_agents, self.runs)
            makers.append(("arrivals", draw))
        if self.contacts is not None:
            makers.append(("contacts", partial(self.contacts.build, problem.n_agents)))
        if self.bound or self.drift:
            where = "bound" if self.drift is None else "bound and drift"
            tests = {ALGORITHMS[one].class_test for one in self.algorithms if one in ALGORITHMS}
            bounds = (partial(bounds_of, problem, test, self.bound, self.drift) for test in tests)
            makers += [(where, make) for make in bounds]
        built: dict[str, Any] = {}
        faults: dict[str, None] = {}
        for where, make in makers:
            try:
                built[where] = make()
            except ValueError as error:
                faults[f"{where}: {error}"] = None
        if faults:
            raise ValueError("; ".join(faults))
        labels = problem.cohorts if problem.changes else problem.labels
        arrivals, contacts = built.get("arrivals"), built.get("contacts")
        gossip = None if self.contacts is None else self.contacts.build_gossip()
        return Scenario(self, size, problem, labels, arrivals, contacts, gossip)

    def check(self) -> None:
        """Raise ValueError for what `build` would refuse, without drawing more than one step.

        Examples
        --------
        >>> problem = ProblemSpec(class_means=(0.2, 0.8), n_agents=6, sigma=0.1)
        >>> Experiment(problem=problem, arrivals=ArrivalsSpec(rates=(1, 2))).check()
        Traceback (most recent call last):
        ValueError: arrivals: rates must be one number or one for each of the 6 agents; received 2
        """
        less: dict[str, Any] = {"horizon": 1, "runs": 1}
        if self.size().n_agents > _MOST_CHECKED:
            less["contacts"] = None
        self.model_copy(update=less).build()

    def run(self, scenario: Scenario | None = None, **settings: Any) -> Iterator[Trajectory]:
        """Yield one trajectory for each algorithm, however large; see `results`."""
        scenario = scenario or self.build(self.size(keeps=True))
        for result in self.results(scenario, **settings):
            if isinstance(result, Digest):
                raise ValueError(  # noqa: TRY004 - an error of the experiment
                    f"{result.name} leaves no trajectory: ask for results() instead of run()"
                )
            yield result

    def results(
        self,
        scenario: Scenario | None = None,
        *,
        record: Record | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Iterator[Trajectory | Digest]:
        """Yield the result of each algorithm: a trajectory, or a digest where that is too large.

        All algorithms see the same samples.  Methods that work on a graph give digests, and so
        does everything if samples would take more than a gigabyte.

        Parameters
        ----------
        scenario
            What `build` returned, by default a new one.
        record
            What to keep of a trajectory; by default also the likely classes of algorithms that
            have them.
        threads
            Number of threads; the results do not depend on it.
        progress
            Called with the name of the algorithm and the share of its work done, from 0 to 1.

        Examples
        --------
        >>> experiment = Experiment(
        ...     problem=ProblemSpec(class_means=(0.2, 0.8), n_agents=6, sigma=0.1),
        ...     contacts=ContactsSpec(regular=3), algorithms=("local", "c-colme"), horizon=50,
        ... )
        >>> [type(result).__name__ for result in experiment.results()]
        ['Trajectory', 'Digest']
        """
        scenario = scenario or self.build()
        keep = {} if record is None else {"record": record}
        for name in self.algorithms:
            report = None if progress is None else partial(progress, name)
            yield scenario.run(name, threads=threads, progress=report, **keep)
