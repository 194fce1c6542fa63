"""What came out of a simulation, as plain values.

Lives here: times and errors of a trajectory, overall and by class.  Must not know how it was made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import metrics
from colme.digest import QUANTILES, Digest
from colme.trajectory import Trajectory

__all__ = ["summarise", "summarise_digest"]

_QUANTILE_NAMES = {0.5: "median", 0.9: "q90", 0.99: "q99", 1.0: "max"}


def summarise(
    trajectory: Trajectory,
    true_means: NDArray[np.float64],
    epsilons: tuple[float, ...],
    *,
    identifiable: bool = True,
    true_counts: ArrayLike | None = None,
    changes: tuple[int, ...] = (),
    samples_per_step: float = 1.0,
) -> dict[str, Any]:
    """Return identification and convergence times, overall and per class, as plain values.

    Times of likely classes, of which nothing is guaranteed, stand apart if they were kept.

    Times that lie beyond the horizon count as horizon + 1, and `within_horizon` tells the share
    that does not.  Errors are averages over the agents that have an estimate.

    Parameters
    ----------
    trajectory
        What was kept.
    true_means
        [agent], or [kept time, agent] if they change.
    epsilons
        Accuracies for the convergence times.
    identifiable
        Whether true classes stay what they are; if not, identification times are None.
    true_counts
        The true class of each agent, as in `colme.metrics.identification_times`.
    changes
        Steps at which means change: the error just before each is told.
    samples_per_step
        Told if it is not 1.

    Examples
    --------
    >>> from colme import simulate
    >>> trajectory = simulate([[0.0, 0.0]] * 3, "oracle", sigma=0.1, labels=[0, 0])
    >>> summarise(trajectory, np.zeros(2), (0.1,))["convergence_time"]["0.1"]["all"]["avg"]
    1.0
    """
    errors = metrics.errors(trajectory, true_means)
    before = np.searchsorted(trajectory.times, changes) - 1
    return {
        "algorithm": trajectory.name,
        **_identification(trajectory, identifiable, true_counts),
        "convergence_time": {
            f"{epsilon:g}": _table(
                trajectory, metrics.convergence_times(trajectory, true_means, epsilon)
            )
            for epsilon in epsilons
        },
        **_if(
            bool(changes),
            error_before_change={
                str(step): _average(errors[:, slot]) if slot >= 0 else None
                for step, slot in zip(changes, before.tolist(), strict=True)
            },
        ),
        "final_error": _average(errors[:, -1]),
        **_if(samples_per_step != 1, samples_per_step=samples_per_step),
    }


def summarise_digest(
    digest: Digest, *, changes: tuple[int, ...] = (), samples_per_step: float = 1.0
) -> dict[str, Any]:
    """Return what `summarise` does of a fleet too large to keep, and its errors over time.

    Examples
    --------
    >>> from colme import Problem
    >>> from colme.large import simulate_large
    >>> digest = simulate_large(Problem.bernoulli([0.5], n_agents=9), "local", horizon=20)
    >>> list(summarise_digest(digest)["error_over_time"])
    ['step', 'mean', 'median', 'q90', 'q99', 'max', 'wrong_share']
    """
    identified = digest.identification_times
    before = np.searchsorted(digest.times, changes) - 1
    means = digest.mean_errors.mean(axis=0)
    return {
        "algorithm": digest.name,
        "identification_time": None if identified is None else _table(digest, identified),
        "convergence_time": {
            f"{epsilon:g}": _table(digest, digest.convergence_times[:, e])
            for e, epsilon in enumerate(digest.epsilons)
        },
        **_if(
            bool(changes),
            error_before_change={
                str(step): float(means[slot]) if slot >= 0 else None
                for step, slot in zip(changes, before.tolist(), strict=True)
            },
        ),
        "final_error": _average(digest.mean_errors[:, -1]),
        "error_over_time": {
            "step": digest.times.tolist(),
            "mean": means.tolist(),
            **{
                _QUANTILE_NAMES[quantile]: digest.errors[:, :, q].mean(axis=0).tolist()
                for q, quantile in enumerate(QUANTILES)
            },
            "wrong_share": {
                f"{epsilon:g}": digest.wrong_shares[:, :, e].mean(axis=0).tolist()
                for e, epsilon in enumerate(digest.epsilons)
            },
        },
        **_if(samples_per_step != 1, samples_per_step=samples_per_step),
    }


def _identification(
    trajectory: Trajectory, identifiable: bool, true_counts: ArrayLike | None
) -> dict[str, Any]:
    if not identifiable:
        return {"identification_time": None}
    times = metrics.identification_times(trajectory, true_counts)
    found = {"identification_time": _table(trajectory, times)}
    if trajectory.likely_counts is not None:
        likely = metrics.likely_identification_times(trajectory, true_counts)
        found["likely_identification_time"] = _table(trajectory, likely)
    return found


def _table(result: Trajectory | Digest, times: NDArray[np.integer[Any]]) -> dict[str, Any]:
    """Return the spread of times[run, agent] and the share within the horizon, for each class."""
    labels = result.labels
    parts = {"all": times} | {str(label): times[:, labels == label] for label in np.unique(labels)}
    return {
        key: vars(metrics.spread(part)) | {"within_horizon": float((part <= result.horizon).mean())}
        for key, part in parts.items()
    }


def _average(errors: NDArray[np.float64]) -> float | None:
    """Return the average error of the agents that have an estimate; None if nobody has."""
    unknown = np.isnan(errors)
    if unknown.all():
        return None
    return float(errors[~unknown].mean() if unknown.any() else errors.mean())


def _if(told: bool, **values: Any) -> dict[str, Any]:
    return values if told else {}
