"""Whole streams folded at once: the same steps as a stream takes, for many samples and agents.

Lives here: one compiled loop for each way to forget.  Must not know bounds, peers or views.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme._compile import kernel
from colme.bounds.changes import BLOCK, MOST_SPLITS, watched
from colme.bounds.running import folded_mean, folded_squares
from colme.bounds.windowed import fold_tails, merged_mean, merged_squares

__all__ = ["Watch", "find_epochs", "fold_discounted", "fold_epochs", "fold_windows", "summarise"]

Array: TypeAlias = NDArray[np.float64]

_VECTOR = 16
"""Agents that are summarised at once."""


@kernel
def summarise(
    samples: Array, count: int, mean: Array, square: Array, means: Array, squares: Array
) -> None:
    """Fold every column of samples[time, agent] into means and squares[agent, time].

    Squares, Σ (x - x̄)², are left out if the array has no agents.  The streams go on from `count`
    samples with mean[agent] and square[agent], which are brought up to date.

    Examples
    --------
    >>> means, squares = np.empty((1, 2)), np.empty((1, 2))
    >>> summarise(np.array([[1.0], [2.0]]), 0, np.zeros(1), np.zeros(1), means, squares)
    >>> means.tolist(), squares.tolist()
    ([[1.0, 1.5]], [[0.0, 0.5]])
    """
    horizon, n_agents = samples.shape
    # Samples lie agent beside agent, means time beside time: a few agents at once suit both.
    for first in range(0, n_agents, _VECTOR):
        last = min(first + _VECTOR, n_agents)
        for a in range(first, last):
            means[a, 0] = folded_mean(mean[a], count, samples[0, a])
        for t in range(1, horizon):
            for a in range(first, last):
                means[a, t] = folded_mean(means[a, t - 1], count + t, samples[t, a])
    for a in range(squares.shape[0]):
        squares[a, 0] = folded_squares(square[a], mean[a], means[a, 0], samples[0, a])
        for t in range(1, horizon):
            squares[a, t] = folded_squares(
                squares[a, t - 1], means[a, t - 1], means[a, t], samples[t, a]
            )
        square[a] = squares[a, horizon - 1]
    for a in range(n_agents):
        mean[a] = means[a, horizon - 1]


@kernel
def fold_windows(samples: Array, length: int, tails: Array, means: Array, squares: Array) -> None:
    """Fold the last `length` samples at every time into means and squares[agent, time].

    `tails` is room for two numbers per sample of a window.

    Examples
    --------
    >>> means, squares = np.empty((1, 3)), np.empty((1, 3))
    >>> fold_windows(np.array([[9.0], [1.0], [2.0]]), 2, np.empty((2, 2)), means, squares)
    >>> means.tolist(), squares.tolist()
    ([[9.0, 5.0, 1.5]], [[0.0, 32.0, 0.5]])
    """
    horizon, n_agents = samples.shape
    tail_means, tail_squares = tails[0], tails[1]
    for a in range(n_agents):
        mean, square = 0.0, 0.0
        for t in range(horizon):
            place = t % length
            if place == 0:
                if t > 0:
                    fold_tails(samples[t - length : t, a], tail_means, tail_squares)
                mean, square = 0.0, 0.0
            before = mean
            mean = folded_mean(before, place, samples[t, a])
            square = folded_squares(square, before, mean, samples[t, a])
            means[a, t], squares[a, t] = mean, square
            here = place + 1
            if t >= length and here < length:
                tail = tail_means[here]
                rest = length - here
                means[a, t] = merged_mean(tail, rest, mean, here)
                squares[a, t] = merged_squares(tail_squares[here], tail, rest, square, mean, here)


@kernel
def fold_discounted(
    samples: Array, factor: float, weights: Array, means: Array, squares: Array
) -> None:
    """Fold samples, each worth `factor` times the next, into weighted means and squares.

    `weights` are the sums of the weights before each sample.

    Examples
    --------
    >>> means, squares = np.empty((1, 2)), np.empty((1, 2))
    >>> fold_discounted(np.array([[0.0], [3.0]]), 0.5, np.array([0.0, 1.0]), means, squares)
    >>> means.tolist(), squares.tolist()
    ([[0.0, 2.0]], [[0.0, 3.0]])
    """
    horizon, n_agents = samples.shape
    for a in range(n_agents):
        mean, square = 0.0, 0.0
        for t in range(horizon):
            before = mean
            mean = folded_mean(before, factor * weights[t], samples[t, a])
            square = folded_squares(factor * square, before, mean, samples[t, a])
            means[a, t], squares[a, t] = mean, square


class Watch(NamedTuple):
    """Room for the splits that are live: which they are, the means before them, their prices.

    Examples
    --------
    >>> Watch.blank().means.size == MOST_SPLITS
    True
    """

    splits: NDArray[np.int64]
    means: Array
    prices: Array

    @staticmethod
    def blank() -> Watch:
        """Return room for as many as are ever live."""
        return Watch(np.zeros(MOST_SPLITS, np.int64), np.zeros(MOST_SPLITS), np.zeros(MOST_SPLITS))


@kernel
def find_epochs(samples: Array, scale: float, log_risk: float, watch: Watch, epochs: Array) -> None:
    """Write how often each stream has begun anew by each of its samples, epochs[agent, time].

    Examples
    --------
    >>> epochs = np.empty((1, 250))
    >>> find_epochs(np.repeat([0.0, 1.0], [200, 50])[:, None], 0.5, 6.9, Watch.blank(), epochs)
    >>> int(np.argmax(epochs[0]))
    212
    """
    horizon, n_agents = samples.shape
    splits, means, prices = watch
    for a in range(n_agents):
        mean, square, count, live, epoch, due = 0.0, 0.0, 0, 0, 0.0, False
        for t in range(horizon):
            if due:
                mean, square, count, live, epoch, due = 0.0, 0.0, 0, 0, epoch + 1, False
            before = mean
            mean = folded_mean(before, count, samples[t, a])
            square = folded_squares(square, before, mean, samples[t, a])
            count += 1
            if count % BLOCK == 0:
                live, due = watched(
                    count, mean, square, scale, log_risk, live, splits, means, prices
                )
            epochs[a, t] = epoch


@kernel
def fold_epochs(samples: Array, epochs: Array, means: Array, counts: Array, squares: Array) -> None:
    """Fold samples into means, counts and squares[agent, time], anew in each epoch.

    Examples
    --------
    >>> fields = np.empty((3, 1, 3))
    >>> fold_epochs(np.array([[9.0], [1.0], [2.0]]), np.array([[0.0, 1.0, 1.0]]), *fields)
    >>> fields[:, 0].tolist()
    [[9.0, 1.0, 1.5], [1.0, 1.0, 2.0], [0.0, 0.0, 0.5]]
    """
    horizon, n_agents = samples.shape
    for a in range(n_agents):
        mean, square, count = 0.0, 0.0, 0.0
        for t in range(horizon):
            if t > 0 and epochs[a, t] != epochs[a, t - 1]:
                mean, square, count = 0.0, 0.0, 0.0
            before = mean
            mean = folded_mean(before, count, samples[t, a])
            square = folded_squares(square, before, mean, samples[t, a])
            count += 1.0
            means[a, t], counts[a, t], squares[a, t] = mean, count, square
