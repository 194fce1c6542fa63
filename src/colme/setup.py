"""What a simulation needs, checked: samples, bounds, who knows whom, and an empty trajectory.

Lives here: validation, once for `simulate` and `lockstep`.  Must not know how either runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check
from colme.algorithm import ALGORITHMS, Algorithm, ClassTest, Weighting, resolve
from colme.arrivals import check_arrivals
from colme.bounds import Bound, choose_bound, split_risk
from colme.contacts import Contacts
from colme.gossip import Gossip
from colme.trajectory import Record, Trajectory, count_type

__all__ = ["Setup"]

_MOST_CLASSES = 4096
"""Labels index the class axis; far more classes than agents is a mistake."""


@dataclass(frozen=True, eq=False)
class Setup:
    """Validated input and the empty trajectory it will fill; no contacts: everybody knows all.

    Examples
    --------
    >>> setup = Setup.of(np.zeros((5, 2)), "local", sigma=0.5)
    >>> setup.samples.shape, setup.trajectory.horizon
    ((1, 5, 2), 5)
    """

    samples: NDArray[np.float64]
    arrivals: NDArray[np.int32] | None
    bounds: tuple[Bound, ...]
    contacts: Contacts | None
    gossip: Gossip | None
    trajectory: Trajectory

    @classmethod
    def of(
        cls,
        samples: ArrayLike,
        algorithm: str | Algorithm,
        *,
        sigma: float | Sequence[float] | NDArray[np.float64] | None = None,
        bound: Bound | Iterable[Bound] | None = None,
        delta: float = 0.001,
        labels: ArrayLike | None = None,
        eta: float | None = None,
        within: float | None = None,
        arrivals: int | ArrayLike | None = None,
        contacts: Contacts | None = None,
        gossip: Gossip | None = None,
        record: Record | None = None,
    ) -> Setup:
        """Check everything; the parameters are those of `simulate`."""
        chosen = resolve(algorithm, eta, within)
        values = _check_samples(samples)
        runs, _, n_agents = values.shape
        arriving = _check_arrivals(arrivals, values)
        if labels is None and chosen.class_test == ClassTest.KNOWN:
            raise ValueError(
                "this algorithm knows the true classes: pass labels=..., one per agent"
            )
        known = _check_contacts(contacts, gossip, n_agents)
        # Who never meets anybody else shares the risk among those it knows.
        gamma = split_risk(delta, n_agents if known is None or gossip else known.size)
        bounds = _check_bounds(sigma, bound, chosen.class_test, gamma, n_agents)
        return cls(
            samples=values,
            arrivals=arriving,
            bounds=bounds,
            contacts=known,
            gossip=gossip,
            trajectory=_blank_trajectory(
                runs,
                values.shape[1] if arriving is None else arriving.shape[1],
                _check_labels(labels, n_agents),
                chosen,
                algorithm if isinstance(algorithm, str) else _name_of(chosen),
                max(one.scale for one in bounds),
                float(delta),
                record or Record(),
            ),
        )

    @property
    def longest_row(self) -> int:
        """How many agents somebody knows at a time, itself included."""
        return self.trajectory.n_agents if self.contacts is None else self.contacts.size

    @property
    def gamma(self) -> float:
        """The risk of one test."""
        return self.bounds[0].gamma

    @property
    def slots(self) -> NDArray[np.int64]:
        """Where each step is kept in the trajectory; -1 if it is not."""
        slots = np.full(self.trajectory.horizon, -1)
        slots[self.trajectory.times - 1] = np.arange(self.trajectory.times.size)
        return slots

    def arrivals_of(self, run: int) -> NDArray[np.int32] | None:
        """Return how many samples arrive[time, agent] in one run; None: one at each step."""
        if self.arrivals is None:
            return None
        arrivals: NDArray[np.int32] = self.arrivals[run if self.arrivals.shape[0] > 1 else 0]
        return arrivals

    def suggestions_of(self, run: int) -> NDArray[np.int32]:
        """Return who is offered to each agent[time, agent] in one run; empty without gossip."""
        if self.gossip is None or self.contacts is None:
            return np.empty((0, 0), np.int32)
        return self.gossip.suggestions(self.contacts, self.trajectory.horizon, run)


def _blank_trajectory(
    runs: int,
    horizon: int,
    labels: NDArray[np.int64],
    algorithm: Algorithm,
    name: str,
    scale: float,
    delta: float,
    record: Record,
) -> Trajectory:
    if record.likely_counts and algorithm.weighting != Weighting.MODEL:
        raise ValueError(
            "a likely class is known only to algorithms that weigh by a model, like 'sharp'; "
            f"received weighting {algorithm.weighting.word!r} with Record(likely_counts=True)"
        )
    n_agents, n_classes = labels.size, int(labels.max()) + 1
    times = record.times(horizon, runs, n_agents, n_classes)
    # Kernels work agent by agent, so memory is laid out [agent, time]; readers see [time, agent].
    shape = (runs, n_agents, times.size)

    def counts(kept: bool) -> NDArray[np.int16 | np.int32] | None:
        return np.empty((*shape, n_classes), count_type(n_agents)).swapaxes(1, 2) if kept else None

    return Trajectory(
        estimates=np.empty(shape).swapaxes(1, 2) if record.estimates else None,
        class_counts=counts(record.class_counts),
        likely_counts=counts(record.likely_counts),
        times=times,
        labels=labels,
        algorithm=algorithm,
        name=name,
        horizon=horizon,
        sigma=scale,
        delta=delta,
    )


def _check_bounds(
    sigma: float | Sequence[float] | NDArray[np.float64] | None,
    bound: Bound | Iterable[Bound] | None,
    class_test: ClassTest,
    gamma: float,
    n_agents: int,
) -> tuple[Bound, ...]:
    """Return one bound for each agent, at the risk that is left for it."""
    if bound is None and sigma is not None and np.ndim(sigma) == 1:
        each = [choose_bound(class_test, float(one), None, gamma) for one in sigma]  # type: ignore[union-attr]
    elif isinstance(bound, str) or not isinstance(bound, Iterable):
        return (choose_bound(class_test, sigma, bound, gamma),) * n_agents  # type: ignore[arg-type]
    else:
        each = [choose_bound(class_test, sigma, one, gamma) for one in bound]  # type: ignore[arg-type]
    if len(each) != n_agents:
        raise ValueError(
            "sigma or bound must be one, or one for each of the "
            f"{n_agents} agents; received {len(each)}"
        )
    return tuple(each)


def _check_arrivals(
    arrivals: int | ArrayLike | None, samples: NDArray[np.float64]
) -> NDArray[np.int32] | None:
    """Return arrivals[run or 1, time, agent] that the samples suffice for; None: one a step."""
    runs, n_samples, n_agents = samples.shape
    if arrivals is None:
        return None
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


def _check_contacts(
    contacts: Contacts | None, gossip: Gossip | None, n_agents: int
) -> Contacts | None:
    """Return who knows whom; None: everybody knows everybody, which takes no memory."""
    if contacts is not None and contacts.n_agents != n_agents:
        raise ValueError(
            f"contacts are of {contacts.n_agents} agents; the samples are of {n_agents}"
        )
    known = None if contacts is None or contacts.is_everyone else contacts
    if gossip is not None and known is None:
        raise ValueError(
            "gossip helps agents that know only some others; pass contacts=..., for example "
            "colme.Contacts.random(n_agents, size=20)"
        )
    return known


def _name_of(algorithm: Algorithm) -> str:
    for name, preset in ALGORITHMS.items():
        if preset == algorithm:
            return name
    return f"{algorithm.query.word} {algorithm.weighting.word} eta={algorithm.eta:g}"


def _check_samples(samples: ArrayLike) -> NDArray[np.float64]:
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
    return values


def _check_labels(labels: ArrayLike | None, n_agents: int) -> NDArray[np.int64]:
    if labels is None:
        return np.zeros(n_agents, np.int64)
    values = np.asarray(labels)
    if values.shape != (n_agents,):
        raise ValueError(
            f"labels must hold one label for each of the {n_agents} agents; "
            f"received shape {values.shape}"
        )
    _check.labels(values, max(_MOST_CLASSES, n_agents))
    return values.astype(np.int64)
