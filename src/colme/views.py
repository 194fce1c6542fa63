"""What every agent says about itself, at every time of a run.

Lives here: whole streams summarised at once, for the compiled loops.  Must not know peers, labels
or algorithms.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled
from colme.bounds import Bound, Discounted, Evidence, Restarted, Stream, Windowed
from colme.bounds.adwin import Adwin
from colme.bounds.counted import Counted
from colme.bounds.discounted import Weights, next_weights
from colme.folding import (
    Watch,
    find_epochs,
    fold_discounted,
    fold_epochs,
    fold_windows,
    summarise,
)
from colme.summary import View, recentred

__all__ = ["BYTES_PER_VIEW", "Views", "seen", "tell", "told_by_counts", "views_of"]

Array: TypeAlias = NDArray[np.float64]


class Views(NamedTuple):
    """Every agent's view of itself: each field is one of `View`, [agent, time].

    Precisions are missing: who looks has to estimate them.

    Examples
    --------
    >>> ones = np.ones((1, 1))
    >>> Views(*[ones] * 8).means.shape
    (1, 1)
    """

    means: Array
    counts: Array
    radii: Array
    spreads: Array
    slopes: Array
    offsets: Array
    squares: Array
    epochs: Array


BYTES_PER_VIEW = 8 * len(Views._fields)
"""What the view of one agent at one step takes, if nothing of it is shared."""


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


def views_of(
    samples: Array,
    bounds: Sequence[Bound],
    *,
    with_squares: bool,
    arrivals: NDArray[np.integer[Any]] | None = None,
) -> Views:
    """Return the views of one run's samples[k, agent]; `bounds` are one for each agent.

    `arrivals`[time, agent] says how many samples of its stream an agent receives at each step;
    without it, one.  Samples that never arrive are not looked at.  Squares are zero unless they
    are asked for.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> views = views_of(np.ones((3, 2)), [Laplace(0.5, 0.05)] * 2, with_squares=True)
    >>> views.counts[1].tolist(), views.radii.shape
    ([1.0, 2.0, 3.0], (2, 3))
    >>> arrivals = np.array([[0, 1], [2, 0]])
    >>> views_of(
    ...     np.ones((3, 2)), [Laplace(0.5, 0.05)] * 2, with_squares=True, arrivals=arrivals
    ... ).counts.tolist()
    [[0.0, 2.0], [1.0, 1.0]]

    Notes
    -----
    The compiled loops are compiled anew for each layout of their arrays.  There are two: one
    stationary `Counted` bound for all, one sample per step, has counts, shapes and epochs
    broadcast over agents; anything else, a lone agent too, has eight arrays of its own.
    """
    alike = arrivals is None and samples.shape[1] > 1 and len(set(bounds)) == 1
    if alike and isinstance(bounds[0], Counted):
        return _shared(samples, bounds[0], with_squares)
    arrived = None if arrivals is None else _arrived(arrivals, samples)
    n_times = len(samples) if arrived is None else arrived.shape[1]
    fields = np.empty((8, samples.shape[1], n_times))
    for bound in dict.fromkeys(bounds):
        who = np.array([other == bound for other in bounds])
        if arrived is None:
            fields[:, who] = _fields(bound, np.ascontiguousarray(samples[:, who]))
        else:
            fields[:, who] = _spread(bound, samples[:, who], arrived[who])
    if not with_squares:
        fields[6] = 0.0
    return Views(*fields)


def _shared(samples: Array, bound: Counted, with_squares: bool) -> Views:
    horizon, n_agents = samples.shape
    means = np.empty((n_agents, horizon))
    squares = np.zeros(means.shape)
    mean, square = np.zeros((2, n_agents))
    summarise(samples, 0, mean, square, means, squares if with_squares else squares[:0])
    counts = np.broadcast_to(np.arange(1.0, horizon + 1), means.shape)
    tables = np.broadcast_to(told_by_counts(bound, horizon), (4, *means.shape))
    radii, spreads, slopes, offsets = tables
    epochs = np.broadcast_to(0.0, means.shape)
    return Views(means, counts, radii, spreads, slopes, offsets, squares, epochs)


def _arrived(arrivals: NDArray[np.integer[Any]], samples: Array) -> NDArray[np.int64]:
    """Return how many samples each agent has by each step, [agent, time]."""
    counts = np.asarray(arrivals)
    if counts.ndim != 2 or counts.shape[1] != samples.shape[1] or counts.dtype.kind not in "iu":
        raise ValueError(
            f"arrivals must be whole numbers [time, agent] for {samples.shape[1]} agents; "
            f"received {counts.dtype} of shape {counts.shape}"
        )
    arrived = np.ascontiguousarray(counts.astype(np.int64).cumsum(axis=0).T)
    if counts.min(initial=0) < 0 or arrived.max(initial=0) > len(samples):
        raise ValueError(
            f"arrivals must be 0 or more and add up to at most the {len(samples)} samples of an "
            f"agent; received {counts.min(initial=0)} as the least and "
            f"{arrived.max(initial=0)} together: draw more samples"
        )
    return arrived


def _spread(bound: Bound, samples: Array, arrived: NDArray[np.int64]) -> Array:
    """Return the fields [8, agent, time] of samples that arrive as they do."""
    blank = View()
    columns = [blank.mean, blank.n_samples, blank.radius, blank.spread, blank.slope]
    columns += [blank.offset, blank.squares, blank.epoch]
    fields = np.empty((8, *arrived.shape))
    fields[:] = np.reshape(columns, (8, 1, 1))
    most = int(arrived.max(initial=0))
    if most:
        looked_at = np.arange(most)[:, None] < arrived[:, -1]
        samples = samples[:most]
        # Any good sample may stand where none arrives: what follows from it is never seen.
        by_sample = _fields(bound, np.where(looked_at, samples, samples[looked_at][0]))
        index = np.broadcast_to(np.maximum(arrived - 1, 0), fields.shape)
        np.copyto(fields, np.take_along_axis(by_sample, index, 2), where=arrived > 0)
    return fields


def _fields(bound: Bound, samples: Array) -> Array:
    """Return all fields [8, agent, sample] of streams under one bound."""
    horizon, n_agents = samples.shape
    fields = np.zeros((8, n_agents, horizon))
    means, counts, squares, epochs = fields[0], fields[1], fields[6], fields[7]
    age = np.arange(horizon)
    if isinstance(bound, Restarted):
        _find_epochs(bound, samples, epochs)
        fold_epochs(samples, epochs, means, counts, squares)
        fields[2:6] = _told_by_epochs(bound.bound, samples, counts)
        return fields
    if isinstance(bound, Windowed):
        length = min(bound.length, len(samples))
        fold_windows(samples, bound.length, np.empty((2, length)), means, squares)
        counts[:], epochs[:] = np.minimum(age + 1, bound.length), age // bound.length
    elif isinstance(bound, Discounted):
        weights, counts[:], share = _weights(bound.factor, horizon)
        fold_discounted(samples, bound.factor, weights, means, squares)
        squares *= share
        epochs[:] = age // bound.memory
    else:
        mean, square = np.zeros((2, n_agents))
        summarise(samples, 0, mean, square, means, squares)
        counts[:] = age + 1
    fields[2:6] = _told_alike(bound, samples)
    return fields


@lru_cache(maxsize=16)
def _weights(factor: float, horizon: int) -> tuple[Array, Array, Array]:
    """Return Σw before each sample, and after it the count and the share of the squares."""
    weights, before = Weights(), []
    counts, share = [], []
    for _ in range(horizon):
        before.append(weights.total)
        weights = next_weights(weights, factor)
        counts.append(weights.whole)
        share.append(weights.share)
    return np.array(before), np.array(counts, dtype=np.float64), np.array(share)


def _find_epochs(bound: Restarted, samples: Array, epochs: Array) -> None:
    if bound.detector == "sequences":
        find_epochs(samples, bound.scale, -math.log(bound.alarm), Watch.blank(), epochs)
        return
    for a, column in enumerate(samples.T.tolist()):
        detector, epoch = Adwin(bound.alarm), 0
        for t, sample in enumerate(column):
            epochs[a, t] = epoch
            if detector.changed(sample):
                detector, epoch = Adwin(bound.alarm), epoch + 1


def _told_by_epochs(bound: Bound, samples: Array, counts: Array) -> Array:
    """Return what is told by streams that begin anew wherever the count is 1."""
    horizon, n_agents = samples.shape
    if isinstance(bound, Counted):
        return told_by_counts(bound, horizon)[:, 0, counts.astype(np.int64) - 1]
    told = np.empty((4, n_agents, horizon))
    agents, starts = np.nonzero(counts == 1)
    ends = np.where(np.append(agents[1:], -1) == agents, np.append(starts[1:], 0), horizon)
    by_length = np.argsort(starts - ends, kind="stable")
    for part in np.array_split(by_length, math.ceil(agents.size / n_agents)):
        longest = int((ends - starts)[part].max())
        # Beyond its end an epoch is filled with its first sample; what it says there is not kept.
        rows = np.minimum(starts[part] + np.arange(longest)[:, None], horizon - 1)
        inside = np.arange(longest)[:, None] < (ends - starts)[part]
        padded = np.where(inside, samples[rows, agents[part]], samples[starts, agents][part])
        here = _told(bound, bound.stream(part.size), padded)
        for column, i in enumerate(part):
            told[:, agents[i], starts[i] : ends[i]] = here[:, column, : ends[i] - starts[i]]
    return told


def _told_alike(bound: Bound, samples: Array) -> Array:
    """Return radius, spread, slope and offset [4, agent, sample] of streams of equal counts."""
    within = bound.bound if isinstance(bound, Windowed | Discounted) else bound
    if isinstance(within, Counted):
        return told_by_counts(cast("Hashable", bound), len(samples))
    return _told(bound, bound.stream(samples.shape[1]), samples)


@lru_cache(maxsize=256)
def told_by_counts(bound: Any, n_counts: int, batch: int = 1) -> Array:
    """Return what is told where all follows from the count: one stream stands for every other.

    The four are radius, spread, slope and offset, [4, 1, count], after each `batch` samples.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> told_by_counts(Laplace(0.5, 0.05), 3).shape
    (4, 1, 3)
    """
    if not isinstance(bound, Counted):
        return _told(bound, bound.stream(), np.zeros(n_counts * batch))[:, :, batch - 1 :: batch]
    counts = range(batch, n_counts * batch + 1, batch)
    flat = np.fromiter(chain.from_iterable(map(bound.shape, counts)), np.float64, 3 * n_counts)
    shapes = flat.reshape(n_counts, 3).T
    radii = Evidence(0.0, *shapes).radius(-math.log(bound.gamma))
    return np.stack([radii, *shapes])[:, np.newaxis]


def _told(bound: Bound, stream: Stream[Any], samples: Array) -> Array:
    log_risk = -math.log(bound.gamma)
    told = np.empty((4, samples[0].size, len(samples)))
    for t, sample in enumerate(samples):
        stream.update(sample)
        told[:, :, t] = tell(stream, log_risk)
    return told


def tell(stream: Stream[Any], log_risk: float) -> Array:
    """Return what streams followed at once say now: radius, spread, slope and offset, [4, agent].

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> streams = Laplace(0.5, 0.05).stream(2)
    >>> streams.update([0.0, 1.0])
    >>> tell(streams, -math.log(0.05)).shape
    (4, 2)
    """
    evidence = recentred(stream.evidence, stream.mean)
    radius = evidence.radius(log_risk)
    return np.array([radius, evidence.spread, evidence.slope, evidence.offset]).reshape(4, -1)
