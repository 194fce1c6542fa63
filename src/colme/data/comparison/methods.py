"""Estimates of every agent's mean by methods that everyone knows.

Lives here: own means, the mean of all, shrinkage by formula, and models of statsmodels and
scikit-learn, which are loaded when they are used.  Must not know splits or errors.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme._extras import load
from colme.data.estimator.crowd import common_share, fit_crowd
from colme.data.estimator.noise import pooled_variance
from colme.data.summaries import Counts, Numbers, Summaries

Method: TypeAlias = Callable[[Summaries], Numbers]
"""From summaries to one estimate per agent, in their order."""
MOST_AGENTS, MOST_ROWS = 5_000, 500_000
"""`mixed_model` is left out beyond these: it takes about a millisecond per agent."""
MOST_CLASSES = 10
"""`k_means` chooses among 1 to this many classes."""
_SAMPLED = 5_000
"""At most this many agents, drawn by chance, choose the number of classes."""


class LeftOutError(Exception):
    """A method cannot be used on these summaries or on this machine; the message says why.

    Examples
    --------
    >>> raise LeftOutError("5 agents are too few")
    Traceback (most recent call last):
        ...
    colme.data.comparison.methods.LeftOutError: 5 agents are too few
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


def mixed_model(summaries: Summaries) -> Numbers:
    """Return what statsmodels' MixedLM predicts: a random intercept for every agent, by REML.

    Notes
    -----
    A sample is m + u + noise, with u ~ N(0, τ²) the agent's own; the prediction is

        estimate = m + τ² / (τ² + v / n) (x̄ - m),

    as in `empirical_bayes`, but v is fitted along, and the loss of a degree to m is corrected
    (Patterson and Thompson 1971).  The likelihood depends on an agent's rows only by their count,
    mean and Σ (x - x̄)², so the model is fitted to rows made up to have these.  With more than 5 000
    agents or 500 000 rows it is left out.

    Examples
    --------
    >>> table = Summaries.of(list("aabbccdd"), [0.0, 2.0, 1.0, 3.0, 2.0, 4.0, 3.0, 5.0])
    >>> mixed_model(table).round(2).tolist()
    [1.9, 2.3, 2.7, 3.1]
    """
    agents, rows = len(summaries), int(summaries.counts.sum())
    if agents > MOST_AGENTS or rows > MOST_ROWS:
        raise LeftOutError(
            f"it takes at most {MOST_AGENTS} agents and {MOST_ROWS} rows to be done in seconds; "
            f"received {agents} and {rows}"
        )
    module = _library("statsmodels.regression.mixed_linear_model", "statsmodels")
    if not pooled_variance(summaries) > 0 or np.ptp(summaries.means) == 0:
        return local(summaries)
    center, ratio = _fit_intercepts(module, summaries)
    kept = ratio / (ratio + 1.0 / summaries.counts)
    return center + kept * (summaries.means - center)


def k_means(summaries: Summaries) -> Numbers:
    """Return the mean of all samples of the agent's class, the classes found by k-means.

    Notes
    -----
    scikit-learn's KMeans (Lloyd 1982) on the own means, each weighing as many as its samples.  The
    number of classes k, 1 to 10, is the one with the smallest BIC (Schwarz 1978) of the mixture
    that the classes stand for, with v the pooled variance and p the share of agents in a class:

        BIC = -2 Σ log Σ p N(x̄; class mean, v / n) + (2 k - 1) log A.

    It knows the noise, which a silhouette does not; a silhouette cannot answer 1 either, and needs
    all pairs.  5 000 agents drawn by chance choose k, all are then assigned.  Without known
    noise it is the own mean.

    Examples
    --------
    >>> rows = [0.0, 2.0, 1.0, 3.0, 20.0, 22.0, 21.0, 23.0]
    >>> k_means(Summaries.of(list("aabbccdd"), rows)).tolist()
    [1.5, 1.5, 21.5, 21.5]
    """
    module = _library("sklearn.cluster", "scikit-learn")
    noise, span = pooled_variance(summaries), np.ptp(summaries.means) if len(summaries) else 0.0
    if not noise > 0 or span == 0:
        return local(summaries)
    scaled = (summaries.means - summaries.means.min()) / span
    k = _how_many(module, scaled, summaries.counts, float(noise / span / span))
    label, centers = _assigned(module, scaled, summaries.counts, k)
    means: Numbers = summaries.means.min() + span * centers[label]
    return means


def _library(name: str, package: str) -> Any:
    try:
        return load(f"it needs {package}", "compare", name)
    except ImportError as error:
        raise LeftOutError(str(error)) from None


def _made_up(summaries: Summaries) -> tuple[Counts, Numbers]:
    """Return whose each row is, and rows with the summaries' counts, means and squares.

    The first row of an agent lies c (1 - 1/n) from x̄, the others -c / n: Σ (x - x̄)² = c² (1 - 1/n).
    """
    counts = summaries.counts
    whose = np.repeat(np.arange(len(counts)), counts)
    lift = np.sqrt(summaries.squares * counts / np.maximum(counts - 1, 1))
    rows = (summaries.means - lift / counts)[whose]
    rows[np.cumsum(counts) - counts] += lift
    return whose, rows


def _fit_intercepts(module: Any, summaries: Summaries) -> tuple[float, float]:
    """Return m and τ² / v; the search starts from the likeliest crowd, which halves its time."""
    noise = pooled_variance(summaries)
    crowd = fit_crowd(summaries.means, noise / summaries.counts)
    whose, rows = _made_up(summaries)
    scale = math.sqrt(noise)
    start = module.MixedLMParams.from_components(
        fe_params=np.zeros(1), cov_re=np.array([[max(crowd.variance / noise, 0.01)]])
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = module.MixedLM((rows - crowd.center) / scale, np.ones((len(rows), 1)), groups=whose)
        try:
            fit = model.fit(reml=True, start_params=start)
        except np.linalg.LinAlgError as error:
            raise LeftOutError(f"statsmodels could not fit it ({error})") from None
    return crowd.center + scale * float(fit.fe_params[0]), float(fit.cov_re_unscaled[0, 0])


def _how_many(module: Any, means: Numbers, counts: Counts, noise: float) -> int:
    """Return the number of classes with the smallest BIC."""
    if len(means) > _SAMPLED:
        drawn = np.random.default_rng(0).choice(len(means), _SAMPLED, replace=False)
        means, counts = means[drawn], counts[drawn]
    n, bics = len(means), []
    for k in range(1, min(MOST_CLASSES, len(np.unique(means))) + 1):
        label, centers = _assigned(module, means, counts, k)
        off = (counts / noise)[:, np.newaxis] * (means[:, np.newaxis] - centers) ** 2
        logs = np.log(np.bincount(label) / n) - off / 2
        likelihood = float(np.logaddexp.reduce(logs, axis=1).sum())
        bics.append(-2.0 * likelihood + (2 * k - 1) * math.log(n))
    return 1 + int(np.argmin(bics))


def _assigned(
    module: Any, means: Numbers, counts: Counts, k: int
) -> tuple[NDArray[np.intp], Numbers]:
    """Return each agent's class, counted from 0, and the mean of each class; none is empty."""
    fit = module.KMeans(n_clusters=k, random_state=0).fit(
        means[:, np.newaxis], sample_weight=counts.astype(np.float64)
    )
    label: NDArray[np.intp] = np.unique(fit.labels_, return_inverse=True)[1]
    return label, np.bincount(label, counts * means) / np.bincount(label, counts)
