"""Summaries: what is kept of a table, one line per agent.

Lives here: counts, means and squares by agent, and how two tables become one.  Must not know files,
noise or estimates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check

__all__ = ["Summaries"]


@dataclass(frozen=True, eq=False)
class Summaries:
    """How many samples each agent has, their mean, and Σ (x - x̄)²; agents in order of their names.

    Parameters
    ----------
    agents
        Names, all different and in order: all text or all numbers.
    counts, means, squares
        One number per agent: samples (1 or more), their mean, Σ (x - x̄)².

    Examples
    --------
    >>> monday = Summaries.of(["b", "a", "b"], [1.0, 5.0, 3.0])
    >>> tuesday = Summaries.of(["c", "b"], [4.0, 5.0])
    >>> both = monday + tuesday
    >>> both.agents.tolist(), both.counts.tolist(), both.means.tolist(), both.squares.tolist()
    (['a', 'b', 'c'], [1, 3, 1], [5.0, 3.0, 4.0], [0.0, 8.0, 0.0])
    """

    agents: NDArray[Any]
    counts: NDArray[np.int64]
    means: NDArray[np.float64]
    squares: NDArray[np.float64]

    def __post_init__(self) -> None:
        agents = _names(self.agents)
        counts = np.asarray(self.counts, dtype=np.int64)
        means, squares = (np.asarray(part, dtype=np.float64) for part in (self.means, self.squares))
        if not len(agents) == len(counts) == len(means) == len(squares):
            lengths = [len(part) for part in (agents, counts, means, squares)]
            raise ValueError(f"summaries have one entry per agent each; received {lengths}")
        if len(agents) > 1 and not bool(np.all(agents[1:] > agents[:-1])):
            raise ValueError("agents must be in order and all different; use Summaries.of")
        good = (counts >= 1) & (np.abs(means) <= _check.LARGEST_SAMPLE) & (squares >= 0)
        if not good.all():
            worst = int(np.argmin(good))
            raise ValueError(
                f"an agent has 1 sample or more, a finite mean and squares from 0 on; received "
                f"{agents[worst]!r} with {counts[worst]}, {means[worst]}, {squares[worst]}"
            )
        for name, part in zip(vars(self), (agents, counts, means, squares), strict=True):
            object.__setattr__(self, name, part)

    def __len__(self) -> int:
        return len(self.agents)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter((self.agents, self.counts, self.means, self.squares))

    def __add__(self, other: Summaries) -> Summaries:
        """Return the summaries of both tables together."""
        if not isinstance(other, Summaries):
            return NotImplemented
        kinds = {_kind(part.agents) for part in (self, other) if len(part)}
        if len(kinds) > 1:
            raise ValueError(
                "one table names agents by text, the other by numbers: make them alike"
            )
        parts = [part for part in (self, other) if len(part)] or [self]
        agents, place = np.unique(
            np.concatenate([part.agents for part in parts]), return_inverse=True
        )
        counts, means, squares = (
            np.concatenate([np.asarray(getattr(part, name)) for part in parts])
            for name in ("counts", "means", "squares")
        )
        return _folded(agents, place, counts, means, squares)

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
        ones = np.ones(len(samples), np.int64)
        return _folded(found, place, ones, samples, np.zeros(len(samples)))


def _folded(
    agents: NDArray[Any],
    place: NDArray[np.intp],
    counts: NDArray[np.int64],
    means: NDArray[np.float64],
    squares: NDArray[np.float64],
) -> Summaries:
    """Return the summaries of parts, `place` telling whose each is.

    Σ (x - x̄)² over all = Σ over parts of their own + n_part (x̄_part - x̄)².
    """
    n = len(agents)
    total = np.zeros(n, np.int64)
    np.add.at(total, place, counts)
    center = np.full(n, -np.inf)
    np.maximum.at(center, place, means)  # differences from it are summed: small numbers stay exact
    shift = np.bincount(place, counts * (means - center[place]), n)
    mean = center + shift / np.maximum(total, 1)
    within: NDArray[np.float64] = np.bincount(
        place, squares + counts * (means - mean[place]) ** 2, n
    )
    return Summaries(agents, total, mean, within)


def _kind(names: NDArray[Any]) -> str:
    return "numbers" if names.dtype.kind in "iufb" else "text"


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
