"""What a simulation is asked to keep.

Lives here: `Record`, and the memory that follows from it.  Must not know how anything is computed.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colme import _check

DEFAULT_LIMIT = 1 << 30
"""One trajectory takes at most this many bytes (1 GiB) unless another limit is given."""


@dataclass(frozen=True)
class Record:
    """What a simulation keeps.

    Parameters
    ----------
    estimates, class_counts, likely_counts
        Whether each array is kept.
    every
        Keep every n-th step (and always the last).  By default every step if the arrays fit
        in `limit` bytes, otherwise as many as fit, with a warning that says so.
    limit
        Most bytes the kept arrays may take when `every` is not given.

    Examples
    --------
    >>> Record(every=10).times(horizon=25, runs=1, n_agents=2, n_classes=1).tolist()
    [10, 20, 25]
    """

    estimates: bool = True
    class_counts: bool = True
    likely_counts: bool = False
    every: int | None = None
    limit: int = DEFAULT_LIMIT

    def __post_init__(self) -> None:
        if self.every is not None:
            _check.positive_int("every", self.every)
        _check.positive_int("limit", self.limit)

    def bytes_per_time(self, runs: int, n_agents: int, n_classes: int) -> int:
        """Return what one kept time step costs."""
        count = np.dtype(count_type(n_agents)).itemsize
        n_counts = self.class_counts + self.likely_counts
        return runs * n_agents * (8 * self.estimates + count * n_classes * n_counts)

    def times(self, horizon: int, runs: int, n_agents: int, n_classes: int) -> NDArray[np.int64]:
        """Return the time steps kept, counted from 1."""
        every = self.every
        if every is None:
            each = self.bytes_per_time(runs, n_agents, n_classes)
            n_fitting = max(1, self.limit // each) if each else horizon
            every = max(1, -(-horizon // n_fitting))
            if every > 1:
                warnings.warn(
                    f"keeping every step would take {horizon * each / 2**30:.1f} GiB; "
                    f"keeping every {every}th (pass record=colme.Record(...) to choose)",
                    stacklevel=3,
                )
        times = np.arange(every, horizon + 1, every, dtype=np.int64)
        return times if times.size and times[-1] == horizon else np.append(times, horizon)


def count_type(n_agents: int) -> type[np.int16] | type[np.int32]:
    """Return the smallest integer type that can count that many agents.

    Examples
    --------
    >>> count_type(200)
    <class 'numpy.int16'>
    """
    return np.int16 if n_agents <= np.iinfo(np.int16).max else np.int32
