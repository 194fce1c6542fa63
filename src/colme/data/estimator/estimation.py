"""The estimate of a table: from summaries to personalised means, classes and intervals.

Lives here: the order of the work.  Must not know files or how anything is shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from colme import _check
from colme.algorithm import Algorithm, Weighting, resolve
from colme.bounds import split_risk
from colme.data.estimator.estimates import Estimates
from colme.data.estimator.groups import TableEvidence, count_alike, cut_groups
from colme.data.estimator.noise import Noise
from colme.data.estimator.pooled import pool_table
from colme.data.estimator.sharp import sharp_means
from colme.data.summaries import Counts, Numbers, Summaries


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
    sigma, value_range
        What is known of one sample: its sub-Gaussian scale, for Gaussian noise the standard
        deviation; or (low, high), where all lie.  Noise is estimated if neither is given.
    delta
        The risk of each agent's intervals and of its class tests.
    eta
        Agents whose means differ by at most this much count as one class.

    Examples
    --------
    >>> agents, truth = np.repeat(np.arange(50), 12), np.repeat([3.0, 5.0], 25)
    >>> found = estimate(Summaries.of(agents, np.random.default_rng(1).normal(truth[agents])))
    >>> own = np.abs(found.summaries.means - truth).mean()
    >>> bool(np.abs(found.estimates - truth).mean() < 0.5 * own)
    True
    """
    delta, chosen = _check.risk("delta", delta), resolve(algorithm, eta)
    noise = Noise.of(summaries, sigma, value_range)
    estimates, effective, labels = _estimated(summaries, noise, chosen, delta)
    n, means, squares = summaries.counts, summaries.means, summaries.squares
    radii, risk = noise.radii(n, squares, delta), split_risk(delta, len(n))
    evidence = TableEvidence(means, *noise.evidence(n, squares, risk), -math.log(risk), chosen.eta)
    low, high = np.maximum(means - radii, noise.low), np.minimum(means + radii, noise.high)
    estimates = np.clip(estimates, low, high)
    classes = 1 + cut_groups(evidence, np.lexsort((means, estimates)), labels)
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
        alike=count_alike(evidence),
        evidence=evidence,
        notes=tuple(_notes(summaries, noise, given=sigma is not None or value_range is not None)),
    )


def _estimated(
    summaries: Summaries, noise: Noise, algorithm: Algorithm, delta: float
) -> tuple[Numbers, Numbers, Counts | None]:
    """Return estimates, effective counts, and the most probable classes if there are any."""
    if not len(summaries):
        raise ValueError("there are no agents: the table is empty")
    if algorithm.weighting != Weighting.MODEL:
        return *pool_table(summaries, noise, algorithm, delta), None
    if algorithm.within is not None:
        raise ValueError("`within` is for algorithms that weigh peers one by one; sharp does not")
    found = sharp_means(summaries, noise)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = summaries.counts * found.noise / found.errors
    return found.means, np.minimum(worth, float(summaries.counts.sum())), found.labels


def _class_intervals(
    summaries: Summaries, noise: Noise, classes: Counts, delta: float
) -> tuple[Numbers, Numbers]:
    """Return for each agent the interval around the mean of all samples of its class.

    Squares of the class are those of all its samples around its own mean.
    """
    place, counts, means = classes - 1, summaries.counts, summaries.means
    samples = np.bincount(place, counts)
    center = np.bincount(place, counts * means) / samples
    between = counts * (means - center[place]) ** 2
    squares: Numbers = np.bincount(place, summaries.squares + between).astype(np.float64)
    radii = noise.radii(samples.astype(np.int64), squares, delta)
    low, high = np.maximum(center - radii, noise.low), np.minimum(center + radii, noise.high)
    return low[place], high[place]


def _notes(summaries: Summaries, noise: Noise, *, given: bool) -> Iterator[str]:
    n, single = len(summaries), int(np.sum(summaries.counts == 1))
    if n == 1:
        yield "There is one agent only: nobody to learn from."
    if not noise.known:
        yield (
            "Every agent has one row, so noise cannot be distinguished from differences between "
            "agents: estimates are the rows themselves, without intervals.  Give sigma or a range "
            "to do better."
        )
    elif noise.kind == "estimated" and single:
        yield (
            f"{single} of {n} agents have one row: no interval of their own can be given without "
            "sigma or a range."
        )
    if noise.kind == "range" and not given:
        yield "All values are 0 or 1, so noise is that of values between 0 and 1."
