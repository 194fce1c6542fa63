"""Which agents of a table the joint test separates, and groups within which it separates none.

Lives here: tests of all pairs over sorted summaries, and consistent groups.  Must not know noise or
estimates.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled, kernel
from colme.bounds import separated
from colme.data.summaries import Counts, Numbers

_STEP = 1.25
"""Agents whose spreads agree up to this factor are searched together."""
_CARE = 1e-9
"""Bounds on distances are widened by this share, so that rounding cannot hide a pair."""
_PARTS = 4
"""Parts per thread: work can be uneven."""


class TableEvidence(NamedTuple):
    """The evidence of all agents about their means, as parabolas, and the risk of a test.

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
    >>> evidence = TableEvidence(np.array([0.0, 1.0]), np.full(2, 0.01), np.ones(2), 10.0, 0.0)
    >>> is_alike(0, evidence).tolist()
    [True, False]
    """

    centers: Numbers
    spreads: Numbers
    offsets: Numbers
    log_risk: float
    eta: float


@compiled
def _apart(a: int, b: int, evidence: TableEvidence) -> bool:
    """Return whether the means of two agents must differ by more than η."""
    distance = abs(evidence.centers[a] - evidence.centers[b]) - evidence.eta
    return separated(
        distance if distance > 0.0 else 0.0,
        evidence.spreads[a],
        math.inf,
        evidence.offsets[a],
        evidence.spreads[b],
        math.inf,
        evidence.offsets[b],
        evidence.log_risk,
    )


def is_alike(a: int, evidence: TableEvidence) -> NDArray[np.bool_]:
    """Return which agents the joint test cannot distinguish from agent a; itself is one of them.

    Examples
    --------
    >>> centers = np.array([0.0, 0.3, 1.0])
    >>> is_alike(1, TableEvidence(centers, np.full(3, 0.01), np.ones(3), 10.0, 0.0)).tolist()
    [True, True, False]
    """
    distance = np.maximum(np.abs(evidence.centers - evidence.centers[a]) - evidence.eta, 0.0)
    spread = evidence.spreads + evidence.spreads[a]
    level = evidence.log_risk + evidence.offsets + evidence.offsets[a]
    alike: NDArray[np.bool_] = distance**2 < 2 * spread * level
    return alike


class _Shelves(NamedTuple):
    """Agents by spread, and by center within one shelf; and the extremes of each shelf."""

    order: Counts
    centers: Numbers
    starts: Counts
    min_spread: Numbers
    max_spread: Numbers
    min_offset: Numbers
    max_offset: Numbers


@kernel
def _count(
    first: int, last: int, evidence: TableEvidence, shelves: _Shelves, result: Counts
) -> None:
    """Write how many agents are alike to each agent from first to last.

    On each shelf, agents within the least distance that can separate are counted, not visited; only
    those from there to the largest such distance are tested.
    """
    for a in range(first, last):
        center, spread, offset = evidence.centers[a], evidence.spreads[a], evidence.offsets[a]
        n = 0
        for i in range(shelves.starts.shape[0] - 1):
            low, high = shelves.starts[i], shelves.starts[i + 1]
            level = evidence.log_risk + offset
            near = 2.0 * (spread + shelves.min_spread[i]) * (level + shelves.min_offset[i])
            far = 2.0 * (spread + shelves.max_spread[i]) * (level + shelves.max_offset[i])
            if near == math.inf:
                n += high - low
                continue
            near = (evidence.eta + math.sqrt(near)) * (1.0 - _CARE)
            far = (evidence.eta + math.sqrt(far)) * (1.0 + _CARE)
            shelf = shelves.centers[low:high]
            left = low + np.searchsorted(shelf, center - near)
            right = low + np.searchsorted(shelf, center + near)
            n += right - left
            for l in range(low + np.searchsorted(shelf, center - far), left):
                n += not _apart(a, shelves.order[l], evidence)
            for l in range(right, low + np.searchsorted(shelf, center + far, side="right")):
                n += not _apart(a, shelves.order[l], evidence)
        result[a] = n


def _shelve(evidence: TableEvidence) -> _Shelves:
    """Return the agents in order of their shelves."""
    finite = np.isfinite(evidence.spreads)
    least = evidence.spreads.min(where=finite, initial=np.inf)
    steps = np.full(len(finite), -1.0)  # agents without evidence have a shelf of their own
    if finite.any() and least > 0:
        steps[finite] = np.floor(np.log(evidence.spreads[finite] / least) / math.log(_STEP))
    order = np.lexsort((evidence.centers, steps))
    starts = np.flatnonzero(np.diff(steps[order], prepend=np.nan, append=np.nan) != 0)
    spreads, offsets = evidence.spreads[order], evidence.offsets[order]
    ends = (np.minimum, np.maximum)
    extremes = [end.reduceat(part, starts[:-1]) for part in (spreads, offsets) for end in ends]
    return _Shelves(order, evidence.centers[order], starts, *extremes)


def count_alike(evidence: TableEvidence) -> Counts:
    """Return how many agents are indistinguishable from each agent, itself included.

    Examples
    --------
    >>> centers = np.array([0.0, 0.3, 1.0])
    >>> count_alike(TableEvidence(centers, np.full(3, 0.01), np.ones(3), 10.0, 0.0)).tolist()
    [2, 2, 1]

    Notes
    -----
    Of two agents with spreads q and q' the distance that separates them lies between that for the
    least and that for the largest spread on the shelf of the second.  Pairs closer or farther are
    counted by two searches; those between, at most a fraction of the pairs that survive, are tested
    one by one: O(A log A) and some of the surviving pairs, in memory O(A).
    """
    result = np.zeros(len(evidence.centers), np.int64)
    over_agents(len(result), _count, evidence, _shelve(evidence), result)
    return result


@kernel
def _walk(evidence: TableEvidence, labels: Counts, result: Counts) -> None:
    """Cut agents, in order, into runs of one label in which no two are separated."""
    start, current = 0, 0
    low = high = evidence.centers[0]
    min_spread, min_offset = evidence.spreads[0], evidence.offsets[0]
    for i in range(evidence.centers.shape[0]):
        center, spread, offset = evidence.centers[i], evidence.spreads[i], evidence.offsets[i]
        reach = max(abs(center - low), abs(high - center)) - evidence.eta
        level = evidence.log_risk + offset + min_offset
        cut = labels[i] != labels[start]
        if (
            not cut
            and reach > 0.0
            and reach * reach >= 2.0 * (spread + min_spread) * level * (1.0 - _CARE)
        ):
            for l in range(start, i):
                if _apart(i, l, evidence):
                    cut = True
                    break
        if cut:
            current += 1
            start, low, high = i, center, center
            min_spread, min_offset = spread, offset
        result[i] = current
        low, high = min(low, center), max(high, center)
        min_spread, min_offset = min(min_spread, spread), min(min_offset, offset)


def cut_groups(evidence: TableEvidence, order: Counts, labels: Counts | None = None) -> Counts:
    """Return groups, numbered along `order`, within which no two agents are separated.

    Parameters
    ----------
    evidence
        The evidence of all agents.
    order
        Agents in the order in which groups are cut, by their estimates for instance.
    labels
        Groups never cross these borders; None for no borders.

    Examples
    --------
    >>> centers = np.array([0.0, 0.3, 0.6, 0.9])
    >>> evidence = TableEvidence(centers, np.full(4, 0.005), np.ones(4), 10.0, 0.0)
    >>> count_alike(evidence).tolist()  # 0 is like 1, 1 is like 2, but 0 is not like 2
    [2, 3, 3, 2]
    >>> cut_groups(evidence, np.arange(4)).tolist()
    [0, 0, 1, 1]

    Notes
    -----
    "Indistinguishable" is not transitive: a chain of agents can lead from one end to another that
    certainly differs.  So a group ends where the next agent is separated from any of its members.
    """
    result = np.zeros(len(order), np.int64)
    if not len(order):
        return result
    borders = result if labels is None else labels[order].astype(np.int64)
    cut = np.empty(len(order), np.int64)
    centers, spreads, offsets = (part[order] for part in evidence[:3])
    along = evidence._replace(centers=centers, spreads=spreads, offsets=offsets)
    _walk(along, borders, cut)
    result[order] = cut
    return result


def over_agents(n: int, work: Callable[..., None], *arguments: object) -> None:
    """Call work(first, last, ...) for parts of n agents, on all threads; `last` is not included.

    Examples
    --------
    >>> done = np.zeros(10)
    >>> over_agents(10, lambda first, last, result: result[first:last].fill(1.0), done)
    >>> done.tolist() == [1.0] * 10
    True
    """
    threads = os.cpu_count() or 1
    parts = max(1, min(n, _PARTS * threads))
    edges = [n * i // parts for i in range(parts + 1)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, edges, edges[1:], *map(repeat, arguments)))
