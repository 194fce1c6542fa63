"""What every simulation needs to know of its agents and their samples, checked.

Lives here: validation, once for all simulators.  Must not know how any of them runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check
from colme.algorithm import Algorithm, ClassTest, Weighting, name_of, resolve
from colme.arrivals import check_arrivals
from colme.bounds import Bound, Budget, choose_bound
from colme.contacts import Contacts
from colme.engine import Agents, Plan
from colme.gossip import Gossip, Offers
from colme.results import MOST_IN_INT16, Record, Trajectory
from colme.rules import PAST_LENGTH, Choice
from colme.summary import BlockViews

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
    relays: int | None
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
    budget
        The risk of each agent's guarantees.
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
    budget: Budget
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
        eta, within, relays = (options.get(name) for name in ("eta", "within", "relays"))
        chosen = resolve(algorithm, eta, within, relays)  # type: ignore[arg-type]
        labels, delta = options.get("labels"), options.get("delta", 0.001)
        if labels is None and chosen.class_test == ClassTest.KNOWN:
            raise ValueError("oracles know the true classes: pass labels=..., one per agent")
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
        budget = Budget(delta, n_agents if gossip else longest_row)
        sigma: Any = options.get("sigma")
        bound: Any = options.get("bound")
        several = isinstance(bound, Iterable) and not isinstance(bound, str)
        if several or (bound is None and np.ndim(sigma) == 1):
            bounds = _bound_of_each(sigma, bound, chosen.class_test, budget.gamma, n_agents)
        else:
            bounds = (choose_bound(chosen.class_test, sigma, bound, budget.gamma),)
        return cls(
            algorithm=chosen,
            name=algorithm if isinstance(algorithm, str) else name_of(chosen),
            bounds=bounds,
            contacts=contacts,
            gossip=gossip,
            labels=np.zeros(n_agents, np.int64)
            if labels is None
            else _check.labels(labels, n_agents, max(_MOST_CLASSES, n_agents)).astype(np.int64),
            budget=budget,
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
            delta=self.budget.delta,
        )

    def plan(
        self, blocks: Sequence[tuple[int, int]], threads: int | None, *, in_step: bool = True
    ) -> Plan:
        """Return what to do in these blocks; `in_step`: all agents have equally many samples."""
        n_agents, nobody = self.labels.size, np.empty(0, np.int64)
        nobody.setflags(write=False)  # as contacts are: one type of array, one compilation
        revisits = [[bound.revisit_in(0), bound.revisit_in(1)] for bound in self.bounds]
        scales = [bound.scale for bound in self.bounds]
        agents = Agents(
            self.labels,
            nobody if self.contacts is None else self.contacts.names,
            nobody if self.contacts is None else self.contacts.starts,
            np.broadcast_to(np.array(revisits), (n_agents, 2)).copy(),
            np.broadcast_to(np.array(scales), n_agents).copy(),
        )
        choice = Choice.of(self.algorithm, self.bounds[0].gamma, self.budget.n_peers)
        # Where a reply carries as many samples as its reader has, no past is needed to pair them.
        in_step = in_step and all(bound.shares_columns for bound in self.bounds)
        length = 1 if in_step and not choice.relays else PAST_LENGTH
        return Plan(
            choice, agents, self.longest_row, self.by_model, blocks, _check.threads(threads), length
        )


def _bound_of_each(
    sigma: Any, bound: Any, class_test: ClassTest, gamma: float, n_agents: int
) -> tuple[Bound, ...]:
    """Return the bounds of agents that have one each, at the risk that is left for it."""
    if bound is None:
        each = [choose_bound(class_test, float(one), None, gamma) for one in sigma]
    else:
        each = [choose_bound(class_test, sigma, one, gamma) for one in bound]
    if len(each) != n_agents:
        raise ValueError(
            "sigma or bound must be one, or one for each of the "
            f"{n_agents} agents; received {len(each)}"
        )
    return tuple(each)


@dataclass(frozen=True, eq=False)
class GivenSamples:
    """Samples[run, k, agent], and how many arrive at each step; None: one.

    Examples
    --------
    >>> given = GivenSamples.of(np.zeros((6, 2)), arrivals=3)
    >>> given.samples.shape, given.horizon
    ((1, 6, 2), 2)
    """

    samples: NDArray[np.float64]
    arrivals: NDArray[np.int32] | None
    runs: int
    horizon: int
    n_agents: int

    @classmethod
    def of(cls, samples: ArrayLike, arrivals: int | ArrayLike | None = None) -> GivenSamples:
        """Check both."""
        try:
            values = np.ascontiguousarray(samples, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError("samples must be an array of numbers [run, time, agent]") from None
        if values.ndim == 2:
            values = values[np.newaxis]
        if values.ndim != 3 or 0 in values.shape:
            raise ValueError(
                "samples must have axes [run, time, agent] (or [time, agent]), none of them empty; "
                f"received shape {np.shape(samples)}"
            )
        largest = max(-values.min(), values.max())  # NaN if any is; no copy of a large array
        if not largest <= _check.LARGEST_SAMPLE:
            usable = np.abs(values) <= _check.LARGEST_SAMPLE
            run, time, agent = np.argwhere(~usable)[0]
            raise ValueError(
                f"samples must be finite and at most {_check.LARGEST_SAMPLE:g} in size; received "
                f"{values[run, time, agent]} at run {run}, time {time}, agent {agent}: "
                "drop or repair it first"
            )
        runs, horizon, n_agents = values.shape
        if arrivals is None:
            return cls(values, None, runs, horizon, n_agents)
        counts = _check_arrivals(arrivals, values)
        return cls(values, counts, runs, counts.shape[1], n_agents)

    def arrivals_of(self, run: int) -> NDArray[np.int32] | None:
        """Return how many samples arrive[time, agent] in one run; None: one at each step."""
        if self.arrivals is None:
            return None
        arrivals: NDArray[np.int32] = self.arrivals[run if self.arrivals.shape[0] > 1 else 0]
        return arrivals

    def views(self, run: int, bounds: Sequence[Bound], *, with_squares: bool) -> BlockViews:
        """Return the views of one run, in one block."""
        return BlockViews(
            self.samples[run],
            bounds,
            self.horizon,
            longest=self.horizon,
            arrivals=None if self.arrivals is None else self.arrivals_of(run),
            with_squares=with_squares,
        )


def _check_arrivals(arrivals: int | ArrayLike, samples: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return arrivals[run or 1, time, agent], for which there are enough samples."""
    runs, n_samples, n_agents = samples.shape
    if np.ndim(arrivals) == 0:
        batch = _check.positive_int("arrivals", arrivals)  # type: ignore[arg-type]
        if batch > n_samples:
            raise ValueError(
                f"batches of {batch} need as many samples; received {n_samples} of each agent"
            )
        return np.full((1, n_samples // batch, n_agents), batch, np.int32)
    values = check_arrivals(arrivals, runs, n_agents)
    needed = int(values.sum(axis=1).max())
    if needed > n_samples:
        raise ValueError(
            f"arrivals ask for {needed} samples of one agent; received {n_samples} of each: draw "
            "them with problem.draw(..., arrivals=arrivals)"
        )
    return values
