"""From true means, their changes, arrivals and noise to the samples of a run.

Lives here: how long streams are, and what is written into them.  Must not know classes, seeds or
algorithms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check
from colme.arrivals import check_arrivals
from colme.problem.changes import Change, means_of_streams
from colme.problem.flow import Flow

__all__ = ["arrivals_of_runs", "fill_run", "length_of"]

Array = NDArray[np.float64]
Arrived = NDArray[np.int32] | None
"""How many samples each agent receives at each step, [time, agent]; None: one."""


def arrivals_of_runs(
    arrivals: ArrayLike | None,
    horizon: int,
    runs: int,
    n_agents: int,
    changes: Sequence[Change] = (),
) -> list[Arrived]:
    """Return the arrivals of each run, or raise ValueError if they or changes miss the horizon.

    Examples
    --------
    >>> arrivals_of_runs(None, horizon=2, runs=3, n_agents=1)
    [None, None, None]
    >>> [one.tolist() for one in arrivals_of_runs([[1], [2]], horizon=2, runs=1, n_agents=1)]
    [[[1], [2]]]
    """
    horizon = _check.positive_int("horizon", horizon)
    last = max((change.time for change in changes), default=1)
    if last > horizon:
        raise ValueError(
            f"changes must lie within the {horizon} steps of the horizon; received one at step "
            f"{last}: drop it or draw more steps"
        )
    if arrivals is None:
        return [None] * runs
    counts = check_arrivals(arrivals, runs, n_agents)
    if counts.shape[1] != horizon:
        raise ValueError(
            f"arrivals must tell each of the {horizon} steps; received {counts.shape[1]} steps"
        )
    return [counts[run % len(counts)] for run in range(runs)]


def length_of(arrivals: Arrived, horizon: int) -> int:
    """Return how many samples the longest stream has, at least one.

    Examples
    --------
    >>> length_of(None, 3), length_of(np.array([[0, 5], [1, 1], [0, 0]], np.int32), 3)
    (3, 6)
    """
    if arrivals is None:
        return horizon
    return max(1, int(arrivals.sum(axis=0, dtype=np.int64).max()))


def fill_run(
    flow: Flow, true_means: Array, changes: Sequence[Change], arrivals: Arrived, out: Array
) -> None:
    """Write the streams of one run into out[sample, agent]; beyond the longest, only means.

    The flow is one that was not used yet, and knows nothing of changes if there are arrivals:
    then a change comes at another sample of each stream.

    Examples
    --------
    >>> from colme.noise import Bernoulli
    >>> out, changes = np.empty((3, 1)), [Change(2, [0], 1.0)]
    >>> fill_run(Flow(Bernoulli(), np.zeros(1), changes), np.zeros(1), changes, None, out)
    >>> out.tolist()
    [[0.0], [1.0], [1.0]]
    """
    length = length_of(arrivals, len(out))
    means = true_means
    if arrivals is not None and changes:
        means = means_of_streams(true_means, changes, length, arrivals)
        flow.fill_around(means, out[:length])
    else:
        flow.fill(out[:length])
    out[length:] = means if means.ndim == 1 else means[-1]
