"""An experiment: read from a file, checked in one go, run.

Lives here: the whole of a file, and what its tables ask of each other.  Must not know the command
line, tables for people or plots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from colme import _check
from colme._settings import Table, read_toml
from colme.algorithm import ALGORITHMS, Weighting, resolve
from colme.contacts import Contacts
from colme.digest import Digest
from colme.experiment.arrivals import ArrivalsSpec
from colme.experiment.bounds import BoundSpec, DriftSpec, bounds_of, bytes_of
from colme.experiment.contacts import ContactsSpec
from colme.experiment.problem import ProblemSpec
from colme.experiment.running import Running
from colme.experiment.size import Size
from colme.experiment.world import World
from colme.neighbours import METHODS
from colme.problem import Problem
from colme.trajectory import Record, Trajectory

__all__ = ["Experiment"]

_MOST_CHECKED = 20_000
"""Agents of which contacts are drawn to see whether they can be."""


class Experiment(Table):
    """A problem, algorithms that see the same samples, and how long and how often they run.

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
    epsilons: tuple[float, ...] = (0.1, 0.01)
    seed: int = Field(default=1, ge=0)
    arrivals: ArrivalsSpec | None = None
    contacts: ContactsSpec | None = None
    bound: BoundSpec | None = None
    drift: DriftSpec | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        problem = self.problem.build()
        checks: dict[str, Callable[[Problem], object]] = {
            "": self._check_algorithms,
            "problem.changes: ": self._check_changes,
            "arrivals: ": self._check_arrivals,
            "contacts: ": self._check_contacts,
            "bound: " if self.drift is None else "bound and drift: ": self._check_bounds,
        }
        faults = []
        for where, check in checks.items():
            try:
                check(problem)
            except ValueError as error:
                faults.append(f"{where}{error}")
        if faults:
            raise ValueError("; ".join(faults))
        return self

    @classmethod
    def read(cls, path: str | Path) -> dict[str, Any]:
        """Return the content of a TOML file, for `make`; raise ValueError if it is not TOML.

        A graph is looked for beside the file.
        """
        content = read_toml(path)
        contacts = content.get("contacts")
        if isinstance(contacts, dict) and isinstance(contacts.get("graph"), str):
            contacts["graph"] = str(Path(path).parent / contacts["graph"])
        return content

    def world(self) -> World:
        """Return what the experiment happens in, for `run` and for summaries.

        Examples
        --------
        >>> problem = ProblemSpec(class_means=(0.2, 0.8), n_agents=6, sigma=0.1)
        >>> batches = ArrivalsSpec(batch=5)
        >>> Experiment(problem=problem, arrivals=batches).world().samples_per_step
        5.0
        """
        problem = self.problem.build()
        arrivals = None
        if self.arrivals is not None:
            arrivals = self.arrivals.draw(self.horizon, problem.n_agents, self.runs)
        gossip = None if self.contacts is None else self.contacts.build_gossip()
        return World(problem, arrivals, self._contacts(problem), gossip)

    def run(
        self,
        *,
        world: World | None = None,
        record: Record | None = None,
        threads: int | None = None,
        progress: Callable[[str, float], None] | None = None,
    ) -> Iterator[Trajectory]:
        """Yield one trajectory for each algorithm; all of them see the same samples.

        Unless told what to record, likely classes are kept of the algorithms that know them.  The
        labels of a trajectory tell who shares a mean throughout: classes, split by changes.
        """
        running = Running(self, world or self.world(), record, keeps=True, threads=threads)
        for name in self.algorithms:
            result = running.run(name, None if progress is None else partial(progress, name))
            if isinstance(result, Digest):
                raise ValueError(f"{name} leaves no trajectory: ask for results() instead of run()")  # noqa: TRY004
            yield result

    def results(
        self,
        *,
        world: World | None = None,
        record: Record | None = None,
        threads: int | None = None,
        progress: Callable[[str, float], None] | None = None,
    ) -> Iterator[Trajectory | Digest]:
        """Yield what became of each algorithm: a trajectory, or a digest where that is too large.

        Methods that work on a graph give digests, and so does everything if samples would take more
        than a gigabyte.  `record` is about trajectories.

        Examples
        --------
        >>> experiment = Experiment(
        ...     problem=ProblemSpec(class_means=(0.2, 0.8), n_agents=6, sigma=0.1),
        ...     contacts=ContactsSpec(regular=3), algorithms=("local", "c-colme"), horizon=50,
        ... )
        >>> [type(result).__name__ for result in experiment.results()]
        ['Trajectory', 'Digest']
        """
        running = Running(self, world or self.world(), record, threads=threads)
        for name in self.algorithms:
            yield running.run(name, None if progress is None else partial(progress, name))

    def size(self, keeps: bool = False, threads: int | None = None) -> Size:
        """Return how large the experiment is: what it takes, and whether it is folded.

        `keeps` tells that somebody wants the trajectories, `threads` how many there are.

        Examples
        --------
        >>> problem = ProblemSpec(class_means=(0.2, 0.8), n_agents=6, sigma=0.1)
        >>> Experiment(problem=problem).size().is_folded
        False
        """
        weightings = [ALGORITHMS[name].weighting for name in self.algorithms if name in ALGORITHMS]
        told, followed = bytes_of(self.bound, self.drift)
        n_agents = self.problem.count_agents()
        kept_for = {
            "a trajectory that is kept": keeps,
            "samples at uneven rates": self.arrivals is not None and self.arrivals.batch is None,
            "a stream that restarts": self.drift is not None and self.drift.restart,
            "a scale for each agent": isinstance(self.problem.sigma, tuple),
        }
        return Size(
            n_agents,
            self.horizon,
            self.runs,
            n_agents if self.contacts is None else self.contacts.longest_row(n_agents),
            n_classes=len(self.problem.class_means) + len(self.problem.changes),
            batch=self.batch,
            kept_for=next((what for what, needed in kept_for.items() if needed and weightings), ""),
            by_model=Weighting.MODEL in weightings,
            gossip=self.contacts is not None and self.contacts.gossip,
            bytes_told=told,
            bytes_followed=followed,
            methods=tuple(METHODS[name] for name in self.algorithms if name in METHODS),
            on_graph_alone=not weightings,
            threads=_check.threads(threads),
        )

    @property
    def batch(self) -> int:
        """How many samples everybody takes at every step, where that is one number."""
        return 1 if self.arrivals is None else self.arrivals.batch or 1

    def _contacts(self, problem: Problem) -> Contacts | None:
        return None if self.contacts is None else self.contacts.build(problem.n_agents)

    def _check_contacts(self, problem: Problem) -> None:
        # Those of a large fleet are built once, when it runs.
        if problem.n_agents <= _MOST_CHECKED:
            self._contacts(problem)

    def _check_algorithms(self, _: Problem) -> None:
        for name in self.algorithms:
            if name in METHODS:
                self._check_method(name)
            elif name not in ALGORITHMS:
                known = ", ".join((*ALGORITHMS, *METHODS))
                raise ValueError(f"unknown algorithm {name!r}; known: {known}")
        if len(set(self.algorithms)) < len(self.algorithms):
            raise ValueError(f"each algorithm runs once; received {', '.join(self.algorithms)}")
        if any(not epsilon > 0 for epsilon in self.epsilons):
            raise ValueError(f"each epsilon must be greater than 0; received {self.epsilons}")
        if len({f"{epsilon:g}" for epsilon in self.epsilons}) < len(self.epsilons):
            raise ValueError(f"epsilons must differ in six digits; received {self.epsilons}")

    def _check_method(self, name: str) -> None:
        if self.contacts is None or self.contacts.size is not None:
            received = "none" if self.contacts is None else f"size = {self.contacts.size}"
            raise ValueError(
                f"{name} works on a graph: give contacts as graph, regular, probability or tree; "
                f"received {received}"
            )
        tables = ("arrivals", "bound", "drift", "eta", "within")
        surplus = [table for table in tables if getattr(self, table) is not None]
        surplus += ["problem.changes"] * bool(self.problem.changes)
        surplus += ["contacts.gossip"] * self.contacts.gossip
        if surplus:
            raise ValueError(
                f"{name} takes one sample a step, on a graph that only loses edges; received "
                f"{', '.join(surplus)}: drop that, or the method"
            )

    def _check_changes(self, _: Problem) -> None:
        late = [change.at for change in self.problem.changes if change.at > self.horizon]
        if late:
            raise ValueError(
                f"a change must lie within the horizon, at step 1 to {self.horizon}; "
                f"received {', '.join(map(str, late))}"
            )

    def _check_arrivals(self, problem: Problem) -> None:
        if self.arrivals is not None:
            self.arrivals.build(problem.n_agents).draw_run(1, problem.n_agents)

    def _check_bounds(self, problem: Problem) -> None:
        for test in {resolve(name).class_test for name in self.algorithms if name in ALGORITHMS}:
            bounds_of(problem, test, self.bound, self.drift)
