"""From every agent's errors to a method's score, and how certain it is.

Lives here: the correction for the noise of held-out means, averages, the bootstrap.  Must not know
tables or methods.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from colme.data.comparison.scores import Score

_BLOCK = 4_000_000
"""This many agents are drawn at once for the bootstrap."""
_LOW, _HIGH = 0.025, 0.975


def score(
    errors: Mapping[str, NDArray[np.float64]],
    own: NDArray[np.float64],
    noise: NDArray[np.float64],
    *,
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> tuple[Score, ...]:
    """Return the score of each method from what `true_errors` takes.

    Notes
    -----
    Intervals are percentiles of the bootstrap: as many agents as there are, drawn with replacement,
    the same for all methods, in blocks of 4 million draws.  A draw in which the own means have no
    error says nothing, so it widens the interval on both sides.

    Examples
    --------
    >>> held = {"local": np.array([3.0, 1.0, 2.0]), "other": np.array([2.0, 1.0, 1.0])}
    >>> [round(one.mse, 2) for one in score(held, np.ones(3), np.ones(3))]
    [1.0, 0.33]
    """
    columns = np.stack(list(true_errors(errors, own, noise).values()))
    mses = columns.mean(axis=1)
    low, high = _interval(_draws(columns, n_bootstrap, seed))
    return tuple(
        Score(
            name=name,
            mse=float(mses[at]),
            mse_held_out=float(held_out.mean()),
            ratio=float(mses[at] / mses[0]) if mses[0] > 0 else math.nan,
            ratio_low=float(low[at]),
            ratio_high=float(high[at]),
            closer=float(np.mean(held_out < errors["local"])),
        )
        for at, (name, held_out) in enumerate(errors.items())
    )


def true_errors(
    errors: Mapping[str, NDArray[np.float64]],
    own: NDArray[np.float64],
    noise: NDArray[np.float64],
) -> dict[str, NDArray[np.float64]]:
    """Return, for each method and agent, what estimates (estimate - true mean)² without bias.

    Parameters
    ----------
    errors
        For each method, `local` first, (estimate - held-out mean)² of every agent.
    own, noise
        What is to be expected of (own mean - true mean)² and of (held-out mean - true mean)².

    Notes
    -----
    With e the errors, w what is expected of the own mean and z of the held-out mean, both e - z and
    w + e - e_local are without bias.  The first is steady for methods that differ much from the own
    means, the second for those close to them.  Between the two lie

        w + (e - e_local) + b (e_local - w - z),    0 ≤ b ≤ 1,

    the bracket being 0 on average.  The b that scatters least is found by regression, for every
    other agent from the rest, so that it does not depend on the errors it is used on (but for what
    methods let all agents share: measured, less than a tenth of what a mean square error scatters).
    The own means get w itself.

    Examples
    --------
    >>> held = {"local": np.array([3.0, 1.0]), "other": np.array([2.0, 1.0])}
    >>> true_errors(held, np.ones(2), np.ones(2))["other"].tolist()
    [0.0, 1.0]
    """
    local = errors["local"]
    surprise = local - own - noise
    return {
        name: own + (held_out - local) + _steadier(local - held_out, surprise) * surprise
        for name, held_out in errors.items()
    }


def _steadier(lost: NDArray[np.float64], surprise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return b for every agent: the slope of `lost` over `surprise` among those of other parity."""
    slopes = np.empty(len(lost))
    for parity in (0, 1):
        x, y = surprise[1 - parity :: 2], lost[1 - parity :: 2]
        x = x - x.mean() if len(x) else x
        square = float(x @ x)
        slopes[parity::2] = min(max(float(x @ y) / square, 0.0), 1.0) if square > 0 else 0.0
    return slopes


def _draws(columns: NDArray[np.float64], n_bootstrap: int, seed: int) -> NDArray[np.float64]:
    """Return [draw, method]: averages over agents drawn with replacement."""
    n = columns.shape[1]
    rng = np.random.default_rng(seed)
    block = max(1, min(n_bootstrap, _BLOCK // n))
    parts = []
    for start in range(0, n_bootstrap, block):
        size = min(block, n_bootstrap - start)
        drawn = rng.integers(n, size=(size, n)) + n * np.arange(size)[:, np.newaxis]
        times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        parts.append(times @ columns.T / n)
    return np.concatenate(parts)


def _interval(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return [end, method] of the ratios to the own means, which are the first column."""
    own = draws[:, :1]
    ratios = draws / np.where(own > 0, own, 1.0)
    low = np.quantile(np.where(own > 0, ratios, -np.inf), _LOW, axis=0, method="lower")
    high = np.quantile(np.where(own > 0, ratios, np.inf), _HIGH, axis=0, method="higher")
    return np.stack([low, high])
