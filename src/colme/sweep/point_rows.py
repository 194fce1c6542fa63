"""The rows of a sweep's results: what each run of each algorithm of a point achieved.

Lives here: the columns, and one point → its rows.  Must not know grids, files or who measures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme.experiment import Experiment, Measures, Scenario
from colme.results import Record

Columns: TypeAlias = dict[str, list[Any]]
"""Columns by name, all of one length: numbers, text, true or false, and None."""

FACTS: Mapping[str, type] = {
    "run": int,
    "algorithm": str,
    "seed": int,
    "n_agents": int,
    "horizon": int,
    "every": int,
}
"""What identifies a row; `every`: steps between two looks at an agent, 1 unless memory is short."""

_ERRORS: Mapping[str, Callable[[NDArray[np.float64]], Any]] = {
    "final_error_mean": np.mean,
    "final_error_median": np.median,
    "final_error_q90": lambda errors: np.quantile(errors, 0.9),
    "final_error_q99": lambda errors: np.quantile(errors, 0.99),
    "final_error_max": np.max,
}


_IDENTIFICATION = ("identification_time_avg", "identified_share")


def column_kinds(epsilons: tuple[float, ...]) -> dict[str, type]:
    """Return the columns of a point's rows in their order, with the type of each.

    - ``final_error_mean``, ``_median``, ``_q90``, ``_q99``, ``_max``: of |estimate - true mean| at
      the horizon, over the agents that have an estimate; None if no agent has;
    - ``identification_time_avg``, ``identified_share``: over all agents, and the share of agents
      that identify their class within the horizon; None if classes change;
    - for each epsilon: ``convergence_time_avg_…``, ``convergence_time_max_…``, the share
      ``converged_share_…`` of agents that converge within the horizon, and the share
      ``wrong_share_…`` whose error at the horizon is larger, or that have no estimate.

    A time beyond the horizon counts as horizon + 1.

    Examples
    --------
    >>> list(column_kinds((0.1,)))[-4:]
    ['convergence_time_avg_0.1', 'convergence_time_max_0.1', 'converged_share_0.1', \
'wrong_share_0.1']
    """
    kinds = {**FACTS, **dict.fromkeys((*_ERRORS, *_IDENTIFICATION), float)}
    for epsilon in epsilons:
        kinds |= dict(zip(_columns_of(epsilon), (float, int, float, float), strict=True))
    return kinds


def measure_point(content: dict[str, Any], threads: int | None = None) -> Columns:
    """Return the rows of one experiment: one for each algorithm and run, in this order.

    Parameters
    ----------
    content
        An experiment as plain values.
    threads
        Number of threads; the rows do not depend on it.

    Examples
    --------
    >>> problem = {"class_means": [0.2, 0.8], "n_agents": 4, "sigma": 0.1}
    >>> rows = measure_point({"problem": problem, "horizon": 9, "runs": 2, "algorithms": ["local"]})
    >>> rows["algorithm"], rows["run"], rows["converged_share_0.1"]
    (['local', 'local'], [0, 1], [1.0, 1.0])
    """
    experiment = Experiment.make(content)
    scenario = experiment.build()
    record = _record(scenario)
    found = [
        _facts(experiment, measures) | tabulate(measures)
        for result in experiment.results(scenario, record=record, threads=threads)
        for measures in (scenario.measure(result),)
    ]
    return {name: [value for rows in found for value in rows[name]] for name in found[0]}


def tabulate(measures: Measures) -> Columns:
    """Return the measures of each run; see `column_kinds`.

    Examples
    --------
    >>> from colme.experiment import measure_result
    >>> from colme import simulate
    >>> trajectory = simulate([[0.0, 0.0]] * 3, "oracle", sigma=0.1, labels=[0, 0])
    >>> tabulate(measure_result(trajectory, np.zeros(2), (0.1,)))["convergence_time_max_0.1"]
    [1]
    """
    known = [errors[~np.isnan(errors)] for errors in measures.final_errors]
    rows: Columns = {
        name: [float(measure(errors)) if errors.size else None for errors in known]
        for name, measure in _ERRORS.items()
    }
    rows |= dict.fromkeys(_IDENTIFICATION, [None] * len(known))
    times = measures.identification_times
    if times is not None:
        values = times.mean(axis=1).tolist(), _share(times <= measures.horizon)
        rows |= dict(zip(_IDENTIFICATION, values, strict=True))
    for epsilon, times in measures.convergence_times.items():
        cells = (
            times.mean(axis=1).tolist(),
            times.max(axis=1).tolist(),
            _share(times <= measures.horizon),
            _share(~(measures.final_errors <= epsilon)),
        )
        rows |= dict(zip(_columns_of(epsilon), cells, strict=True))
    return rows


def _record(scenario: Scenario) -> Record:
    """Return what to keep: what the measures need, at every step if memory allows."""
    record = Record(class_counts=scenario.is_identifiable)
    n_agents, n_classes = scenario.labels.size, int(scenario.labels.max()) + 1
    each = record.bytes_per_time(scenario.experiment.runs, n_agents, n_classes)
    return replace(record, every=-(-scenario.experiment.horizon * each // record.limit))


def _facts(experiment: Experiment, measures: Measures) -> Columns:
    n_agents, runs = measures.labels.size, experiment.runs
    values = (measures.name, experiment.seed, n_agents, measures.horizon, measures.every)
    constant = dict(zip(list(FACTS)[1:], values, strict=True))
    return {"run": list(range(runs)), **{name: [one] * runs for name, one in constant.items()}}


def _columns_of(epsilon: float) -> list[str]:
    short = repr(float(epsilon)).removesuffix(".0")
    names = ("convergence_time_avg", "convergence_time_max", "converged_share", "wrong_share")
    return [f"{name}_{short}" for name in names]


def _share(holds: NDArray[np.bool_]) -> list[float]:
    shares: list[float] = holds.mean(axis=1).tolist()
    return shares
