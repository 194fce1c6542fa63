"""One point → its rows: what each run of each algorithm came to, as plain values.

Lives here: the function that whoever runs a sweep calls.  Must not know grids, files or who calls
it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from colme.digest import Digest
from colme.experiment import Experiment, World
from colme.sweep.measures import FACTS, Rows, measure_digest, measure_trajectory
from colme.trajectory import Record, Trajectory

__all__ = ["measure_point"]


def measure_point(content: dict[str, Any], threads: int | None = None) -> Rows:
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
    world, found = experiment.world(), []
    record = _record(experiment, world)
    for result in experiment.results(world=world, record=record, threads=threads):
        means, times = world.problem.true_means, result.times
        if world.problem.changes:
            means = world.problem.true_means_at(times)
        if isinstance(result, Digest):
            rows = measure_digest(result, means)
        else:
            rows = measure_trajectory(
                result,
                means,
                experiment.epsilons,
                identifiable=world.is_identifiable,
                true_counts=world.true_counts(),
            )
        found.append(_facts(experiment, result) | rows)
    return {name: [value for rows in found for value in rows[name]] for name in found[0]}


def _record(experiment: Experiment, world: World) -> Record:
    """Return what is kept: what the measures need, every step of it if memory allows."""
    record = Record(class_counts=world.is_identifiable)
    n_classes = int(world.labels.max()) + 1
    each = record.bytes_per_time(experiment.runs, world.labels.size, n_classes)
    return replace(record, every=-(-experiment.horizon * each // record.limit))


def _facts(experiment: Experiment, result: Trajectory | Digest) -> Rows:
    runs = experiment.runs
    every = 1 if isinstance(result, Digest) else int(result.times[0])
    values = (result.name, experiment.seed, result.labels.size, result.horizon, every)
    constant = dict(zip(list(FACTS)[1:], values, strict=True))
    return {"run": list(range(runs)), **{name: [one] * runs for name, one in constant.items()}}
