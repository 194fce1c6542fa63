"""Samples that a user hands in, checked.

Lives here: their shape, their size, and when they reach their agents.  Must not know algorithms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check
from colme.arrivals import check_arrivals
from colme.bounds import Bound
from colme.summary import BlockViews


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
