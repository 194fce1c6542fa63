"""What every agent says about itself, at every time of a run.

Lives here: whole streams summarised at once, for the compiled loops.  Must not know peers, labels
or algorithms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled, kernel
from colme.bounds import Bound, Stream, folded_mean, folded_squares
from colme.bounds.counted import Counted
from colme.summary import View, recentred

__all__ = ["Views", "seen", "summarise", "views_of"]

_VECTOR = 16
"""Agents that are summarised at once."""


class Views(NamedTuple):
    """Every agent's view of itself: each field is one of `View`, [agent, time].

    Precisions are missing: who looks has to estimate them.

    Examples
    --------
    >>> ones = np.ones((1, 1))
    >>> Views(*[ones] * 8).means.shape
    (1, 1)
    """

    means: NDArray[np.float64]
    counts: NDArray[np.float64]
    radii: NDArray[np.float64]
    spreads: NDArray[np.float64]
    slopes: NDArray[np.float64]
    offsets: NDArray[np.float64]
    squares: NDArray[np.float64]
    epochs: NDArray[np.float64]


@compiled
def seen(views: Views, l: int, t: int) -> View:
    """Return what agent l says at time t.

    Examples
    --------
    >>> ones = np.ones((1, 1))
    >>> float(seen(Views(*[ones] * 8), 0, 0).mean)
    1.0
    """
    return View(
        views.means[l, t],
        views.counts[l, t],
        views.radii[l, t],
        0.0,
        views.spreads[l, t],
        views.slopes[l, t],
        views.offsets[l, t],
        views.squares[l, t],
        views.epochs[l, t],
    )


@kernel
def summarise(
    samples: NDArray[np.float64], means: NDArray[np.float64], squares: NDArray[np.float64]
) -> None:
    """Fold every column of samples[time, agent] into means and squares[agent, time].

    Squares, Σ (x - x̄)², are left out if the array has no agents.

    Examples
    --------
    >>> means, squares = np.empty((1, 2)), np.empty((1, 2))
    >>> summarise(np.array([[1.0], [2.0]]), means, squares)
    >>> means.tolist(), squares.tolist()
    ([[1.0, 1.5]], [[0.0, 0.5]])
    """
    horizon, n_agents = samples.shape
    # Samples lie agent beside agent, means time beside time: a few agents at once suit both.
    for first in range(0, n_agents, _VECTOR):
        last = min(first + _VECTOR, n_agents)
        for a in range(first, last):
            means[a, 0] = samples[0, a]
        for t in range(1, horizon):
            for a in range(first, last):
                means[a, t] = folded_mean(means[a, t - 1], t, samples[t, a])
    for a in range(squares.shape[0]):
        squares[a, 0] = 0.0
        for t in range(1, horizon):
            squares[a, t] = folded_squares(
                squares[a, t - 1], means[a, t - 1], means[a, t], samples[t, a]
            )


def views_of(samples: NDArray[np.float64], bounds: Sequence[Bound], *, with_squares: bool) -> Views:
    """Return the views of one run's samples[time, agent]; `bounds` are one for each agent.

    Squares are zero unless they are asked for.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> views = views_of(np.ones((3, 2)), [Laplace(0.5, 0.05)] * 2, with_squares=True)
    >>> views.counts[1].tolist(), views.radii.shape
    ([1.0, 2.0, 3.0], (2, 3))
    """
    horizon, n_agents = samples.shape
    means = np.empty((n_agents, horizon))
    squares = np.zeros(means.shape)
    summarise(samples, means, squares if with_squares else squares[:0])
    counts = np.broadcast_to(np.arange(1.0, horizon + 1), means.shape)
    if len(set(bounds)) == 1:
        tables = _tables(bounds[0], samples, means)
    else:
        tables = np.empty((4, *means.shape))
        for bound in set(bounds):
            who = np.array([other == bound for other in bounds])
            tables[:, who] = _tables(bound, samples[:, who], means[who])
    radii, spreads, slopes, offsets = tables
    epochs = np.broadcast_to(0.0, means.shape)
    return Views(means, counts, radii, spreads, slopes, offsets, squares, epochs)


def _tables(
    bound: Bound, samples: NDArray[np.float64], means: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return radius, spread, slope and offset [4, agent, time] of streams under one bound."""
    told = (
        _told_by_counts(bound, samples.shape[0])
        if isinstance(bound, Counted)
        else _told(bound, bound.stream(samples.shape[1]), samples)
    )
    return np.broadcast_to(told, (4, *means.shape))


@lru_cache(maxsize=16)
def _told_by_counts(bound: Counted, horizon: int) -> NDArray[np.float64]:
    """Return what is told where all follows from the count: one stream stands for every other."""
    return _told(bound, bound.stream(), np.zeros(horizon))


def _told(bound: Bound, stream: Stream[Any], samples: NDArray[np.float64]) -> NDArray[np.float64]:
    log_risk = -math.log(bound.gamma)
    told = np.empty((4, samples[0].size, len(samples)))
    for t, sample in enumerate(samples):
        stream.update(sample)
        evidence = recentred(stream.evidence, stream.mean)
        told[0, :, t] = evidence.radius(log_risk)
        told[1, :, t], told[2, :, t] = evidence.spread, evidence.slope
        told[3, :, t] = evidence.offset
    return told
