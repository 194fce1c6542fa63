"""Means that change while streams run.

Lives here: a change, the means that follow from several, and who changes with whom.  Must not know
noise, seeds or algorithms.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check

__all__ = ["Change", "check_changes", "cohorts_of", "means_at", "means_of_streams"]

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
    seen: set[tuple[int, int]] = set()
    for change in ordered:
        for agent in change.agents:
            if agent >= n_agents:
                raise ValueError(
                    f"a change names agents 0 to {n_agents - 1}; received agent {agent}"
                )
            if (change.time, agent) in seen:
                raise ValueError(
                    f"an agent changes at most once per step; received two changes of agent "
                    f"{agent} at step {change.time}: drop one"
                )
            seen.add((change.time, agent))
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


def means_of_streams(
    true_means: Array,
    changes: Sequence[Change],
    length: int,
    arrivals: NDArray[np.int32] | None = None,
) -> Array:
    """Return the mean of every sample of every stream, [sample, agent]; changes in order of time.

    Parameters
    ----------
    true_means
        The mean of each agent at the start.
    changes
        What changes, in order of time.
    length
        How many samples of each stream.
    arrivals
        How many samples each agent receives at each step, [time, agent]; one if not given.

    Examples
    --------
    >>> arrivals = np.array([[2, 0], [0, 1], [1, 1]], np.int32)
    >>> means_of_streams(np.zeros(2), [Change(2, [0, 1], 1.0)], 3, arrivals).tolist()
    [[0.0, 1.0], [0.0, 1.0], [1.0, 1.0]]
    """
    means = np.tile(true_means, (length, 1))
    for change in changes:
        for agent in change.agents:
            before = change.time - 1
            if arrivals is not None:
                before = int(arrivals[:before, agent].sum(dtype=np.int64))
            means[before:, agent] = change.mean
    return means


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
    if not agents or agents[0] < 0:
        raise ValueError(
            f"agents must list at least one agent, each 0 or greater; received {values!r}"
        )
    if len(set(agents)) < len(agents):
        raise ValueError(f"agents must name each agent once; received {values!r}")
    return agents
