"""Estimates: what is found out about the agents of a table.

Lives here: the result and what each column means.  Must not know how anything is computed.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme.data.estimator.groups import TableEvidence, is_alike
from colme.data.estimator.noise import Noise
from colme.data.summaries import Counts, Numbers, Summaries

MEANINGS = {
    "agent": "name of the agent",
    "n": "its samples",
    "mean": "its local mean: the average of its own samples",
    "low": (
        "with probability 1 - delta its true mean is between low and high, at all times at once if "
        "samples keep coming; this holds whatever its peers are, if what is assumed of noise holds"
    ),
    "high": "see low",
    "estimate": "what its true mean is expected to be, with help of its peers; from low to high",
    "effective_n": "as many samples of its own would be expected to give as good a mean",
    "gain": "effective_n / n",
    "class": "number of its class, from the lowest mean on; its members are indistinguishable",
    "class_size": "agents in its class",
    "class_low": (
        "holds if its class is exactly the agents of its true mean: with probability 1 - delta "
        "that does not happen together with a true mean outside class_low to class_high; nothing "
        "is claimed if the class is wrong"
    ),
    "class_high": "see class_low",
    "alike": (
        "agents, itself included, that are indistinguishable from it: with probability 1 - delta/8 "
        "all agents of its true mean are among them"
    ),
}
"""What each column of the result means, exactly."""


@dataclass(frozen=True)
class Class:
    """One class of agents: how many, where, and how far the ends of its interval are.

    Examples
    --------
    >>> Class(number=1, size=2, samples=30, mean=0.4, low=0.1, high=0.7, shared=0).size
    2
    """

    number: int
    size: int
    samples: int
    mean: float
    low: float
    high: float
    shared: int
    """Members that are also indistinguishable from a testable agent of another class."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """Everything that is known about the agents of a table, in order of their names.

    Attributes
    ----------
    summaries, noise, algorithm, delta, eta
        What it was made from.
    low, high
        Each agent's own interval.
    estimates
        Each agent's mean, with help of its peers.
    effective_counts
        How many samples of its own would do as well; NaN if noise is unknown.
    classes
        The number of each agent's class, from 1.
    class_low, class_high
        The interval of its class.
    alike
        How many agents are indistinguishable from it, itself included.
    evidence
        What the joint test of two agents needs.
    notes
        Sentences about what is special in this table.

    Examples
    --------
    >>> from colme.data import estimate
    >>> rng = np.random.default_rng(0)
    >>> agents = np.repeat([f"store {i:02}" for i in range(40)], 90)
    >>> values = rng.normal(np.repeat(np.arange(40) % 2, 90), 1.0)
    >>> found = estimate(Summaries.of(agents, values))
    >>> [(one.size, round(one.mean, 2)) for one in found.class_table]
    [(20, -0.02), (20, 0.97)]
    >>> found["store 01"]["class"], len(found.members("store 01"))
    (2, 20)
    """

    summaries: Summaries
    noise: Noise
    algorithm: str
    delta: float
    eta: float
    low: Numbers
    high: Numbers
    estimates: Numbers
    effective_counts: Numbers
    classes: Counts
    class_low: Numbers
    class_high: Numbers
    alike: Counts
    evidence: TableEvidence
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.estimates)

    def __getitem__(self, agent: Any) -> dict[str, Any]:
        """Return what is known about one agent, by column."""
        place = self._place(agent)
        return next(self.rows(slice(place, place + 1)))

    def rows(self, places: slice | NDArray[np.intp]) -> Iterator[dict[str, Any]]:
        """Yield what is known about some agents, by column, as plain values."""
        columns = [column[places].tolist() for column in self.columns.values()]
        return (dict(zip(self.columns, row, strict=True)) for row in zip(*columns, strict=True))

    @cached_property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The result by column; `MEANINGS` says what each is."""
        return {
            "agent": self.summaries.agents,
            "n": self.summaries.counts,
            "mean": self.summaries.means,
            "low": self.low,
            "high": self.high,
            "estimate": self.estimates,
            "effective_n": self.effective_counts,
            "gain": self.effective_counts / self.summaries.counts,
            "class": self.classes,
            "class_size": np.bincount(self.classes)[self.classes],
            "class_low": self.class_low,
            "class_high": self.class_high,
            "alike": self.alike,
        }

    @property
    def gains(self) -> Numbers:
        """How many times its own samples each agent's estimate is worth."""
        return self.columns["gain"]

    @property
    def class_sizes(self) -> Counts:
        """How many agents are in the class of each agent."""
        return self.columns["class_size"]

    @property
    def untestable(self) -> NDArray[np.bool_]:
        """Which agents have so few samples that no distance would separate them from anybody."""
        return np.isinf(self.evidence.spreads)

    @cached_property
    def class_table(self) -> tuple[Class, ...]:
        """The classes, from the lowest mean on."""
        n, k, untestable = self.summaries.counts, self.classes, self.untestable
        sizes, samples = np.bincount(k), np.bincount(k, n)
        totals = np.bincount(k, n * self.summaries.means)
        untestable_elsewhere = untestable.sum() - np.bincount(k, untestable)[k]
        shared = np.bincount(k, self.alike > sizes[k] + untestable_elsewhere)
        numbers, first = np.unique(k, return_index=True)
        means, ends = totals[numbers] / samples[numbers], (self.class_low, self.class_high)
        counts = (part[numbers].astype(int) for part in (sizes, samples, shared))
        size, rows, others = (part.tolist() for part in counts)
        low, high = (part[first].tolist() for part in ends)
        return tuple(map(Class, numbers.tolist(), size, rows, means.tolist(), low, high, others))

    def members(self, agent: Any) -> NDArray[Any]:
        """Return the names in the class of an agent."""
        here = self.classes == self.classes[self._place(agent)]
        return np.asarray(self.summaries.agents[here])

    def indistinguishable_from(self, agent: Any) -> NDArray[Any]:
        """Return the names of all agents that the joint test cannot distinguish from an agent."""
        return np.asarray(self.summaries.agents[is_alike(self._place(agent), self.evidence)])

    def not_told_from(self, agent: Any) -> NDArray[Any]:
        """Return `indistinguishable_from(agent)`, its present name."""
        message = "Estimates.not_told_from is now indistinguishable_from"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return self.indistinguishable_from(agent)

    def _place(self, agent: Any) -> int:
        found = np.flatnonzero(self.summaries.agents == agent)
        if not len(found):
            some = ", ".join(map(str, self.summaries.agents[:5]))
            raise ValueError(f"there is no agent {agent!r}; agents are {some}, ...")
        return int(found[0])
