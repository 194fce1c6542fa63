"""The measures of a run: what each row of a sweep's results tells.

Lives here: the columns, and numbers from trajectories and digests.  Must not know experiments,
grids or files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import metrics
from colme.digest import Digest
from colme.trajectory import Trajectory

__all__ = ["FACTS", "column_kinds", "measure_digest", "measure_trajectory", "tabulate"]

Rows: TypeAlias = dict[str, list[Any]]
"""Columns by name, all of one length: numbers, text, true or false, and None."""

Times: TypeAlias = NDArray[np.integer[Any]]

FACTS: Mapping[str, type] = {
    "run": int,
    "algorithm": str,
    "seed": int,
    "n_agents": int,
    "horizon": int,
    "every": int,
}
"""What a row tells of itself: times are looked at every so-many steps, 1 unless memory is short."""

_ERRORS: Mapping[str, Callable[[NDArray[np.float64]], Any]] = {
    "final_error_mean": np.mean,
    "final_error_median": np.median,
    "final_error_q90": lambda errors: np.quantile(errors, 0.9),
    "final_error_q99": lambda errors: np.quantile(errors, 0.99),
    "final_error_max": np.max,
}


def column_kinds(epsilons: tuple[float, ...]) -> dict[str, type]:
    """Return the columns of a point's rows in their order, with the type of each.

    - ``final_error_mean``, ``_median``, ``_q90``, ``_q99``, ``_max``: of |estimate - true mean| at
      the horizon, over the agents that have an estimate; None if nobody has;
    - ``identification_time_avg``, ``identified_share``: over all agents, and the share of agents
      that identify their class within the horizon; None if classes do not stay what they are;
    - for each epsilon: ``convergence_time_avg_…``, ``convergence_time_max_…``, the share
      ``converged_share_…`` of agents that converge within the horizon, and the share
      ``wrong_share_…`` whose error at the horizon is larger, or who have no estimate.

    A time beyond the horizon counts as horizon + 1.

    Examples
    --------
    >>> list(column_kinds((0.1,)))[-4:]
    ['convergence_time_avg_0.1', 'convergence_time_max_0.1', 'converged_share_0.1', \
'wrong_share_0.1']
    """
    kinds = {**FACTS, **dict.fromkeys(_ERRORS, float)}
    kinds |= {"identification_time_avg": float, "identified_share": float}
    for epsilon in epsilons:
        kinds |= dict(zip(_columns_of(epsilon), (float, int, float, float), strict=True))
    return kinds


def measure_trajectory(
    trajectory: Trajectory,
    true_means: NDArray[np.float64],
    epsilons: tuple[float, ...],
    *,
    identifiable: bool = True,
    true_counts: ArrayLike | None = None,
) -> Rows:
    """Return the measures of each run of a trajectory.

    Parameters
    ----------
    trajectory
        What was kept.
    true_means
        [agent], or [kept time, agent] if they change.
    epsilons
        Accuracies for the convergence times.
    identifiable
        Whether true classes stay what they are.
    true_counts
        The true class of each agent, as in `colme.metrics.identification_times`.

    Examples
    --------
    >>> from colme import simulate
    >>> trajectory = simulate([[0.0, 0.0]] * 3, "oracle", sigma=0.1, labels=[0, 0])
    >>> measure_trajectory(trajectory, np.zeros(2), (0.1,))["convergence_time_max_0.1"]
    [1]
    """
    assert trajectory.estimates is not None
    last = true_means if true_means.ndim == 1 else true_means[-1]
    return tabulate(
        np.abs(trajectory.estimates[:, -1] - last),
        {
            epsilon: metrics.convergence_times(trajectory, true_means, epsilon)
            for epsilon in epsilons
        },
        metrics.identification_times(trajectory, true_counts) if identifiable else None,
        trajectory.horizon,
    )


def measure_digest(digest: Digest, true_means: NDArray[np.float64]) -> Rows:
    """Return the measures of each run of a simulation too large to keep.

    Parameters
    ----------
    digest
        What is left of it.
    true_means
        [agent], or [time looked at, agent] if they change.

    Examples
    --------
    >>> from colme import Problem
    >>> from colme.large import simulate_large
    >>> problem = Problem.bernoulli([0.5], n_agents=9)
    >>> digest = simulate_large(problem, "local", horizon=20, epsilons=(0.9,))
    >>> measure_digest(digest, problem.true_means)["convergence_time_max_0.9"]
    [1]
    """
    last = true_means if true_means.ndim == 1 else true_means[-1]
    return tabulate(
        np.abs(digest.estimates - last),
        {
            epsilon: digest.convergence_times[:, place]
            for place, epsilon in enumerate(digest.epsilons)
        },
        digest.identification_times,
        digest.horizon,
    )


def tabulate(
    final_errors: NDArray[np.float64],
    convergence_times: Mapping[float, Times],
    identification_times: Times | None,
    horizon: int,
) -> Rows:
    """Return the measures of each run from what is known of each agent; see `column_kinds`.

    Parameters
    ----------
    final_errors
        |estimate - true mean| at the horizon, [run, agent]; NaN for who has no estimate.
    convergence_times
        For each epsilon [run, agent]; horizon + 1 for not within the horizon.
    identification_times
        [run, agent] likewise; None if there is no such time.
    horizon
        Number of steps.

    Examples
    --------
    >>> rows = tabulate(np.array([[0.1, 0.3]]), {0.2: np.array([[7, 10]])}, None, horizon=9)
    >>> rows["final_error_mean"], rows["converged_share_0.2"], rows["identified_share"]
    ([0.2], [0.5], [None])
    """
    known = [errors[~np.isnan(errors)] for errors in final_errors]
    rows: Rows = {
        name: [float(measure(errors)) if errors.size else None for errors in known]
        for name, measure in _ERRORS.items()
    }
    nothing: list[Any] = [None] * len(known)
    times = identification_times
    rows["identification_time_avg"] = nothing if times is None else _plain(times.mean(axis=1))
    rows["identified_share"] = nothing if times is None else _share(times <= horizon)
    for epsilon, times in convergence_times.items():
        wrong = _share(~(final_errors <= epsilon))
        values = (_plain(times.mean(axis=1)), _plain(times.max(axis=1)), _share(times <= horizon))
        rows |= dict(zip(_columns_of(epsilon), (*values, wrong), strict=True))
    return rows


def _columns_of(epsilon: float) -> tuple[str, str, str, str]:
    short = repr(float(epsilon)).removesuffix(".0")
    names = ("convergence_time_avg", "convergence_time_max", "converged_share", "wrong_share")
    a, b, c, d = (f"{name}_{short}" for name in names)
    return a, b, c, d


def _share(holds: NDArray[np.bool_]) -> list[Any]:
    return _plain(holds.mean(axis=1))


def _plain(values: NDArray[Any]) -> list[Any]:
    plain: list[Any] = values.tolist()
    return plain
