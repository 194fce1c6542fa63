"""How good a trajectory is: error, precision, recall, identification and convergence times.

Lives here: numbers derived from what a run kept, and the published way of averaging them.  Must
not know algorithms.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import engine
from colme.results import SimulationResult, Times, Trajectory


def errors(trajectory: Trajectory, true_means: ArrayLike) -> NDArray[np.float64]:
    """Return |estimate - true mean|, [run, kept time, agent]; the means may be [kept time, agent].

    Examples
    --------
    >>> import colme
    >>> problem = colme.Problem.gaussian([0.0], n_agents=2, sigma=0.1)
    >>> trajectory = colme.simulate(problem.draw(3), "local", sigma=0.1)
    >>> errors(trajectory, problem.true_means).shape
    (1, 3, 2)
    """
    return trajectory.errors(true_means)


def precision(trajectory: Trajectory) -> NDArray[np.float64]:
    """Return the share of the optimistic class that is right: |C ∩ C_true| / |C|.

    Examples
    --------
    >>> import colme
    >>> samples = [[0.0, 0.0, 9.0]] * 3
    >>> trajectory = colme.simulate(samples, "round-robin", sigma=0.1, labels=[0, 0, 1])
    >>> precision(trajectory)[0, :, 0].round(2).tolist()
    [0.67, 1.0, 1.0]
    """
    counts = _class_counts(trajectory)
    share: NDArray[np.float64] = _own(trajectory, counts) / counts.sum(axis=-1)
    return share


def recall(trajectory: Trajectory) -> NDArray[np.float64]:
    """Return the share of the true class that stands in the optimistic class.

    Examples
    --------
    >>> import colme
    >>> trajectory = colme.simulate([[0.0, 1.0]], "round-robin", sigma=0.1, labels=[0, 1])
    >>> recall(trajectory).tolist()
    [[[1.0, 1.0]]]
    """
    share: NDArray[np.float64] = (
        _own(trajectory, _class_counts(trajectory)) / trajectory.class_sizes[trajectory.labels]
    )
    return share


def pairwise_precision(
    trajectory: Trajectory,
) -> dict[tuple[int, int], NDArray[np.float64]]:
    """Return, for each pair of classes, the precision of their agents counting only the pair.

    Each array is [run, time, agent of the pair]: how well the two are separated.

    Examples
    --------
    >>> import colme
    >>> trajectory = colme.simulate([[0.0, 1.0]], "round-robin", sigma=0.1, labels=[0, 1])
    >>> {pair: values.tolist() for pair, values in pairwise_precision(trajectory).items()}
    {(0, 1): [[[0.5, 0.5]]]}
    """
    counts = _class_counts(trajectory)
    labels = trajectory.labels
    present = np.flatnonzero(trajectory.class_sizes)
    result = {}
    for i, j in combinations(present.tolist(), 2):
        agents = np.flatnonzero((labels == i) | (labels == j))
        pair = counts[:, :, agents][..., [i, j]]
        own = np.where(labels[agents] == i, pair[..., 0], pair[..., 1])
        result[i, j] = own / pair.sum(axis=-1)
    return result


def identification_times(result: SimulationResult, true_counts: ArrayLike | None = None) -> Times:
    """Return the first time from which each optimistic class is the true class for good.

    Times count from 1; horizon + 1 means not within the horizon.  On a thinned trajectory only
    the kept times are looked at.  The true class of an agent is everyone with its label, or
    what true_counts[agent, class] holds: with one label for each agent, any class can be given.

    Examples
    --------
    >>> import colme
    >>> samples = [[0.0, 0.0, 9.0]] * 3
    >>> trajectory = colme.simulate(samples, "round-robin", sigma=0.1, labels=[0, 0, 1])
    >>> identification_times(trajectory).tolist()
    [[2, 2, 2]]
    """
    times = result.times_to_identify(true_counts)
    if times is None:
        raise ValueError("this simulation did not follow classes: they change, or peers do")
    return times


def likely_identification_times(
    trajectory: Trajectory, true_counts: ArrayLike | None = None
) -> NDArray[np.int64]:
    """Return the first time from which each likely class is the true class for good.

    The likely class is what the model behind an estimate finds probable; nothing is guaranteed
    of it.  Everything else is as in `identification_times`.

    Examples
    --------
    >>> import colme
    >>> problem = colme.Problem.gaussian([0.0, 9.0], class_sizes=[10, 10], sigma=0.1)
    >>> keep = colme.Record(likely_counts=True)
    >>> trajectory = colme.simulate(
    ...     problem.draw(40), "sharp", sigma=0.1, labels=problem.labels, record=keep
    ... )
    >>> bool(likely_identification_times(trajectory).max() < 30)
    True
    """
    return trajectory.times_to_identify(true_counts, likely=True)


def convergence_times(result: SimulationResult, true_means: ArrayLike, epsilon: float) -> Times:
    """Return the first time from which each error stays at most ε for good.

    Times count from 1; horizon + 1 means not within the horizon.  On a thinned trajectory only
    the kept times are looked at.  True means are as in `errors`.

    Examples
    --------
    >>> import colme
    >>> trajectory = colme.simulate([[1.0], [0.0], [0.0]], "local", sigma=0.1)
    >>> convergence_times(trajectory, [0.25], epsilon=0.3).tolist()
    [[2]]

    Notes
    -----
    conv(ε) = min {τ : ∀ t ≥ τ, error ≤ ε}.
    """
    return result.times_to_converge(true_means, epsilon)


@dataclass(frozen=True)
class Spread:
    """Average, population standard deviation and maximum over agents and runs.

    Examples
    --------
    >>> Spread(avg=2.0, std=1.0, max=3.0).avg
    2.0
    """

    avg: float
    std: float
    max: float


def spread(times: ArrayLike) -> Spread:
    """Return the published statistics of values[run, agent].

    Examples
    --------
    >>> spread([[1, 3]])
    Spread(avg=2.0, std=1.0, max=3.0)
    """
    values = np.asarray(times, dtype=np.float64)
    return Spread(float(values.mean()), float(values.std()), float(values.max()))


def spread_by_class(times: ArrayLike, labels: ArrayLike) -> dict[int, Spread]:
    """Return the published statistics of values[run, agent] for each class.

    Examples
    --------
    >>> spread_by_class([[1, 3, 5]], labels=[0, 0, 1])[0]
    Spread(avg=2.0, std=1.0, max=3.0)
    """
    values, classes = np.asarray(times), np.asarray(labels)
    return {int(k): spread(values[:, classes == k]) for k in np.unique(classes)}


@dataclass(frozen=True)
class Band:
    """A curve over time with its standard deviation.

    Examples
    --------
    >>> Band(mean=np.zeros(2), std=np.ones(2)).std.tolist()
    [1.0, 1.0]
    """

    mean: NDArray[np.float64]
    std: NDArray[np.float64]


def curve(values: ArrayLike) -> Band:
    """Return the published curve of values[run, time, agent].

    Mean and standard deviation are taken across runs for each agent, then averaged over agents.

    Examples
    --------
    >>> band = curve([[[1.0, 2.0]], [[3.0, 2.0]]])
    >>> band.mean.tolist(), band.std.tolist()
    ([2.0], [0.5])
    """
    array = np.asarray(values, dtype=np.float64)
    return Band(array.mean(axis=0).mean(axis=-1), array.std(axis=0).mean(axis=-1))


def _class_counts(trajectory: Trajectory) -> engine.ClassCounts:
    if trajectory.class_counts is None:
        raise ValueError(
            "this needs class counts: simulate with record=colme.Record(class_counts=True)"
        )
    return trajectory.class_counts


def _own(trajectory: Trajectory, counts: engine.ClassCounts) -> NDArray[np.float64]:
    labels = trajectory.labels[np.newaxis, np.newaxis, :, np.newaxis]
    return np.take_along_axis(counts, labels, axis=-1)[..., 0].astype(np.float64)
