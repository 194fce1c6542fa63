"""Classes: which agents of a table the joint test tells apart, and groups in which it tells none.

Lives here: tests of all pairs over sorted summaries, and consistent groups.  Must not know noise or
estimates.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled, kernel
from colme.bounds import separated
from colme.data.estimating.threads import over_agents

__all__ = ["Told", "count_alike", "group", "is_alike"]

Numbers: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]

_STEP = 1.25
"""Agents whose evidence is spread alike, up to this factor, are searched together."""
_CARE = 1e-9
"""Bounds on distances are taken so much wider, so that rounding cannot hide a pair."""


class Told(NamedTuple):
    """What all agents say of their means: parabolas as evidence, and the test's risk.

    Attributes
    ----------
    centers, spreads, offsets
        Of each agent's evidence.
    log_risk
        ln(1/γ) of the test of each pair.
    eta
        Means that differ by no more than this count as equal.

    Examples
    --------
    >>> told = Told(np.array([0.0, 1.0]), np.full(2, 0.01), np.ones(2), 10.0, 0.0)
    >>> is_alike(0, told).tolist()
    [True, False]
    """

    centers: Numbers
    spreads: Numbers
    offsets: Numbers
    log_risk: float
    eta: float


@compiled
def _apart(a: int, b: int, told: Told) -> bool:
    """Return whether the means of two agents must differ by more than η."""
    distance = abs(told.centers[a] - told.centers[b]) - told.eta
    return separated(
        distance if distance > 0.0 else 0.0,
        told.spreads[a],
        math.inf,
        told.offsets[a],
        told.spreads[b],
        math.inf,
        told.offsets[b],
        told.log_risk,
    )


def is_alike(a: int, told: Told) -> NDArray[np.bool_]:
    """Return which agents the joint test does not tell from agent a; itself is one of them.

    Examples
    --------
    >>> told = Told(np.array([0.0, 0.3, 1.0]), np.full(3, 0.01), np.ones(3), 10.0, 0.0)
    >>> is_alike(1, told).tolist()
    [True, True, False]
    """
    distance = np.maximum(np.abs(told.centers - told.centers[a]) - told.eta, 0.0)
    spread = told.spreads + told.spreads[a]
    level = told.log_risk + told.offsets + told.offsets[a]
    alike: NDArray[np.bool_] = distance**2 < 2 * spread * level
    return alike


class _Shelf(NamedTuple):
    """Agents by spread, and by center within one shelf; and the extremes of each shelf."""

    order: Counts
    starts: Counts
    least_spread: Numbers
    most_spread: Numbers
    least_offset: Numbers
    most_offset: Numbers


def _shelve(told: Told) -> _Shelf:
    finite = np.isfinite(told.spreads)
    least = told.spreads.min(where=finite, initial=np.inf)
    steps = np.full(len(finite), -1.0)  # no evidence: a shelf of their own
    if finite.any() and least > 0:
        steps[finite] = np.floor(np.log(told.spreads[finite] / least) / math.log(_STEP))
    order = np.lexsort((told.centers, steps))
    starts = np.flatnonzero(np.diff(steps[order], prepend=np.nan, append=np.nan) != 0)
    spreads, offsets = told.spreads[order], told.offsets[order]
    return _Shelf(
        order,
        starts,
        np.minimum.reduceat(spreads, starts[:-1]),
        np.maximum.reduceat(spreads, starts[:-1]),
        np.minimum.reduceat(offsets, starts[:-1]),
        np.maximum.reduceat(offsets, starts[:-1]),
    )


@compiled
def _first_at(place: float, low: int, high: int, centers: Numbers) -> int:
    """Return the first of the sorted centers from low to high that is not below `place`."""
    while low < high:
        middle = (low + high) // 2
        if centers[middle] < place:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _count(
    first: int, last: int, told: Told, shelf: _Shelf, in_order: Told, result: Counts
) -> None:
    """Write how many agents are alike to each agent from first to last.

    On each shelf those within the least distance that can be told apart are counted, not visited;
    only those from there to the largest such distance are tested.
    """
    centers = in_order.centers
    for a in range(first, last):
        center, spread, offset = told.centers[a], told.spreads[a], told.offsets[a]
        n = 0
        for i in range(shelf.starts.shape[0] - 1):
            low, high = shelf.starts[i], shelf.starts[i + 1]
            level = told.log_risk + offset
            near = 2.0 * (spread + shelf.least_spread[i]) * (level + shelf.least_offset[i])
            far = 2.0 * (spread + shelf.most_spread[i]) * (level + shelf.most_offset[i])
            if near == math.inf:
                n += high - low
                continue
            near = (told.eta + math.sqrt(near)) * (1.0 - _CARE)
            far = (told.eta + math.sqrt(far)) * (1.0 + _CARE)
            left = _first_at(center - near, low, high, centers)
            right = _first_at(center + near, low, high, centers)
            n += right - left
            for l in range(_first_at(center - far, low, high, centers), left):
                n += not _apart(a, shelf.order[l], told)
            l = right
            while l < high and centers[l] <= center + far:
                n += not _apart(a, shelf.order[l], told)
                l += 1
        result[a] = n


def count_alike(told: Told) -> Counts:
    """Return how many agents the joint test does not tell from each agent, itself included.

    Examples
    --------
    >>> told = Told(np.array([0.0, 0.3, 1.0]), np.full(3, 0.01), np.ones(3), 10.0, 0.0)
    >>> count_alike(told).tolist()
    [2, 2, 1]

    Notes
    -----
    Of two agents with spreads q and q' the distance that tells them apart lies between that for
    the least and that for the largest spread on the shelf of the second.  Pairs closer or farther
    are counted by two searches; those between, at most a fraction of the pairs that survive, are
    tested one by one: O(A log A) and some of the surviving pairs, in memory O(A).
    """
    n = len(told.centers)
    shelf = _shelve(told)
    in_order = told._replace(centers=told.centers[shelf.order])
    result = np.zeros(n, np.int64)
    over_agents(n, lambda first, last: _count(first, last, told, shelf, in_order, result))
    return result


@kernel
def _walk(told: Told, labels: Counts, result: Counts) -> None:
    """Cut agents, in order, into runs in which no two are told apart and all have one label."""
    start, current = 0, 0
    low = high = told.centers[0]
    least_spread, least_offset = told.spreads[0], told.offsets[0]
    for i in range(told.centers.shape[0]):
        center, spread, offset = told.centers[i], told.spreads[i], told.offsets[i]
        reach = max(abs(center - low), abs(high - center)) - told.eta
        level = told.log_risk + offset + least_offset
        cut = labels[i] != labels[start]
        if (
            not cut
            and reach > 0.0
            and reach * reach >= 2.0 * (spread + least_spread) * level * (1.0 - _CARE)
        ):
            for l in range(start, i):
                if _apart(i, l, told):
                    cut = True
                    break
        if cut:
            current += 1
            start, low, high = i, center, center
            least_spread, least_offset = spread, offset
        result[i] = current
        low, high = min(low, center), max(high, center)
        least_spread, least_offset = min(least_spread, spread), min(least_offset, offset)


def group(told: Told, order: Counts, labels: Counts | None = None) -> Counts:
    """Return classes, numbered along `order`, in which no two agents are told apart.

    Parameters
    ----------
    told
        The evidence of all agents.
    order
        Agents in the order in which classes are cut, by their estimates for instance.
    labels
        Classes never cross these borders; None for no borders.

    Examples
    --------
    >>> told = Told(np.array([0.0, 0.3, 0.6, 0.9]), np.full(4, 0.005), np.ones(4), 10.0, 0.0)
    >>> count_alike(told).tolist()  # 0 is like 1, 1 is like 2, but 0 is not like 2
    [2, 3, 3, 2]
    >>> group(told, np.arange(4)).tolist()
    [0, 0, 1, 1]

    Notes
    -----
    Not to be told apart is not transitive: a chain of agents can lead from one end to another that
    is certainly different.  So a class ends where the next agent is told from any of its members.
    """
    result = np.zeros(len(order), np.int64)
    if not len(order):
        return result
    borders = np.zeros(len(order), np.int64) if labels is None else labels[order]
    cut = np.empty(len(order), np.int64)
    along = told._replace(
        centers=told.centers[order], spreads=told.spreads[order], offsets=told.offsets[order]
    )
    _walk(along, borders.astype(np.int64), cut)
    result[order] = cut
    return result
