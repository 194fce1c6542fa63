"""Means that change while streams run.

Lives here: changes, what follows from them for steps and samples, and who changes with whom.  Must
not know noise, seeds or algorithms.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Change:
    """From step `time` on, counted from 1, these agents have that mean.

    The sample of step `time` already has it.

    Examples
    --------
    >>> Change(time=100, agents=[0, 3], mean=0.8)
    Change(time=100, agents=(0, 3), mean=0.8)
    """

    time: int
    agents: tuple[int, ...]
    mean: float

    def __init__(self, time: int, agents: Iterable[int], mean: float) -> None:
        object.__setattr__(self, "time", _check.positive_int("time", time))
        object.__setattr__(self, "agents", _agents(agents))
        object.__setattr__(self, "mean", _check.sample("mean", mean))


def check_changes(changes: Iterable[Change], n_agents: int) -> tuple[Change, ...]:
    """Return the changes in order of time, or raise ValueError if they do not fit the fleet.

    Examples
    --------
    >>> later, sooner = Change(9, [0], 0.5), Change(4, [0, 1], 0.1)
    >>> [change.time for change in check_changes([later, sooner], n_agents=2)]
    [4, 9]
    """
    ordered = tuple(sorted(changes, key=operator.attrgetter("time")))
    at_step = Counter((change.time, agent) for change in ordered for agent in change.agents)
    for (time, agent), n_changes in at_step.items():
        if agent >= n_agents:
            raise ValueError(f"a change names agents 0 to {n_agents - 1}; received agent {agent}")
        if n_changes > 1:
            raise ValueError(
                f"an agent changes at most once per step; received {n_changes} changes of agent "
                f"{agent} at step {time}: keep one"
            )
    return ordered


def means_at(true_means: Array, changes: Sequence[Change], times: ArrayLike) -> Array:
    """Return the means [time, agent] at given steps, counted from 1; changes in order of time.

    Examples
    --------
    >>> means_at(np.zeros(2), [Change(3, [1], 0.5)], times=[2, 3, 4]).tolist()
    [[0.0, 0.0], [0.0, 0.5], [0.0, 0.5]]
    """
    steps = np.asarray(times)
    if steps.ndim != 1 or steps.dtype.kind not in "iu" or (steps < 1).any():
        raise ValueError(f"times must list whole numbers 1, 2, 3, ...; received {times!r}")
    means = np.tile(true_means, (steps.size, 1))
    for change in changes:
        means[np.ix_(steps >= change.time, np.array(change.agents))] = change.mean
    return means


class MeanShift(NamedTuple):
    """From this sample of its stream on, counted from 0, an agent has that mean.

    Examples
    --------
    >>> MeanShift(sample=3, agent=0, mean=0.8).sample
    3
    """

    sample: int
    agent: int
    mean: float


def mean_shifts(
    changes: Iterable[Change], batch: int = 1, arrivals: NDArray[np.int32] | None = None
) -> Iterator[MeanShift]:
    """Yield at which sample of which stream each change comes, in the order of the changes.

    A step brings `batch` samples, or arrivals[time, agent].

    Examples
    --------
    >>> arrivals = np.array([[2, 0], [0, 1], [1, 1]], np.int32)
    >>> list(mean_shifts([Change(2, [0], 1.0)], arrivals=arrivals))
    [MeanShift(sample=2, agent=0, mean=1.0)]
    """
    for change in changes:
        n_steps = change.time - 1
        for agent in change.agents:
            n_samples = n_steps * batch
            if arrivals is not None:
                n_samples = int(arrivals[:n_steps, agent].sum(dtype=np.int64))
            yield MeanShift(n_samples, agent, change.mean)


def cohorts_of(labels: NDArray[np.int64], changes: Sequence[Change]) -> NDArray[np.int64]:
    """Return the cohort of each agent: one label, and the same changes at the same steps.

    Agents that never change keep their label; the cohorts of the others are numbered on from the
    last label, in order of label and of changes.

    Examples
    --------
    >>> changes = [Change(5, [2], 0.1), Change(5, [1, 3], 0.1)]
    >>> cohorts_of(np.array([0, 0, 0, 1]), changes).tolist()
    [0, 2, 2, 3]
    """
    fates: dict[int, list[tuple[int, float]]] = {}
    for change in changes:
        for agent in change.agents:
            fates.setdefault(agent, []).append((change.time, change.mean))
    keys = {agent: (int(labels[agent]), fate) for agent, fate in fates.items()}
    cohorts = labels.astype(np.int64)
    number, last = int(labels.max()), None
    for agent, key in sorted(keys.items(), key=operator.itemgetter(1)):
        number += key != last
        cohorts[agent] = number
        last = key
    return cohorts


def _agents(values: Iterable[int]) -> tuple[int, ...]:
    try:
        agents = tuple(sorted(operator.index(value) for value in values))
    except TypeError:
        raise ValueError(
            f"agents must list whole numbers 0, 1, 2, ...; received {values!r}"
        ) from None
    if not agents or agents[0] < 0 or len(set(agents)) < len(agents):
        raise ValueError(
            f"agents must name at least one agent, each once and 0 or greater; received {values!r}"
        )
    return agents
