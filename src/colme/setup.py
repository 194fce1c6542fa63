"""What every simulation needs to know of its agents, checked.

Lives here: validation, once for all simulators.  Must not know how any of them runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check
from colme.algorithm import ALGORITHMS, Algorithm, ClassTest, Weighting, resolve
from colme.bounds import Bound, choose_bound, split_risk
from colme.contacts import Contacts
from colme.engine import Agents, Plan
from colme.gossip import Gossip, Offers
from colme.results import MOST_IN_INT16, Record, Trajectory
from colme.rules import Choice

_MOST_CLASSES = 4096
"""Labels index the class axis; far more classes than agents is a mistake."""
_DEFAULT_RECORD = Record()


class Options(TypedDict, total=False):
    """The settings of the agents of a simulation; `colme.simulate` explains each.

    Examples
    --------
    >>> Options(sigma=0.5, delta=0.01)["delta"]
    0.01
    """

    sigma: float | Sequence[float] | NDArray[np.float64] | None
    bound: Bound | Iterable[Bound] | None
    delta: float
    labels: ArrayLike | None
    eta: float | None
    within: float | None
    contacts: Contacts | None
    gossip: Gossip | None


@dataclass(frozen=True, eq=False)
class Setup:
    """The agents of a simulation.

    Attributes
    ----------
    algorithm, name
        What they run, and what people call it.
    bounds
        One for all agents, or one for each.
    contacts
        Who knows whom; None: everybody knows everybody.
    gossip
        How they hear of others, if they do.
    labels
        The true class of each.
    delta
        The total risk of each agent's guarantees.
    longest_row
        How many agents somebody knows at a time, itself included.
    by_model, needs_squares
        Whether peers are weighed by a model, and whether it matters how samples scatter.
    offers
        Gives who is suggested to whom in a run; None without gossip.

    Examples
    --------
    >>> setup = Setup.of(2, "local", sigma=0.5)
    >>> setup.name, setup.longest_row, len(setup.bounds)
    ('local', 2, 1)
    """

    algorithm: Algorithm
    name: str
    bounds: tuple[Bound, ...]
    contacts: Contacts | None
    gossip: Gossip | None
    labels: NDArray[np.int64]
    delta: float
    longest_row: int
    by_model: bool
    needs_squares: bool
    offers: Callable[[int], Offers] | None

    @classmethod
    def of(cls, n_agents: int, algorithm: str | Algorithm, **options: Unpack[Options]) -> Setup:
        """Check everything."""
        if unknown := sorted(options.keys() - Options.__annotations__.keys()):
            raise TypeError(
                f"unexpected {unknown[0]!r}: the agents of a simulation have the settings "
                f"{', '.join(Options.__annotations__)}"
            )
        chosen = resolve(algorithm, options.get("eta"), options.get("within"))
        labels, delta = options.get("labels"), options.get("delta", 0.001)
        if labels is None and chosen.class_test == ClassTest.KNOWN:
            raise ValueError(
                "this algorithm knows the true classes: pass labels=..., one per agent"
            )
        contacts, gossip = options.get("contacts"), options.get("gossip")
        if contacts is not None and contacts.n_agents != n_agents:
            raise ValueError(f"contacts are of {contacts.n_agents} agents; there are {n_agents}")
        if contacts is not None and contacts.is_everyone:
            contacts = None
        if gossip is not None and contacts is None:
            raise ValueError(
                "gossip helps agents that know only some others; pass contacts=..., for example "
                "colme.Contacts.random(n_agents, size=20)"
            )
        longest_row = n_agents if contacts is None else contacts.size
        # An agent that never meets anybody else shares the risk among those it knows.
        gamma = split_risk(delta, n_agents if gossip else longest_row)
        sigma, bound = options.get("sigma"), options.get("bound")
        return cls(
            algorithm=chosen,
            name=algorithm if isinstance(algorithm, str) else _name_of(chosen),
            bounds=_check_bounds(sigma, bound, chosen.class_test, gamma, n_agents),
            contacts=contacts,
            gossip=gossip,
            labels=np.zeros(n_agents, np.int64)
            if labels is None
            else _check.labels(labels, n_agents, max(_MOST_CLASSES, n_agents)).astype(np.int64),
            delta=float(delta),
            longest_row=longest_row,
            by_model=chosen.weighting == Weighting.MODEL,
            needs_squares=chosen.weighting.needs_squares,
            offers=partial(gossip.offers, contacts) if gossip and contacts else None,
        )

    def trajectory(self, runs: int, horizon: int, record: Record | None) -> Trajectory:
        """Return an empty trajectory, of what the record asks for."""
        record = record or _DEFAULT_RECORD
        if record.likely_counts and not self.by_model:
            raise ValueError(
                "a likely class is known only to algorithms that weigh by a model, like 'sharp'; "
                f"received weighting {self.algorithm.weighting.word!r} with "
                "Record(likely_counts=True)"
            )
        n_agents, n_classes = self.labels.size, int(self.labels.max()) + 1
        times = record.times(horizon, runs, n_agents, n_classes)
        # The loop works agent by agent, so memory is [agent, time]; readers see [time, agent].
        shape = runs, n_agents, times.size
        kind = np.int16 if n_agents <= MOST_IN_INT16 else np.int32
        class_counts, likely_counts = (
            np.empty((*shape, n_classes), kind).swapaxes(1, 2) if kept else None
            for kept in (record.class_counts, record.likely_counts)
        )
        return Trajectory(
            estimates=np.empty(shape).swapaxes(1, 2) if record.estimates else None,
            class_counts=class_counts,
            likely_counts=likely_counts,
            times=times,
            labels=self.labels,
            algorithm=self.algorithm,
            name=self.name,
            horizon=horizon,
            sigma=max(one.scale for one in self.bounds),
            delta=self.delta,
        )

    def plan(self, blocks: Sequence[tuple[int, int]], threads: int | None) -> Plan:
        """Return what the engine is to do in these blocks of time."""
        nobody = np.empty(0, np.int64)
        nobody.setflags(write=False)  # as contacts are: one type of array, one compilation
        n_agents = self.labels.size
        revisits = [[bound.revisit_in(0), bound.revisit_in(1)] for bound in self.bounds]
        scales = [bound.scale for bound in self.bounds]
        agents = Agents(
            self.labels,
            nobody if self.contacts is None else self.contacts.names,
            nobody if self.contacts is None else self.contacts.starts,
            np.broadcast_to(np.array(revisits), (n_agents, 2)).copy(),
            np.broadcast_to(np.array(scales), n_agents).copy(),
        )
        choice = Choice.of(self.algorithm, self.bounds[0].gamma)
        n_threads = _check.threads(threads)
        return Plan(choice, agents, self.longest_row, self.by_model, blocks, n_threads)


def _check_bounds(
    sigma: float | Sequence[float] | NDArray[np.float64] | None,
    bound: Bound | Iterable[Bound] | None,
    class_test: ClassTest,
    gamma: float,
    n_agents: int,
) -> tuple[Bound, ...]:
    """Return one bound for all agents or one for each, at the risk that is left for it."""
    if bound is None and sigma is not None and np.ndim(sigma) == 1:
        each = [choose_bound(class_test, float(one), None, gamma) for one in sigma]  # type: ignore[union-attr]
    elif isinstance(bound, str) or not isinstance(bound, Iterable):
        return (choose_bound(class_test, sigma, bound, gamma),)  # type: ignore[arg-type]
    else:
        each = [choose_bound(class_test, sigma, one, gamma) for one in bound]  # type: ignore[arg-type]
    if len(each) != n_agents:
        raise ValueError(
            "sigma or bound must be one, or one for each of the "
            f"{n_agents} agents; received {len(each)}"
        )
    return tuple(each)


def _name_of(algorithm: Algorithm) -> str:
    for name, preset in ALGORITHMS.items():
        if preset == algorithm:
            return name
    return f"{algorithm.query.word} {algorithm.weighting.word} eta={algorithm.eta:g}"
