"""What is left of a simulation that is too large to keep.

Lives here: `Digest`, made of the metrics of its runs.  Must not know how estimates were computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme.results.running_metrics import RunningMetrics

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Digest:
    """What a simulation left behind whose trajectory would be too large.

    Attributes
    ----------
    name
        What ran.
    horizon
        For how many steps.
    labels
        The true class of each agent.
    epsilons
        Accuracies that times and shares are about.
    times
        The steps, counted from 1, at which errors were looked at.
    errors
        float64[run, time, quantile]: the error's `QUANTILES` over agents.
    mean_errors
        float64[run, time]: its average over agents.
    wrong_shares
        float64[run, time, epsilon]: the share of agents whose error is larger than ε.
    convergence_times
        int32[run, epsilon, agent]: the first step from which the error stays at most ε, all steps
        looked at; horizon + 1: not within the horizon.
    identification_times
        int32[run, agent]: the first step from which the optimistic class is right; or None.
    estimates
        float64[run, agent] at the end.

    Examples
    --------
    >>> metrics = RunningMetrics(np.zeros(2), horizon=1, epsilons=(0.5,))
    >>> metrics.open(0, 1)
    >>> metrics.fold(0, np.array([[0.1], [0.9]]))
    >>> metrics.close()
    >>> digest = Digest.of("local", np.zeros(2, np.int64), [metrics])
    >>> digest.wrong_shares.tolist(), digest.convergence_times.tolist()
    ([[[0.5]]], [[[1, 2]]])
    """

    name: str
    horizon: int
    labels: NDArray[np.int64]
    epsilons: tuple[float, ...]
    times: NDArray[np.int64]
    errors: Array
    mean_errors: Array
    wrong_shares: Array
    convergence_times: NDArray[np.int32]
    identification_times: NDArray[np.int32] | None
    estimates: Array

    @classmethod
    def of(cls, name: str, labels: NDArray[np.int64], runs: Sequence[RunningMetrics]) -> Digest:
        """Return what is left of runs whose blocks are all closed."""
        identified = [run.identification_times for run in runs]
        known = [times for times in identified if times is not None]
        return cls(
            name=name,
            horizon=runs[0].horizon,
            labels=labels,
            epsilons=runs[0].epsilons,
            times=runs[0].times,
            errors=np.stack([run.errors for run in runs]),
            mean_errors=np.stack([run.mean_errors for run in runs]),
            wrong_shares=np.stack([run.wrong_shares for run in runs]),
            convergence_times=np.stack([run.convergence_times for run in runs]),
            identification_times=np.stack(known) if known else None,
            estimates=np.stack([run.estimates for run in runs]),
        )

    def times_to_converge(self, true_means: ArrayLike, epsilon: float) -> NDArray[np.int32]:  # noqa: ARG002
        """Return the first step from which each error stays at most ε, [run, agent].

        The true means were given when it ran, and so were the accuracies.
        """
        if epsilon not in self.epsilons:
            raise ValueError(
                f"this simulation was followed at epsilon {', '.join(map(str, self.epsilons))}; "
                f"received {epsilon}: name it in epsilons=(...) when simulating"
            )
        times: NDArray[np.int32] = self.convergence_times[:, self.epsilons.index(epsilon)]
        return times

    def times_to_identify(self, true_counts: ArrayLike | None = None) -> NDArray[np.int32] | None:  # noqa: ARG002
        """Return the first step from which each optimistic class stays right, [run, agent]."""
        return self.identification_times

    def final_errors(self, true_means: ArrayLike) -> Array:
        """Return |estimate - true mean| at the horizon, [run, agent]."""
        means = np.asarray(true_means, dtype=np.float64)
        return np.abs(self.estimates - (means if means.ndim == 1 else means[-1]))

    def average_errors(self, true_means: ArrayLike) -> Array:  # noqa: ARG002
        """Return the error at each of `times`, averaged over agents and runs."""
        averages: Array = self.mean_errors.mean(axis=0)
        return averages
