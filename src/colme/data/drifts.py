"""Drifts: which agents' means were not the same all the time.

Lives here: the joint test of what an agent received before and after each border between slices.
Must not know estimates or peers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from colme import _check
from colme.data.estimator import Noise
from colme.data.summaries import Counts, Moments, Numbers

_BLOCK = 20_000  # agents tested at once: memory stays small


@dataclass(frozen=True)
class Drift:
    """An agent whose mean was not the same all the time.

    Examples
    --------
    >>> Drift("a", when=7, before=1.0, after=2.0, n_before=30, n_after=40).when
    7
    """

    agent: Any
    when: Any
    """The end of the slice after which the evidence of a change is strongest."""
    before: float
    """The mean of its rows up to then."""
    after: float
    """The mean of those that followed."""
    n_before: int
    n_after: int


class _TimeSlice(NamedTuple):
    """What agents received in some slices: counts, means, squares."""

    counts: Counts
    means: Numbers
    squares: Numbers


def find_drifts(
    moments: Moments, noise: Noise, *, delta: float = 0.05, eta: float = 0.0
) -> tuple[Drift, ...]:
    """Return the agents whose means changed over time, those with most evidence first.

    Parameters
    ----------
    moments
        What each agent received in each slice of time.
    noise
        What is known of the scatter of one sample.
    delta
        If no mean changes, the probability that any agent is named is at most this.
    eta
        Changes of at most this much do not count.

    Examples
    --------
    >>> counts = np.full((2, 2), 50)
    >>> means, squares = np.array([[1.0, 5.0], [1.1, 7.0]]), np.full((2, 2), 50.0)
    >>> moments = Moments(np.array(["a", "b"]), np.array([1, 2]), counts, means, squares)
    >>> find_drifts(moments, Noise("sigma", 1.0))
    (Drift(agent='b', when=1, before=5.0, after=7.0, n_before=50, n_after=50),)

    Notes
    -----
    The rows of an agent before and after a border are two independent streams.  With D the distance
    of their means, q and c the spreads and offsets of their evidence, the means differ by more than
    η if (D - η)²/(2 (q + q')) - c - c' >= ln(1/γ), with risk γ = δ / (A (K - 1)) for A agents and
    K slices.
    """
    delta, eta = _check.risk("delta", delta), _check.non_negative("eta", eta)
    n_tests = len(moments.agents) * (len(moments) - 1)
    if n_tests <= 0:
        return ()
    gamma = delta / n_tests
    blocks = range(0, len(moments.agents), _BLOCK)
    found = [one for first in blocks for one in _block(moments, first, noise, gamma, eta)]
    found.sort(key=lambda pair: -pair[0])
    return tuple(drift for _, drift in found)


def _block(
    moments: Moments, first: int, noise: Noise, gamma: float, eta: float
) -> Iterator[tuple[float, Drift]]:
    """Yield the drifts of some agents, each at its strongest border, with the evidence there."""
    here = slice(first, first + _BLOCK)
    columns = (part[:, here] for part in (moments.counts, moments.means, moments.squares))
    slices = [_TimeSlice(*parts) for parts in zip(*columns, strict=True)]
    before = list(accumulate(slices, _merged))[:-1]
    after = list(accumulate(slices[::-1], _merged))[-2::-1]
    pairs = zip(before, after, strict=True)
    against = np.array([_against(early, late, noise, gamma, eta) for early, late in pairs])
    borders = np.argmax(against, axis=0)
    names, ends = moments.agents[here].tolist(), moments.ends.tolist()
    for a in np.flatnonzero(np.max(against, axis=0) >= -math.log(gamma)).tolist():
        k = int(borders[a])
        early, late = before[k], after[k]
        means = float(early.means[a]), float(late.means[a])
        counts = int(early.counts[a]), int(late.counts[a])
        yield float(against[k, a]), Drift(names[a], ends[k], *means, *counts)


def _merged(one: _TimeSlice, other: _TimeSlice) -> _TimeSlice:
    """Return two parts as one.

    Σ (x - x̄)² over both = S + S' + (x̄ - x̄')² n n'/(n + n').
    """
    total = one.counts + other.counts
    share = other.counts / np.maximum(total, 1)
    away = np.where(one.counts > 0, other.means - one.means, 0.0)
    means = np.where(one.counts > 0, one.means + share * away, other.means)
    squares = one.squares + other.squares + away**2 * share * one.counts
    return _TimeSlice(total, means, squares)


def _against(
    before: _TimeSlice, after: _TimeSlice, noise: Noise, gamma: float, eta: float
) -> Numbers:
    """Return the evidence against equal means before and after; -∞ without rows on both sides.

    The evidence of both sides comes from one call: how far Student's parabola must reach depends on
    the largest offset of either.
    """
    both = (before.counts > 0) & (after.counts > 0)
    counts = np.concatenate([before.counts[both], after.counts[both]])
    squares = np.concatenate([before.squares[both], after.squares[both]])
    spreads, offsets = (part.reshape(2, -1) for part in noise.evidence(counts, squares, gamma))
    distance = np.maximum(np.abs(before.means - after.means)[both] - eta, 0.0)
    result = np.full(len(both), -np.inf)
    result[both] = distance**2 / (2 * spreads.sum(axis=0)) - offsets.sum(axis=0)
    return result
