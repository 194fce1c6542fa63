"""Baselines: estimates of every agent's mean by methods that everyone knows.

Lives here: own means, the mean of all, and shrinkage by formula.  Must not know splits, errors or
libraries other than numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from colme.data.estimator.crowd import common_share, fit_crowd
from colme.data.estimator.noise import pooled_variance
from colme.data.summaries import Numbers, Summaries

Method: TypeAlias = Callable[[Summaries], Numbers]
"""From summaries to one estimate per agent, in their order."""


class LeftOutError(Exception):
    """A method cannot be used on these summaries or on this machine; the message says why.

    Examples
    --------
    >>> raise LeftOutError("5 agents are too few")
    Traceback (most recent call last):
        ...
    colme.data.comparison.baselines.LeftOutError: 5 agents are too few
    """


def local(summaries: Summaries) -> Numbers:
    """Return every agent's own mean.

    Examples
    --------
    >>> local(Summaries.of(["a", "a", "b"], [1.0, 3.0, 5.0])).tolist()
    [2.0, 5.0]
    """
    return summaries.means.copy()


def grand_mean(summaries: Summaries) -> Numbers:
    """Return the mean of all samples for everybody; every sample counts the same.

    Notes
    -----
    m = Σ n x̄ / Σ n.

    Examples
    --------
    >>> grand_mean(Summaries.of(["a", "a", "b"], [1.0, 3.0, 5.0])).tolist()
    [3.0, 3.0]
    """
    mean = np.average(summaries.means, weights=summaries.counts) if len(summaries) else np.nan
    return np.full(len(summaries), float(mean))


def james_stein(summaries: Summaries) -> Numbers:
    """Return the own means, all drawn towards the mean of all samples by the same share.

    Notes
    -----
    The positive part estimator for unequal variances, see `common_share`, with the pooled variance
    of samples.  The share is the same for everybody, however few samples an agent has.  With three
    agents or fewer, or without known noise, it is the own mean.

    Examples
    --------
    >>> table = Summaries.of(list("aabbccdd"), [0.0, 2.0, 1.0, 3.0, 2.0, 4.0, 3.0, 5.0])
    >>> james_stein(table).round(4).tolist()
    [1.3, 2.1, 2.9, 3.7]
    """
    variance = pooled_variance(summaries)
    if not variance > 0:
        return local(summaries)
    center, share = common_share(summaries.means, variance / summaries.counts)
    return center + share * (summaries.means - center)


def empirical_bayes(summaries: Summaries) -> Numbers:
    """Return the own means, each drawn towards a common mean as its noise deserves.

    Notes
    -----
    True means are taken to scatter as N(m, τ²), so x̄ ~ N(m, τ² + v / n), with v the pooled
    variance; m and τ² are those of the largest likelihood (Efron and Morris 1975).

        estimate = m + τ² / (τ² + v / n) (x̄ - m).

    Without known noise it is the own mean.

    Examples
    --------
    >>> table = Summaries.of(list("aabbccdd"), [0.0, 2.0, 1.0, 3.0, 2.0, 4.0, 3.0, 5.0])
    >>> empirical_bayes(table).round(4).tolist()
    [2.2, 2.4, 2.6, 2.8]
    """
    variance = pooled_variance(summaries)
    if not variance > 0:
        return local(summaries)
    noise = variance / summaries.counts
    return fit_crowd(summaries.means, noise).pulled(summaries.means, noise)
