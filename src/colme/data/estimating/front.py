"""Estimating: from summaries to personalised means, classes and intervals.

Lives here: the front door of the table.  Must not know files or how anything is shown.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme import _check
from colme.algorithm import Algorithm, Weighting, resolve
from colme.bounds import split_risk
from colme.data.estimating.classes import Told, count_alike, group
from colme.data.estimating.estimates import Estimates
from colme.data.estimating.noise import Noise
from colme.data.estimating.pooling import pool_table
from colme.data.estimating.sharpening import sharpen
from colme.data.summaries import Summaries

__all__ = ["estimate"]

Numbers: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]


def estimate(
    summaries: Summaries,
    *,
    algorithm: str | Algorithm = "sharp",
    sigma: float | None = None,
    value_range: tuple[float, float] | None = None,
    delta: float = 0.05,
    eta: float | None = None,
) -> Estimates:
    """Return each agent's mean with help of its peers, its class, and intervals.

    Parameters
    ----------
    summaries
        The table, by `Summaries.of` or `read`.
    algorithm
        A name in `colme.ALGORITHMS` or an Algorithm; `sharp` is recommended.
    sigma
        The sub-Gaussian scale of one sample, if known: for Gaussian noise, its standard deviation.
    value_range
        (low, high), if all samples are known to lie there.  Without this and sigma, noise is
        estimated.
    delta
        The risk of each agent's intervals and of its class tests.
    eta
        Agents whose means differ by at most this much count as one class.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> agents = np.repeat(np.arange(50), 12)
    >>> truth = np.where(np.arange(50) < 25, 3.0, 5.0)
    >>> found = estimate(Summaries.of(agents, rng.normal(truth[agents], 1.0)))
    >>> own = np.abs(found.summaries.means - truth).mean()
    >>> bool(np.abs(found.estimates - truth).mean() < 0.5 * own)
    True
    """
    delta, chosen = _check.risk("delta", delta), resolve(algorithm, eta)
    if not len(summaries):
        raise ValueError("there are no agents: the table is empty")
    if chosen.within is not None and chosen.weighting == Weighting.MODEL:
        raise ValueError("`within` is for algorithms that weigh peers one by one; sharp does not")
    noise = Noise.of(summaries, sigma, value_range)
    counts, means, squares = summaries.counts, summaries.means, summaries.squares
    radii = noise.radii(counts, squares, delta)
    estimates, effective, labels = _estimated(summaries, noise, chosen, delta)
    gamma = split_risk(delta, len(summaries))
    spreads, offsets = noise.evidence(counts, squares, gamma)
    told = Told(means, spreads, offsets, -math.log(gamma), chosen.eta)
    low, high = np.maximum(means - radii, noise.low), np.minimum(means + radii, noise.high)
    estimates = np.clip(estimates, low, high)
    classes = 1 + group(told, np.lexsort((means, estimates)), labels)
    class_low, class_high = _class_intervals(summaries, noise, classes, delta)
    return Estimates(
        summaries=summaries,
        noise=noise,
        algorithm=algorithm if isinstance(algorithm, str) else chosen.meaning,
        delta=delta,
        eta=chosen.eta,
        low=low,
        high=high,
        estimates=estimates,
        effective_counts=effective,
        classes=classes,
        class_low=class_low,
        class_high=class_high,
        alike=count_alike(told),
        told=told,
        notes=tuple(_notes(summaries, noise, given=sigma is not None or value_range is not None)),
    )


def _estimated(
    summaries: Summaries, noise: Noise, algorithm: Algorithm, delta: float
) -> tuple[Numbers, Numbers, Counts | None]:
    """Return estimates, effective counts, and the most probable classes if there are."""
    if algorithm.weighting != Weighting.MODEL:
        pooled = pool_table(summaries, noise, algorithm, delta)
        return pooled.means, pooled.samples, None
    found = sharpen(summaries, noise)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = summaries.counts * found.noise / found.errors
    return found.means, np.minimum(worth, float(summaries.counts.sum())), found.labels


def _class_intervals(
    summaries: Summaries, noise: Noise, classes: Counts, delta: float
) -> tuple[Numbers, Numbers]:
    """Return for each agent the interval around the mean of all samples of its class.

    Squares of the class are those of all its samples around its own mean.
    """
    counts, means = summaries.counts, summaries.means
    samples = np.bincount(classes, counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        center = np.bincount(classes, counts * means) / samples
    apart = counts * (means - center[classes]) ** 2
    squares: Numbers = np.bincount(classes, summaries.squares + apart).astype(np.float64)
    some = samples > 0
    radii = np.full(len(samples), np.inf)
    radii[some] = noise.radii(samples[some].astype(np.int64), squares[some], delta)
    low, high = np.maximum(center - radii, noise.low), np.minimum(center + radii, noise.high)
    return low[classes], high[classes]


def _notes(summaries: Summaries, noise: Noise, given: bool) -> list[str]:
    n, notes = len(summaries), []
    single = int(np.sum(summaries.counts == 1))
    if n == 1:
        notes.append("There is one agent only: nobody to learn from.")
    if not noise.known:
        notes.append(
            "Every agent has one row, so noise cannot be told from differences: estimates are the "
            "rows themselves, without intervals.  Give sigma or a range to do better."
        )
    elif noise.kind == "estimated" and single:
        notes.append(
            f"{single} of {n} agents have one row: no interval of their own can be given without "
            "sigma or a range."
        )
    if noise.kind == "range" and not given:
        notes.append("All values are 0 or 1, so noise is that of values between 0 and 1.")
    return notes
