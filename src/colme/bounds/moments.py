"""Means and squares of samples: one more sample, two groups together, whole streams at once.

Lives here: the recurrences, and their compiled loop.  Must not know how far a mean may be off.
"""

from __future__ import annotations

from colme._compile import compiled, kernel
from colme.bounds.evidence import Numbers

_AGENTS_AT_ONCE = 16
"""Samples lie agent beside agent, means step beside step: a few agents at once suit both."""


@compiled
def folded_mean(mean: float, count: float, sample: float) -> float:
    """Return the mean of count + 1 samples from the mean of the first `count` and the next one.

    Examples
    --------
    >>> folded_mean(2.0, 1, 4.0)
    3.0

    Notes
    -----
    x̄ + (x - x̄) / (n + 1): stable, and needs no sum that grows.
    """
    return mean + (sample - mean) / (count + 1)


@compiled
def folded_squares(squares: float, before: float, after: float, sample: float) -> float:
    """Return Σ (x - x̄)² with one more sample, which moves the mean from `before` to `after`.

    Examples
    --------
    >>> folded_squares(0.0, before=2.0, after=3.0, sample=4.0)
    2.0
    """
    return squares + (sample - before) * (sample - after)


@compiled
def merged_mean(mean_a: float, n_a: int, mean_b: float, n_b: int) -> float:
    """Return the mean of two groups of samples together.

    Examples
    --------
    >>> merged_mean(1.0, 1, 4.0, 2)
    3.0
    """
    return mean_a + (mean_b - mean_a) * (n_b / (n_a + n_b))


@compiled
def merged_squares(
    squares_a: float, mean_a: float, n_a: int, squares_b: float, mean_b: float, n_b: int
) -> float:
    """Return Σ (x - x̄)² of two groups of samples together.

    Examples
    --------
    >>> merged_squares(0.0, 1.0, 1, 0.0, 4.0, 2)
    6.0
    """
    return squares_a + squares_b + (mean_b - mean_a) ** 2 * (n_a * (n_b / (n_a + n_b)))


@kernel
def fold_moments(
    samples: Numbers,
    count: int,
    mean: Numbers,
    square: Numbers,
    means: Numbers,
    squares: Numbers,
) -> None:
    """Fold samples[k, agent] into means and squares[agent, k].

    Squares, Σ (x - x̄)², are left out if their array has no agents.  The streams go on from `count`
    samples with mean[agent] and square[agent], which are brought up to date.

    Examples
    --------
    >>> import numpy as np
    >>> means, squares = np.empty((1, 2)), np.empty((1, 2))
    >>> fold_moments(np.array([[1.0], [2.0]]), 0, np.zeros(1), np.zeros(1), means, squares)
    >>> means.tolist(), squares.tolist()
    ([[1.0, 1.5]], [[0.0, 0.5]])
    """
    n_samples, n_agents = samples.shape
    for first in range(0, n_agents, _AGENTS_AT_ONCE):
        last = min(first + _AGENTS_AT_ONCE, n_agents)
        for a in range(first, last):
            means[a, 0] = folded_mean(mean[a], count, samples[0, a])
        for t in range(1, n_samples):
            for a in range(first, last):
                means[a, t] = folded_mean(means[a, t - 1], count + t, samples[t, a])
    for a in range(squares.shape[0]):
        squares[a, 0] = folded_squares(square[a], mean[a], means[a, 0], samples[0, a])
        for t in range(1, n_samples):
            squares[a, t] = folded_squares(
                squares[a, t - 1], means[a, t - 1], means[a, t], samples[t, a]
            )
        square[a] = squares[a, n_samples - 1]
    for a in range(n_agents):
        mean[a] = means[a, n_samples - 1]
