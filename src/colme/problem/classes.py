"""What agents of one class share, and who leaves it.

Lives here: local biases, the mean of a class, and who moves.  Must not know noise, samples or
algorithms.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check


def draw_biases(
    rng: np.random.Generator, n_agents: int, bias: float | ArrayLike
) -> NDArray[np.float64]:
    """Return the bias of each agent: drawn uniformly in [-bias, bias], or as given.

    Examples
    --------
    >>> draw_biases(np.random.default_rng(0), 2, [0.1, -0.1]).tolist()
    [0.1, -0.1]
    """
    if np.ndim(bias) == 0:
        reach = _check.sample("bias", _check.non_negative("bias", bias))  # type: ignore[arg-type]
        return rng.uniform(-reach, reach, n_agents)
    biases = np.asarray(bias, dtype=np.float64)
    if biases.shape != (n_agents,):
        raise ValueError(
            f"bias must be one number or one for each of the {n_agents} agents; "
            f"received shape {biases.shape}"
        )
    return biases


def draw_movers(
    rng: np.random.Generator,
    labels: NDArray[np.int64],
    label: int,
    share: float,
    moved: Collection[int] = (),
) -> NDArray[np.int64]:
    """Return agents of a class that move, in order: a share of all, drawn from those still there.

    Examples
    --------
    >>> draw_movers(np.random.default_rng(0), np.array([0, 1, 1, 1]), 1, 0.4, moved=[1, 2]).tolist()
    [3]
    """
    members = _members(labels, label)
    still_there = np.setdiff1d(members, list(moved))
    n_movers = round(_check.share("share", share) * members.size)
    if n_movers > still_there.size:
        raise ValueError(
            f"share {share:g} of class {label} asks for {n_movers} of its {members.size} agents; "
            f"only {still_there.size} have not moved yet: ask for fewer"
        )
    return np.sort(rng.permutation(still_there)[:n_movers])


def class_mean(true_means: NDArray[np.float64], labels: NDArray[np.int64], label: int) -> float:
    """Return the average of the means in a class, exactly theirs if they share it.

    Examples
    --------
    >>> class_mean(np.array([0.1, 0.1, 0.1, 0.5]), np.array([0, 0, 0, 1]), 0)
    0.1
    """
    means = true_means[_members(labels, label)]
    return float(means[0] if (means == means[0]).all() else means.mean())


def _members(labels: NDArray[np.int64], label: int) -> NDArray[np.int64]:
    members = np.flatnonzero(labels == label)
    if members.size == 0:
        raise ValueError(
            f"no agent is of class {label!r}; there are classes {np.unique(labels).tolist()}"
        )
    return members
