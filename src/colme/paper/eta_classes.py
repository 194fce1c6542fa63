"""Imperfect classes: who is within η of whom, and what an agent that knows it would estimate.

Lives here: the truth about η-classes and their oracle.  Must not know experiments or files.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Members = NDArray[np.bool_]


def eta_classes(true_means: ArrayLike, eta: float) -> Members:
    """Return member[agent, peer]: whether the means of the two differ by at most η.

    Examples
    --------
    >>> eta_classes([0.0, 0.3, 0.6], eta=0.35).astype(int).tolist()
    [[1, 1, 0], [1, 1, 1], [0, 1, 1]]

    Notes
    -----
    C_{η,a} = {l : |μ_a - μ_l| <= η} (Definition 8).
    """
    means = np.asarray(true_means, dtype=np.float64)
    close: Members = np.abs(means[:, np.newaxis] - means) <= eta
    return close


def class_means(true_means: ArrayLike, members: Members) -> Array:
    """Return the mean of each agent's class: its target.

    Examples
    --------
    >>> class_means([0.0, 0.5, 1.0], np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], bool)).tolist()
    [0.25, 0.5, 0.75]
    """
    targets: Array = members @ np.asarray(true_means, dtype=np.float64) / members.sum(axis=1)
    return targets


def known_class_estimates(local_means: Array, members: Members) -> Array:
    """Return the estimates [time, agent] of agents that know their class and ask it in turn.

    Each step an agent asks one member of its class and averages, with equal weights, its own
    mean and what it last heard from each.  Unlike the ``oracle`` algorithm, classes may overlap.

    Parameters
    ----------
    local_means
        [time, agent]: the running mean of each agent's own samples.
    members
        [agent, peer]: the class of each agent, itself included.

    Examples
    --------
    >>> known_class_estimates(np.array([[0.0, 2.0], [0.0, 4.0]]), np.ones((2, 2), bool)).tolist()
    [[1.0, 1.0], [2.0, 2.0]]
    """
    estimates = np.empty_like(local_means)
    for a, row in enumerate(members):
        peers = np.flatnonzero(row)
        estimates[:, a] = _one_agent(local_means, a, peers[peers != a])
    return estimates


def _one_agent(local_means: Array, a: int, peers: NDArray[np.intp]) -> Array:
    """Return the estimates of one agent: it asks n peers in turn, so the last n replies count."""
    n_peers, steps = peers.size, np.arange(local_means.shape[0])
    if n_peers == 0:
        return local_means[:, a]
    total = np.cumsum(local_means[steps, peers[steps % n_peers]])
    total[n_peers:] -= total[:-n_peers].copy()
    mean: Array = (local_means[:, a] + total) / (1 + np.minimum(steps + 1, n_peers))
    return mean
