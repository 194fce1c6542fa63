"""How far apart two means must look to be told apart, and how many samples that takes.

Lives here: the threshold of each class test, and its inverse.  Must not know whom an agent asks,
nor when.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from colme.algorithm import ClassTest
from colme.bounds.counted import first_below
from colme.theory.situation import Situation, Times, margins

__all__ = ["even_threshold", "needed_samples", "samples_to_part", "threshold"]

_FOREVER = 2**62
"""Longer than any stream; counts beyond it are cut to it."""


def threshold(situation: Situation, n_a: int, n_l: int) -> float:
    """Return how far beyond η two means of n_a and n_l samples must be to be told apart.

    The difference of the means of an agent and a peer is never this far from the true one: at any
    time, for all its peers at once, with probability at least 1 - δ/8.

    Examples
    --------
    >>> [
    ...     round(threshold(Situation([0.0, 1.0], 0.5, 0.1, class_test=test), 100, 100), 3)
    ...     for test in ("overlap", "joint")
    ... ]
    [0.386, 0.324]

    Notes
    -----
    Overlap: β(n_a) + β(n_l) (Definition 3, Lemma 1).  Joint: √(2 (q_a + q_l) (ln(1/γ) + c_a + c_l))
    with spreads q and offsets c of the evidence (Lemma J).
    """
    return _thresholds(situation)(n_a, n_l)


def _thresholds(situation: Situation) -> Callable[[int, int], float]:
    """Return the threshold as a function of two counts."""
    bound = situation.bound
    log_risk = -math.log(bound.gamma)

    def overlap(n_a: int, n_l: int) -> float:
        return bound.radius(n_a) + bound.radius(n_l)

    def joint(n_a: int, n_l: int) -> float:
        if 0 in (n_a, n_l):
            return math.inf
        spread_a, _, offset_a = bound.shape(n_a)
        spread_l, _, offset_l = bound.shape(n_l)
        return math.sqrt(2 * (spread_a + spread_l) * (log_risk + offset_a + offset_l))

    return joint if situation.class_test == ClassTest.JOINT else overlap


def even_threshold(situation: Situation) -> Callable[[float], float]:
    """Return the threshold as a function of one count for both sides: it falls.

    Examples
    --------
    >>> even = even_threshold(Situation([0.0, 1.0], sigma=0.5, delta=0.1))
    >>> round(even(100), 3), round(even(400), 3)
    (0.386, 0.201)
    """
    of_both = _thresholds(situation)
    return lambda n: of_both(int(n), int(n))


def samples_to_part(situation: Situation, margin: float) -> int:
    """Return the first n at which two thresholds of n and n samples are less than `margin`.

    Examples
    --------
    >>> samples_to_part(Situation([0.2] * 200, sigma=0.5, delta=0.001), 0.6)
    385
    """
    return min(first_below(margin / 2, even_threshold(situation)), _FOREVER)


def needed_samples(situation: Situation) -> Times:
    """Return n*: samples after which an agent tells its class from the nearest outsider.

    An agent whose class is everybody has nothing to tell apart: 0.

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
        0 if math.isinf(width) else samples_to_part(situation, width) for width in widths.tolist()
    ]
    times: Times = np.array(values, np.int64)[position]
    return times
