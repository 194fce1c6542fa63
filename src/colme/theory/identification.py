"""When an agent knows its class: the others ruled out, or classmates shown to be near.

Lives here: the threshold of each class test, how many samples it takes to separate two means, and
Theorems 1, 3, J, P and S.  Must not know estimates.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from colme import _check
from colme.algorithm import ClassTest
from colme.bounds.counted import first_below
from colme.rules.paired import JOINT_PRICE, PAIRED_PRICE
from colme.theory.situation import Situation, Times, class_sizes, margins

_FOREVER = 2**62
"""Longer than any stream: larger counts are reduced to it."""


def threshold(situation: Situation, n_a: int, n_l: int) -> float:
    """Return how far beyond η two means of n_a and n_l samples must be to be distinguished.

    The difference of the means of an agent and a peer is never this far from the true difference:
    at any time, for all its peers at once, with probability at least 1 - δ/8.

    Examples
    --------
    >>> [
    ...     round(threshold(Situation([0.0, 1.0], 0.5, 0.1, class_test=test), 100, 100), 3)
    ...     for test in ("overlap", "joint", "paired")
    ... ]
    [0.386, 0.324, 0.316]

    Notes
    -----
    Overlap: β(n_a) + β(n_l) (Definition 3, Lemma 1).  Joint: √(2 (q_a + q_l) (ln(1/γ) + c_a + c_l))
    with spreads q and offsets c of the evidence (Lemma J).  Paired, for equal counts:
    √(4 q (ln(1/γ) + c + ln(1/0.9))) (Lemma P); otherwise as joint, at a tenth of the risk.
    """
    return _thresholds(situation)(n_a, n_l)


def _thresholds(situation: Situation) -> Callable[[int, int], float]:
    """Return the threshold as a function of two counts."""
    bound = situation.bound
    log_risk = -math.log(bound.gamma)

    def overlap(n_a: int, n_l: int) -> float:
        return bound.radius(n_a) + bound.radius(n_l)

    def joint(n_a: int, n_l: int, price: float = 0.0) -> float:
        if 0 in (n_a, n_l):
            return math.inf
        spread_a, _, offset_a = bound.shape(n_a)
        spread_l, _, offset_l = bound.shape(n_l)
        return math.sqrt(2 * (spread_a + spread_l) * (log_risk + offset_a + offset_l + price))

    def paired(n_a: int, n_l: int) -> float:
        if n_a != n_l or n_a == 0:
            return joint(n_a, n_l, JOINT_PRICE)
        spread, _, offset = bound.shape(n_a)
        return math.sqrt(4 * spread * (log_risk + offset + PAIRED_PRICE))

    tests = {ClassTest.OVERLAP: overlap, ClassTest.JOINT: joint, ClassTest.PAIRED: paired}
    return tests[ClassTest.of(situation.class_test)]


def _even_threshold(situation: Situation) -> Callable[[float], float]:
    """Return the threshold as a falling function of one count for both sides."""
    of_both = _thresholds(situation)
    return lambda n: of_both(int(n), int(n))


def _samples_to_separate(situation: Situation, margin: float) -> int:
    """Return the first n at which twice the threshold of n and n samples is less than `margin`."""
    return min(first_below(margin / 2, _even_threshold(situation)), _FOREVER)


def needed_samples(situation: Situation) -> Times:
    """Return n*: samples after which an agent distinguishes its class from the nearest outsider.

    It is 0 for an agent whose class is everybody.

    Examples
    --------
    >>> needed_samples(Situation([0.2] * 100 + [0.8] * 100, sigma=0.5, delta=0.001))[0]
    np.int64(385)

    Notes
    -----
    n*_aa = ⌈β⁻¹((Δ_a - η) / 4)⌉, Δ_a the smallest gap beyond η (Definitions 6 and 10); in general
    the first n at which twice the threshold of n and n samples fits into Δ_a - η (Theorem J).
    """
    widths, position = np.unique(margins(situation), return_inverse=True)
    values = [
        0 if math.isinf(width) else _samples_to_separate(situation, width)
        for width in widths.tolist()
    ]
    times: Times = np.array(values, np.int64)[position]
    return times


def identification_times(situation: Situation) -> Times:
    """Return ζ: after it, the optimistic class of each agent is its true class.

    With probability at least 1 - δ/8 for each agent, whatever the weighting.  For ``overlap`` this
    is as printed in the paper, whose proof has a gap: see docs/3-guarantees.md.

    Examples
    --------
    >>> identification_times(Situation([0.2] * 3 + [0.8] * 3, sigma=0.5, delta=0.001))[0]
    np.int64(310)
    >>> identification_times(Situation([0.2] * 3 + [0.8] * 3, sigma=0.5, delta=0.001, batch=10))[0]
    np.int64(36)

    Notes
    -----
    ζ_a = s*_aa + A - 1 - Σ_{l ∉ C_a} 1{s*_aa > s*_al + A - 1} with s* = ⌈n* / batch⌉ (Theorems 1, 3
    and J).
    """
    first = situation.steps(needed_samples(situation))
    return np.where(first > 0, first + situation.n_agents - 1 - _dropped(situation, first), 0)


def _dropped(situation: Situation, first: Times) -> Times:
    """Return how many outsiders of each agent are excluded a round before step `first`."""
    # s*_al < first - (A - 1) exactly when the margin to l exceeds two thresholds after
    # first - A steps.
    latest = first - situation.n_agents
    counts, position = np.unique(situation.batch * np.maximum(latest, 1), return_inverse=True)
    thresholds = np.array(list(map(_even_threshold(situation), counts.tolist())))[position]
    excluded = situation.n_agents - situation.n_within(situation.eta + 2 * thresholds)
    return np.where(latest > 0, excluded, 0)


def shown_times(situation: Situation, gap: float) -> Times:
    """Return the steps after which all classmates of an agent are shown to be within `gap`.

    This is for agents that pool a peer only from then on.  With probability at least 1 - δ/8 for
    each agent the time holds, and no peer whose mean differs by `gap` or more is ever shown to be
    near.  It is 0 for an agent without classmates.

    Parameters
    ----------
    situation
        The means and how agents compare them: with either class test and any batch.
    gap
        How near a peer must be shown to be; larger than η.

    Examples
    --------
    >>> situation = Situation([0.2] * 100 + [0.8] * 100, 0.5, 0.001, class_test="joint")
    >>> shown_times(situation, 0.6)[0], shown_times(situation, 0.3)[0]
    (np.int64(408), np.int64(911))

    Notes
    -----
    A peer is shown, for good, once |x̄_a - x̄_l| + thr(n_a, n_l) <= g with `threshold` thr.  With n°
    the first n at which 2 thr(n, n) < g - η, and s° = ⌈n° / batch⌉, the time is s° + A - 1, less
    for the joint test the outsiders l with s° > s*_al + A - 1 (Theorem S).
    """
    if _check.positive("gap", gap) <= situation.eta:
        raise ValueError(
            f"gap must be larger than eta = {situation.eta:g}, by which classmates may differ; "
            f"received {gap:g}"
        )
    shown = situation.steps(_samples_to_separate(situation, gap - situation.eta))
    first = np.full(situation.n_agents, shown, np.int64)
    times = first + situation.n_agents - 1
    if ClassTest.of(situation.class_test).is_final:  # with overlap, an outsider may come back
        times -= _dropped(situation, first)
    return np.where(class_sizes(situation) > 1, times, 0)
