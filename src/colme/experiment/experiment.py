"""An experiment: read from a file, checked in one go, run.

Lives here: the whole of a file, and what its tables ask of each other.  Must not know the command
line, tables for people or plots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from colme._settings import Table, read_toml
from colme.algorithm import ALGORITHMS, Weighting, resolve
from colme.contacts import Contacts
from colme.experiment.arrivals import ArrivalsSpec
from colme.experiment.bounds import BoundSpec, DriftSpec, bounds_of
from colme.experiment.contacts import ContactsSpec
from colme.experiment.problem import ProblemSpec
from colme.experiment.world import World
from colme.problem import Problem
from colme.simulate import simulate
from colme.trajectory import Record, Trajectory

__all__ = ["Experiment"]


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
            "contacts: ": self._contacts,
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
        world = world or self.world()
        samples = world.problem.draw(self.horizon, self.runs, self.seed, world.arrivals)
        for name in self.algorithms:
            chosen = resolve(name)
            yield simulate(
                samples,
                name,
                **bounds_of(world.problem, chosen.class_test, self.bound, self.drift),
                delta=self.delta,
                labels=world.labels,
                eta=self.eta,
                within=self.within,
                arrivals=world.arrivals,
                contacts=world.contacts,
                gossip=world.gossip,
                record=record or Record(likely_counts=chosen.weighting == Weighting.MODEL),
                threads=threads,
                progress=None if progress is None else _named(progress, name),
            )

    def _contacts(self, problem: Problem) -> Contacts | None:
        return None if self.contacts is None else self.contacts.build(problem.n_agents)

    def _check_algorithms(self, _: Problem) -> None:
        for name in self.algorithms:
            resolve(name)
        if len(set(self.algorithms)) < len(self.algorithms):
            raise ValueError(f"each algorithm runs once; received {', '.join(self.algorithms)}")
        if any(not epsilon > 0 for epsilon in self.epsilons):
            raise ValueError(f"each epsilon must be greater than 0; received {self.epsilons}")

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


def _named(progress: Callable[[str, float], None], name: str) -> Callable[[float], None]:
    return lambda share: progress(name, share)
