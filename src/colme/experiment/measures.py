"""What each agent achieved in each run: errors and times, and their summary as plain values.

Lives here: the one place that distinguishes a trajectory from a digest.  Must not know experiments
or how anything was computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme.results import QUANTILES, Digest, Times, Trajectory

_OPTIONAL = (
    "likely_identification_time",
    "error_before_change",
    "error_over_time",
    "samples_per_step",
)
"""Keys that are left out where there is nothing to say."""
_QUANTILE_NAMES = {0.5: "median", 0.9: "q90", 0.99: "q99", 1.0: "max"}


@dataclass(frozen=True, eq=False)
class Measures:
    """Errors and times of one algorithm; see `measure_result`.

    Attributes
    ----------
    name, horizon, labels
        What ran, for how many steps, and the true class of each agent.
    every
        Steps between two looks at each agent: 1 unless the trajectory was thinned.
    final_errors
        |estimate - true mean| at the horizon, [run, agent]; NaN for agents without an estimate.
    convergence_times
        [run, agent] for each epsilon; horizon + 1: not within the horizon.
    identification_times, likely_identification_times
        [run, agent] likewise; None if there is no such time.
    errors_before_changes, final_error
        Average error over agents and runs just before each change and at the horizon; None if no
        agent has an estimate.
    error_over_time
        Quantiles of errors over agents, if a digest has them.
    samples_per_step
        The average number of samples that an agent received in a step.

    Examples
    --------
    >>> from colme import simulate
    >>> trajectory = simulate([[0.0, 0.0]] * 3, "oracle", sigma=0.1, labels=[0, 0])
    >>> measure_result(trajectory, np.zeros(2), (0.1,)).convergence_times
    {0.1: array([[1, 1]])}
    """

    name: str
    horizon: int
    labels: NDArray[np.int64]
    every: int
    final_errors: NDArray[np.float64]
    convergence_times: Mapping[float, Times]
    identification_times: Times | None
    likely_identification_times: Times | None
    errors_before_changes: Mapping[int, float | None]
    final_error: float | None
    error_over_time: Mapping[str, Any] | None
    samples_per_step: float = 1.0


def measure_result(
    result: Trajectory | Digest,
    true_means: NDArray[np.float64],
    epsilons: tuple[float, ...],
    *,
    identifiable: bool = True,
    true_counts: ArrayLike | None = None,
    changes: tuple[int, ...] = (),
    samples_per_step: float = 1.0,
) -> Measures:
    """Return what each agent achieved.

    True means are [agent], or [kept time, agent] if they change, which they do at the steps
    `changes`; `epsilons` are the accuracies for the convergence times.  Identification times are
    None unless classes are `identifiable`: unless they stay the same.  `true_counts` is the true
    class of each agent, as in `colme.metrics.identification_times`.

    Examples
    --------
    >>> from colme import Problem
    >>> from colme.simulate import simulate_large
    >>> problem = Problem.bernoulli([0.5], n_agents=9)
    >>> digest = simulate_large(problem, "local", horizon=20)
    >>> list(measure_result(digest, problem.true_means, ()).error_over_time)
    ['step', 'mean', 'median', 'q90', 'q99', 'max', 'wrong_share']
    """
    slots = dict(zip(changes, (np.searchsorted(result.times, changes) - 1).tolist(), strict=True))
    final = result.final_errors(true_means)
    over_time = None
    identified: Times | None = None
    likely: Times | None = None
    before: dict[int, float | None] = dict.fromkeys(changes)
    if isinstance(result, Digest):
        averages = result.average_errors(true_means)
        before |= {step: float(averages[slot]) for step, slot in slots.items() if slot >= 0}
        at_end = _average(result.mean_errors[:, -1])
        identified, over_time, every = result.identification_times, _error_over_time(result), 1
    else:
        errors = result.errors(true_means) if changes else final
        before |= {step: _average(errors[:, slot]) for step, slot in slots.items() if slot >= 0}
        at_end, every = _average(final), int(result.times[0])
        if identifiable and result.class_counts is not None:
            identified = result.times_to_identify(true_counts)
        if identifiable and result.likely_counts is not None:
            likely = result.times_to_identify(true_counts, likely=True)
    return Measures(
        result.name,
        result.horizon,
        result.labels,
        every,
        final,
        {epsilon: result.times_to_converge(true_means, epsilon) for epsilon in epsilons},
        identified,
        likely,
        before,
        at_end,
        over_time,
        samples_per_step,
    )


def summarise(measures: Measures) -> dict[str, Any]:
    """Return identification and convergence times, overall and per class, as plain values.

    Times of likely classes, which carry no guarantee, are listed separately if they were kept.
    Times beyond the horizon count as horizon + 1, and `within_horizon` is the share that is not.
    Errors are averages over the agents that have an estimate.

    Examples
    --------
    >>> from colme import simulate
    >>> trajectory = simulate([[0.0, 0.0]] * 3, "oracle", sigma=0.1, labels=[0, 0])
    >>> summary = summarise(measure_result(trajectory, np.zeros(2), (0.1,)))
    >>> summary["convergence_time"]["0.1"]["all"]["avg"]
    1.0
    """
    before = measures.errors_before_changes
    summary = {
        "algorithm": measures.name,
        "identification_time": _spreads(measures, measures.identification_times),
        "likely_identification_time": _spreads(measures, measures.likely_identification_times),
        "convergence_time": {
            f"{epsilon:g}": _spreads(measures, times)
            for epsilon, times in measures.convergence_times.items()
        },
        "error_before_change": {str(step): error for step, error in before.items()},
        "final_error": measures.final_error,
        "error_over_time": measures.error_over_time,
        "samples_per_step": None if measures.samples_per_step == 1 else measures.samples_per_step,
    }
    return {key: value for key, value in summary.items() if value or key not in _OPTIONAL}


def _spreads(measures: Measures, times: Times | None) -> dict[str, Any] | None:
    """Return the spread of times[run, agent] and the share within the horizon, for each class."""
    if times is None:
        return None
    parts = {"all": times}
    for label in np.unique(measures.labels):
        parts[str(label)] = times[:, measures.labels == label]
    return {
        key: {
            "avg": float(part.mean()),
            "std": float(part.std()),
            "max": float(part.max()),
            "within_horizon": float((part <= measures.horizon).mean()),
        }
        for key, part in parts.items()
    }


def _error_over_time(digest: Digest) -> dict[str, Any]:
    return {
        "step": digest.times.tolist(),
        "mean": digest.mean_errors.mean(axis=0).tolist(),
        **{
            _QUANTILE_NAMES[quantile]: digest.errors[:, :, q].mean(axis=0).tolist()
            for q, quantile in enumerate(QUANTILES)
        },
        "wrong_share": {
            f"{epsilon:g}": digest.wrong_shares[:, :, e].mean(axis=0).tolist()
            for e, epsilon in enumerate(digest.epsilons)
        },
    }


def _average(errors: NDArray[np.float64]) -> float | None:
    """Return the average error of the agents that have an estimate; None if no agent has."""
    unknown = np.isnan(errors)
    if unknown.all():
        return None
    return float(errors[~unknown].mean() if unknown.any() else errors.mean())
