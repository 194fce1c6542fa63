"""How estimates evolved: a table moment by moment, each time from the rows known by then.

Lives here: the choice of moments, estimates at each, and the story in plain words.  Must not know
files, or how anything is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme import _check
from colme.algorithm import Algorithm, resolve
from colme.bounds.known_noise import KnownNoise
from colme.data.drifts import Drift, find_drifts
from colme.data.estimator import Noise, estimate
from colme.data.estimator.noise import pooled_variance
from colme.data.estimator.story import several, short_name
from colme.data.plain import as_plain
from colme.data.summaries import Counts, Moments, Numbers

# Estimates are made at most at 20 moments, and at 8 however many agents there are; between these,
# a million estimates in all.
_MAX_MOMENTS, _MIN_MOMENTS, _MAX_ESTIMATES = 20, 8, 1_000_000
# An estimate has settled once it stays this near its last, in standard deviations of a sample.
_NEAR = 0.1
# Estimates have settled once those of this share of the agents have.
_MANY = 0.9
# At most this many drifts are described in words.
_MAX_NAMED = 3


@dataclass(frozen=True, eq=False)
class Replay:
    """How estimates evolved, and whose mean changed.

    Parameters
    ----------
    agents
        Names in order.
    ends
        The moments: everything up to and including this time was known.
    estimates, local
        [moment, agent]: each agent's mean with help of its peers, and the mean of its own rows; NaN
        before its first row.
    n_classes
        How many classes were found at each moment; 0 while noise could not be estimated.
    drifts
        Agents whose mean was not the same all the time, those with most evidence first.
    delta
        The risk that any agent is named among the drifts though no mean changed.
    story
        What happened, in plain sentences.

    Examples
    --------
    >>> nan = float("nan")
    >>> one = Replay(
    ...     np.array(["a", "b"]), np.array([1, 2]), np.array([[0.5, nan], [0.6, 2.0]]),
    ...     np.array([[0.5, nan], [0.7, 2.0]]), np.array([1, 2]), (), 0.05, (),
    ... )
    >>> one.to_plain()["estimates"]
    [[0.5, None], [0.6, 2.0]]
    """

    agents: NDArray[Any]
    ends: NDArray[Any]
    estimates: Numbers
    local: Numbers
    n_classes: Counts
    drifts: tuple[Drift, ...]
    delta: float
    story: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.ends)

    def to_plain(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; what is not finite becomes None."""
        plain: dict[str, Any] = as_plain(self)
        return plain


def replay(
    moments: Moments,
    *,
    algorithm: str | Algorithm = "sharp",
    sigma: float | None = None,
    value_range: tuple[float, float] | None = None,
    delta: float = 0.05,
    eta: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> Replay:
    """Return how estimates evolved from moment to moment, and which agents drifted.

    Parameters
    ----------
    moments
        The table cut in time, by `read` with a column of times.
    algorithm, sigma, value_range, delta, eta
        As in `estimate`; delta is also the risk of all drifts together.
    progress
        Called with the share of the work that is done.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.array([[0.0] * 10 + [1.0] * 10] * 8)
    >>> truth[4:, 3] = 3.0  # one agent changes
    >>> samples = rng.normal(truth, 1.0, (60, 8, 20))
    >>> parts = np.full((8, 20), 60), samples.mean(axis=0), 60 * samples.var(axis=0)
    >>> found = replay(Moments(np.arange(20), np.arange(8), *parts))
    >>> found.estimates.shape, [(drift.agent, drift.when) for drift in found.drifts]
    ((8, 20), [(3, 3)])

    Notes
    -----
    One `estimate` for each of at most 20 moments, spread evenly over the slices; from 50 000 agents
    on fewer, down to 8.  The last estimates are those of the whole table if the moments know the
    halves of each agent's samples, as those of `read` do.
    """
    if not moments.counts.any():
        raise ValueError("there are no rows: the table is empty")
    delta, n = _check.risk("delta", delta), len(moments.agents)
    known = KnownNoise(sigma, value_range)
    find = partial(estimate, algorithm=algorithm, sigma=sigma, value_range=value_range, eta=eta)
    most = min(max(_MAX_ESTIMATES // n, _MIN_MOMENTS), _MAX_MOMENTS, len(moments))
    places = np.linspace(0, len(moments) - 1, most).round().astype(int)
    (estimates, local), n_classes = np.full((2, most, n), np.nan), np.zeros(most, np.int64)
    noise = Noise.of(moments.until(len(moments) - 1), sigma, value_range)
    drifts = find_drifts(moments, noise, delta=delta, eta=resolve(algorithm, eta).eta)
    for row, k in enumerate(places.tolist()):
        table, here = moments.until(k), moments.counts[: k + 1].any(axis=0)
        local[row, here] = estimates[row, here] = table.means
        # While noise cannot be estimated the own means stand for the estimates.
        if len(table) and (known.scale is not None or pooled_variance(table) != 0):
            found = find(table, delta=delta)
            estimates[row, here], n_classes[row] = found.estimates, int(found.classes.max())
        if progress is not None:
            progress((row + 1) / most)
    ends = moments.ends[places]
    story = (*_evolved(ends, n_classes, estimates, noise), *_drifted(moments, drifts, delta))
    return Replay(moments.agents, ends, estimates, local, n_classes, drifts, delta, story)


def _evolved(
    ends: NDArray[Any], n_classes: Counts, estimates: Numbers, noise: Noise
) -> Iterator[str]:
    """Say how many classes there were, and from when on most estimates stay near their last."""
    first, last = (several(int(n_classes[k]), "class", "classes") for k in (0, -1))
    if len(ends) == 1:
        yield f"There is one moment only, {ends[0]}, with {last}: nothing can be said of changes."
        return
    yield (
        f"Seen at {len(ends)} moments from {ends[0]} to {ends[-1]}: {first} at first, {last} in "
        "the end."
    )
    if not noise.known:
        return
    near = _NEAR * noise.scale
    estimates = estimates[:, np.isfinite(estimates[-1])]
    stays = np.logical_and.accumulate((np.abs(estimates - estimates[-1]) <= near)[::-1])[::-1]
    settled = int(np.argmax(stays.mean(axis=1) >= _MANY))
    what = f"within {near:.3g} of their last estimate, a tenth of the noise of one row"
    if settled < len(ends) - 1:
        yield f"From {ends[settled]} on, at least nine in ten agents stay {what}."
    else:
        yield f"Estimates were still moving in the end: fewer than nine in ten agents were {what}."


def _drifted(moments: Moments, drifts: tuple[Drift, ...], delta: float) -> Iterator[str]:
    if len(moments) == 1:
        return
    if not drifts:
        yield "No agent is shown to have drifted."
        return
    yield (
        f"{len(drifts)} of {several(len(moments.agents), 'agent', 'agents')} drifted: their mean "
        "was not the same all the time. If no mean changed, the probability that any agent is "
        f"named is at most {delta:g}."
    )
    for one in drifts[:_MAX_NAMED]:
        yield (
            f"{short_name(one.agent)}: {one.before:.4g} until {one.when} ({one.n_before} rows), "
            f"then {one.after:.4g} ({one.n_after} rows)."
        )
