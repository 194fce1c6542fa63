"""Replaying: the table moment by moment, estimated as if it were then.

Lives here: the choice of moments, estimates at each, and the story in plain words.  Must not know
files, or how anything is shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme import _check
from colme.algorithm import Algorithm, resolve
from colme.data.estimating import Noise, estimate
from colme.data.estimating.noise import pooled_variance
from colme.data.reading import Moments
from colme.data.replaying.drifts import Drift, find_drifts
from colme.data.summaries import Summaries

__all__ = ["Replay", "replay"]

Numbers: TypeAlias = NDArray[np.float64]
Settings: TypeAlias = dict[str, Any]

_MOST, _LEAST = 20, 8
"""So many moments are estimated at most; and so many, however many agents there are."""
_WORK = 1_000_000
"""Between these, so many estimates in all."""
_NEAR = 0.1
"""An estimate has settled once it stays so near its last, in standard deviations of a sample."""
_MANY = 0.9
"""Estimates have settled once those of such a share of the agents have."""
_NAMED = 3
"""So many drifts are told in words."""


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
        The risk that anybody at all is named among the drifts though no mean changed.
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
    n_classes: NDArray[np.int64]
    drifts: tuple[Drift, ...]
    delta: float
    story: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.ends)

    def to_plain(self) -> dict[str, Any]:
        """Return everything as what JSON knows; what is not finite becomes None."""
        return {
            "agents": self.agents.tolist(),
            "ends": self.ends.tolist(),
            "estimates": _plain(self.estimates),
            "local": _plain(self.local),
            "n_classes": self.n_classes.tolist(),
            "drifts": [asdict(drift) for drift in self.drifts],
            "delta": self.delta,
            "story": list(self.story),
        }


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
    >>> moments = Moments(
    ...     np.arange(20), np.arange(8), np.full((8, 20), 60), samples.mean(axis=0),
    ...     60 * samples.var(axis=0),
    ... )
    >>> found = replay(moments)
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
    whole = moments.until(len(moments) - 1)
    noise, chosen = Noise.of(whole, sigma, value_range), resolve(algorithm, eta)
    delta = _check.risk("delta", delta)
    settings: Settings = {"algorithm": algorithm, "sigma": sigma, "value_range": value_range}
    settings |= {"delta": delta, "eta": eta}
    places = _chosen(moments)
    estimates, local, n_classes = _replayed(moments, places, settings, progress)
    ends = moments.ends[places]
    drifts = find_drifts(moments, noise, delta=delta, eta=chosen.eta)
    story = (
        *_classes_told(ends, n_classes),
        *_settling_told(ends, estimates, noise),
        *_drifts_told(moments, drifts, delta),
    )
    return Replay(moments.agents, ends, estimates, local, n_classes, drifts, delta, story)


def _chosen(moments: Moments) -> list[int]:
    """Return the slices after which estimates are made; the first and the last are among them."""
    most = min(max(_WORK // len(moments.agents), _LEAST), _MOST, len(moments))
    places: list[int] = np.linspace(0, len(moments) - 1, most).round().astype(int).tolist()
    return places


def _replayed(
    moments: Moments,
    places: list[int],
    settings: Settings,
    progress: Callable[[float], None] | None,
) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
    """Return estimates, own means and numbers of classes after each of these slices."""
    shape = len(places), len(moments.agents)
    estimates, local = np.full(shape, np.nan), np.full(shape, np.nan)
    n_classes = np.zeros(len(places), np.int64)
    for row, k in enumerate(places):
        table, here = moments.until(k), moments.counts[: k + 1].any(axis=0)
        local[row, here] = table.means
        estimates[row, here], n_classes[row] = _then(table, settings)
        if progress is not None:
            progress((row + 1) / len(places))
    return estimates, local, n_classes


def _then(table: Summaries, settings: Settings) -> tuple[Numbers, int]:
    """Return estimates and the number of classes; the own means while noise cannot be estimated."""
    given = settings["sigma"] is not None or settings["value_range"] is not None
    if not len(table) or (not given and pooled_variance(table) == 0):
        return table.means, 0
    found = estimate(table, **settings)
    return found.estimates, int(found.classes.max())


def _plain(values: Numbers) -> list[list[float | None]]:
    return [[x if math.isfinite(x) else None for x in row] for row in values.tolist()]


def _classes_told(ends: NDArray[Any], n_classes: NDArray[np.int64]) -> Iterator[str]:
    last = _several(int(n_classes[-1]), "class", "classes")
    if len(ends) == 1:
        yield f"There is one moment only, {ends[0]}, with {last}: nothing can be said of changes."
    else:
        first = _several(int(n_classes[0]), "class", "classes")
        yield (
            f"Seen at {len(ends)} moments from {ends[0]} to {ends[-1]}: {first} at first, {last} "
            "in the end."
        )


def _settling_told(ends: NDArray[Any], estimates: Numbers, noise: Noise) -> Iterator[str]:
    """Say from when on most estimates stay near their last."""
    if len(ends) == 1 or not noise.known:
        return
    near = _NEAR * noise.scale
    estimates = estimates[:, np.isfinite(estimates[-1])]
    stays = np.logical_and.accumulate((np.abs(estimates - estimates[-1]) <= near)[::-1])[::-1]
    first = int(np.argmax(stays.mean(axis=1) >= _MANY))
    what = f"within {near:.3g} of their last estimate, a tenth of the noise of one row"
    if first < len(ends) - 1:
        yield f"From {ends[first]} on, at least nine in ten agents stay {what}."
    else:
        yield f"Estimates were still moving in the end: fewer than nine in ten agents were {what}."


def _drifts_told(moments: Moments, drifts: tuple[Drift, ...], delta: float) -> Iterator[str]:
    if len(moments) == 1:
        return
    if not drifts:
        yield "No agent is shown to have drifted."
        return
    n, agents = len(drifts), _several(len(moments.agents), "agent", "agents")
    yield (
        f"{n} of {agents} drifted: their mean was not the same all the time. If no mean changed, "
        f"anybody at all would be named with probability {delta:g} at most."
    )
    for one in drifts[:_NAMED]:
        yield (
            f"{one.agent}: {one.before:.4g} until {one.when} ({one.n_before} rows), then "
            f"{one.after:.4g} ({one.n_after} rows)."
        )


def _several(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"
