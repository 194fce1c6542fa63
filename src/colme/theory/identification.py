"""When an agent knows whom to pool: the others ruled out, or classmates shown to be near.

Lives here: Theorems 1, 3 and J, and Theorem S.  Must not know estimates.
"""

from __future__ import annotations

import numpy as np

from colme import _check
from colme.algorithm import ClassTest
from colme.theory.situation import Situation, Times, class_sizes
from colme.theory.thresholds import even_threshold, needed_samples, samples_to_part

__all__ = ["identification_times", "shown_times"]


def identification_times(situation: Situation) -> Times:
    """Return ζ: after it, the optimistic class of each agent is its true class.

    With probability at least 1 - δ/8 for each agent, whatever the weighting.  For ``overlap`` this
    is as printed in the paper, whose proof has a hole: docs/3-guarantees.md.

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
    """Return how many outsiders of each agent are gone before step `first`, a round earlier."""
    # s*_al < first - (A - 1) exactly when the margin to l exceeds two thresholds after
    # first - A steps.
    latest = first - situation.n_agents
    counts, position = np.unique(situation.batch * np.maximum(latest, 1), return_inverse=True)
    thresholds = np.array(list(map(even_threshold(situation), counts.tolist())))[position]
    gone = situation.n_agents - situation.n_within(situation.eta + 2 * thresholds)
    return np.where(latest > 0, gone, 0)


def shown_times(situation: Situation, gap: float) -> Times:
    """Return the steps after which all classmates of an agent are shown to be within `gap`.

    For an agent that pools a peer only from then on.  With probability at least 1 - δ/8 for each
    agent this holds, and no peer whose mean differs by `gap` or more is ever shown.  Whoever has no
    classmates has nobody to wait for: 0.

    Parameters
    ----------
    situation
        Who is in one class, and how agents compare: both class tests, any batch.
    gap
        How near a peer must be; larger than η.

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
    shown = situation.steps(samples_to_part(situation, gap - situation.eta))
    first = np.full(situation.n_agents, shown, np.int64)
    times = first + situation.n_agents - 1
    if situation.class_test == ClassTest.JOINT:  # with overlap, an outsider may come back
        times -= _dropped(situation, first)
    return np.where(class_sizes(situation) > 1, times, 0)
