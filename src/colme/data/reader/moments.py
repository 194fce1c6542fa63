"""Moments: a table in order of time, cut into slices of about equally many rows.

Lives here: counts, means and squares by slice and agent, and their fold up to a moment.  Must not
know files or estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme.data.summaries import Counts, Halves, Numbers, Summaries, merged


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
