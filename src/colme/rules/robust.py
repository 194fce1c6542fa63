"""How to pool so that a minority of peers that lie cannot do much.

Lives here: the robust weighting, over one row.  Must not know whom to ask.
"""

from __future__ import annotations

import math

from colme._compile import compiled
from colme.rules.row import Row

_REACH = 9.0
"""Peers 3 standard errors or more from where the others agree have no say: squared."""
_N_PASSES = 5
"""Weights and mean determine each other; more passes change the estimate by little."""


@compiled
def agreement(off: float, votes: float, precision: float) -> float:
    """Return the weight, from 0 to 1, of a mean that is `off` from where others agree.

    `precision` is one over the variance of a sample.

    Examples
    --------
    >>> [agreement(off, votes=25.0, precision=1.0) for off in (0.0, 0.3, 0.6)]
    [1.0, 0.5625, 0.0]

    Notes
    -----
    Tukey's biweight (1 - u²)² with u² = (x̄ - m)² n / (9 σ̂²), 0 beyond u = 1.
    """
    left = 1.0 - off * off * votes * (precision / _REACH)
    left = left if left > 0.0 else 0.0
    return left * left


@compiled
def robust_mean(a: int, n: int, row: Row) -> float:
    """Return the mean on which agent a and the members near it agree; NaN without own samples.

    A peer has at most as many votes as the agent has samples, and none if it is far from the
    agent's own mean.  From there the estimate moves to where most votes are, and peers far from
    that point have no weight.  The noise is that of the agent's own samples.  The estimate never
    leaves the agent's own interval.

    Examples
    --------
    >>> row = Row.blank(4, mean=[0.0, 0.1, 0.2, 0.9], n_samples=[25.0] * 3 + [2500.0])
    >>> row.views.squares[0] = 24.0
    >>> round(robust_mean(0, 4, row), 2)
    0.1
    >>> robust_mean(3, 4, row)
    0.9

    Notes
    -----
    Votes v_l = min(n_l, n_a) if (x̄_a - x̄_l)² <= ln(1 + n_a) σ̂² (1/n_a + 1/v_l), else 0, with
    σ̂² = Σ (x - x̄)² / (n_a - 1).  From m = x̄_a, five times: m = Σ w_l x̄_l / Σ w_l with
    w_l = v_l `agreement`(x̄_l - m), and w_a = n_a for the agent itself.
    """
    means, counts = row.views.mean, row.views.n_samples
    member, confirmed = row.member, row.confirmed
    own, most = means[a], counts[a]
    if not most > 0.0:
        return math.nan
    variance = row.views.squares[a] / (most - 1.0) if most > 1.0 else 0.0
    if not variance > 0.0:
        return own
    gate, precision = math.log(1.0 + most) * variance / most, 1.0 / variance
    center = own
    for _ in range(_N_PASSES):
        weights = total = 0.0
        for l in range(n):
            votes = counts[l] if counts[l] < most else most
            gap = means[l] - own
            near = gap * gap * votes <= gate * (most + votes)
            weight = votes * agreement(means[l] - center, votes, precision)
            weight = weight if member[l] & confirmed[l] & near else 0.0
            weights += weight
            total += weight * means[l]
        # The agent itself was heard as others are; what its votes lack is added.
        heard = agreement(own - center, most, precision) if member[a] & confirmed[a] else 0.0
        lack = most - most * heard
        center = (total + lack * own) / (weights + lack)
    shift = center - own
    return own + min(max(shift, -row.views.radius[a]), row.views.radius[a])
