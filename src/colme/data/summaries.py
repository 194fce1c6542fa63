"""Summaries: what is kept of a table, one line per agent, and the same for slices of time.

Lives here: counts, means and squares by agent, and how parts become one.  Must not know files,
noise or estimates.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check

Numbers: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]

_SEED = 0x5EED
"""Rows are dealt to halves by these draws: the same table always gives the same halves."""


class Halves(NamedTuple):
    """Each agent's samples dealt by chance to two halves: arrays [half, agent].

    What is learnt from one half can be judged by the other.  An agent without a sample in a half
    has there a count, a mean and squares of 0.

    Examples
    --------
    >>> table = Summaries.of(["a"] * 9, np.arange(9.0))
    >>> table.halves.counts.sum().item()
    9
    """

    counts: Counts
    means: Numbers
    squares: Numbers


@dataclass(frozen=True, eq=False)
class Summaries:
    """How many samples each agent has, their mean, and Σ (x - x̄)²; agents in order of their names.

    Parameters
    ----------
    agents
        Names, all different and in order: all text or all numbers.
    counts, means, squares
        One number per agent: samples (1 or more), their mean, Σ (x - x̄)².
    halves
        The same for two halves of each agent's samples; None if only totals are known.

    Examples
    --------
    >>> monday = Summaries.of(["b", "a", "b"], [1.0, 5.0, 3.0])
    >>> tuesday = Summaries.of(["c", "b"], [4.0, 5.0])
    >>> both = monday + tuesday
    >>> both.agents.tolist(), both.counts.tolist(), both.means.tolist(), both.squares.tolist()
    (['a', 'b', 'c'], [1, 3, 1], [5.0, 3.0, 4.0], [0.0, 8.0, 0.0])
    """

    agents: NDArray[Any]
    counts: Counts
    means: Numbers
    squares: Numbers
    halves: Halves | None = None

    def __post_init__(self) -> None:
        agents = _names(self.agents)
        counts = np.asarray(self.counts, dtype=np.int64)
        means, squares = (np.asarray(part, dtype=np.float64) for part in (self.means, self.squares))
        if not agents.shape == counts.shape == means.shape == squares.shape == (len(agents),):
            shapes = [part.shape for part in (agents, counts, means, squares)]
            raise ValueError(f"summaries have one entry per agent each; received {shapes}")
        if len(agents) > 1 and not bool(np.all(agents[1:] > agents[:-1])):
            raise ValueError("agents must be in order and all different; use Summaries.of")
        good = (counts >= 1) & (np.abs(means) <= _check.LARGEST_SAMPLE)
        good &= (squares >= 0) & (squares < np.inf)
        if not good.all():
            worst = int(np.argmin(good))
            raise ValueError(
                "an agent has 1 sample or more, a finite mean and finite squares from 0 on; "
                f"received {agents[worst]!s} with {counts[worst]}, {means[worst]}, {squares[worst]}"
            )
        for name, part in zip(vars(self), (agents, counts, means, squares), strict=False):
            object.__setattr__(self, name, part)
        if self.halves is not None and not np.array_equal(self.halves.counts.sum(axis=0), counts):
            raise ValueError("halves must have all samples of each agent, and no other")

    def __len__(self) -> int:
        return len(self.agents)

    def __add__(self, other: Summaries) -> Summaries:
        """Return the summaries of both tables together."""
        if not isinstance(other, Summaries):
            return NotImplemented
        parts = [part for part in (self, other) if len(part)]
        if len(parts) < 2:
            return parts[0] if parts else self
        if len({part.agents.dtype.kind in "iufb" for part in parts}) > 1:
            raise ValueError(
                "one table names agents by text, the other by numbers: make them alike"
            )
        names = np.concatenate([part.agents for part in parts])
        agents, place = np.unique(names, return_inverse=True)
        columns = zip(*[(part.counts, part.means, part.squares) for part in parts], strict=True)
        totals = (np.concatenate(column) for column in columns)
        halves = None
        if self.halves is not None and other.halves is not None:
            pairs = zip(self.halves, other.halves, strict=True)
            both = (np.concatenate(pair, axis=1).ravel() for pair in pairs)
            halves = _halves(len(agents), np.concatenate([place, place + len(agents)]), *both)
        return Summaries(agents, *_folded(len(agents), place, *totals), halves)

    @classmethod
    def of(cls, agents: ArrayLike, values: ArrayLike) -> Summaries:
        """Return the summaries of a table with one row per sample.

        Parameters
        ----------
        agents, values
            Whose sample, and the sample: arrays, lists, or columns of pandas, polars or Arrow.
        """
        names = _names(agents)
        try:
            samples = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"values must be numbers; {error}") from None
        if names.shape != samples.shape or samples.ndim != 1:
            raise ValueError(
                f"give one agent for each value; received shapes {names.shape} and {samples.shape}"
            )
        good = np.abs(samples) <= _check.LARGEST_SAMPLE
        if not good.all():
            row = int(np.argmin(good))
            raise ValueError(
                f"values must be finite numbers up to {_check.LARGEST_SAMPLE:g}; received "
                f"{samples[row]} in row {row}: drop such rows first"
            )
        found, place = np.unique(names, return_inverse=True)
        n = len(found)
        rows = np.ones(len(samples), np.int64), samples, np.zeros(len(samples))
        half = np.random.default_rng(_SEED).integers(2, size=len(samples))
        halves = _halves(n, place + n * half, *rows)
        return Summaries(found, *merged(halves), halves)


@dataclass(frozen=True, eq=False)
class Moments:
    """What each agent received in each slice of time.

    Parameters
    ----------
    agents
        Names in order, as in the `Summaries` of the whole table.
    ends
        The last time of each slice: numbers, or ISO text in UTC.
    counts, means, squares
        [slice, agent]: rows, their mean, Σ (x - x̄)²; all 0 where an agent has no row.
    halves
        The same for two halves of each agent's rows: [slice, half, agent]; None if not known.

    Examples
    --------
    >>> moments = Moments(
    ...     np.array(["a", "b"]), np.array([1, 2]), np.array([[1, 0], [1, 2]]),
    ...     np.array([[5.0, 0.0], [3.0, 1.0]]), np.array([[0.0, 0.0], [0.0, 2.0]]),
    ... )
    >>> len(moments), moments.until(0).agents.tolist(), moments.until(1).means.tolist()
    (2, ['a'], [4.0, 1.0])
    """

    agents: NDArray[Any]
    ends: NDArray[Any]
    counts: Counts
    means: Numbers
    squares: Numbers
    halves: Halves | None = None

    def __post_init__(self) -> None:
        shape = (len(self.ends), len(self.agents))
        received = [np.shape(part) for part in (self.counts, self.means, self.squares)]
        if any(part != shape for part in received):
            raise ValueError(f"moments have one entry per slice and agent: {shape}; got {received}")

    def __len__(self) -> int:
        return len(self.ends)

    def until(self, k: int) -> Summaries:
        """Return the summaries of slices 0 to k together, of the agents that have rows by then."""
        if not 0 <= k < len(self):
            raise ValueError(f"there are moments 0 to {len(self) - 1}; received {k}")
        parts = (self.counts, self.means, self.squares)
        counts, means, squares = merged(part[: k + 1] for part in parts)
        halves, here = None, counts > 0
        if self.halves is not None:
            n, mean, square = merged(part[: k + 1] for part in self.halves)
            halves = Halves(n[:, here], mean[:, here], square[:, here])
        return Summaries(self.agents[here], counts[here], means[here], squares[here], halves)


def merged(parts: Iterable[NDArray[Any]]) -> tuple[Counts, Numbers, Numbers]:
    """Return counts, means and squares of parts taken together: arrays lose their first axis.

    Examples
    --------
    >>> merged([np.array([[1], [1]]), np.array([[2.0], [4.0]]), np.zeros((2, 1))])
    (array([2]), array([3.]), array([2.]))

    Notes
    -----
    Σ (x - x̄)² over all = Σ over parts of their own + n_part (x̄_part - x̄)².  Differences from one
    of the means are summed, so that numbers far from 0 lose nothing.
    """
    counts, means, squares = parts
    total = counts.sum(axis=0)
    center = np.max(means, axis=0, where=counts > 0, initial=-np.inf)
    center = np.where(total > 0, center, 0.0)
    away = np.where(counts > 0, means - center, 0.0)
    shift = (counts * away).sum(axis=0) / np.maximum(total, 1)
    within = (squares + counts * (away - shift) ** 2).sum(axis=0)
    return total, center + shift, within


def _halves(n: int, place: NDArray[np.intp], *parts: NDArray[Any]) -> Halves:
    """Return the halves of n agents from parts; `place` counts on through the second half."""
    counts, means, squares = _folded(2 * n, place, *parts)
    return Halves(counts.reshape(2, n), means.reshape(2, n), squares.reshape(2, n))


def _folded(
    n: int, place: NDArray[np.intp], counts: Counts, means: Numbers, squares: Numbers
) -> tuple[Counts, Numbers, Numbers]:
    """Return counts, means and squares at n places, `place` telling where each part belongs.

    Σ (x - x̄)² over all = Σ over parts of their own + n_part (x̄_part - x̄)².
    """
    total = np.zeros(n, np.int64)
    np.add.at(total, place, counts)
    center = np.zeros(n)
    center[place] = means  # differences from one of the parts are summed: small numbers stay exact
    shift = np.bincount(place, counts * (means - center[place]), n)
    mean = np.where(total > 0, center + shift / np.maximum(total, 1), 0.0)
    within = np.bincount(place, squares + counts * (means - mean[place]) ** 2, n)
    return total, mean, within.astype(np.float64)


def _names(agents: ArrayLike) -> NDArray[Any]:
    """Return names as an array of numbers or of text; refuse those missing."""
    names = np.asarray(agents)
    if names.dtype.kind == "f" and np.isnan(names).any():
        raise ValueError("an agent is missing (NaN): every row needs one")
    if names.dtype.kind in "iufbUT":
        return names
    if names.dtype.kind == "M":
        return names.astype(str)
    plain = names.tolist()
    if not all(isinstance(name, str) for name in plain):
        strange = next(name for name in plain if not isinstance(name, str))
        raise ValueError(
            f"agents are named by text, or all by numbers; received {strange!r} among them"
        )
    return names
