"""Asymptotic bound: samples of any range and unknown variance, after enough of them.

Lives here: the normal mixture with an estimated variance, and its stream.  Must not know agents.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from colme.bounds.base import Bound, StreamBase
from colme.bounds.evidence import Evidence, N_co
from colme.bounds.mixture import mixture_shape, tuned_prior


class AsymptoticStream(StreamBase[N_co]):
    """A stream of samples, their mean and their variance.

    Examples
    --------
    >>> stream = Asymptotic(n_opt=10, burn_in=2).stream()
    >>> stream.update(1.0)
    >>> stream.interval
    (-inf, inf)
    """

    def __init__(self, bound: Asymptotic, n: int | None) -> None:
        super().__init__(bound, n)
        self._prior = tuned_prior(bound.n_opt, bound.gamma)

    @property
    def evidence(self) -> Evidence[N_co]:
        """A parabola around the mean, as if the sample variance were the true one."""
        if self.count < self._bound.burn_in:
            return super().evidence
        variance = np.divide(self._squares, self.count - 1)
        spread, slope, offset = mixture_shape(self.count, variance, self._prior)
        return self._as_evidence(self._mean, np.where(spread > 0, spread, np.inf), slope, offset)


@dataclass(frozen=True)
class Asymptotic(Bound):
    """Interval at all times at once from the burn-in on; **asymptotic**, not exact.

    In the limit of a long burn-in the risk is at most γ, for samples of finite variance.  At a
    finite one it is only near: heavy tails, rare events, few samples and small risks break it.

    Parameters
    ----------
    n_opt
        The count at which no other prior would give a narrower interval.
    burn_in
        Until that many samples are in, and while all are equal, nothing is claimed.
    gamma
        Risk of the interval, both sides together, in the limit.

    Examples
    --------
    >>> stream = Asymptotic(n_opt=100, gamma=0.05).stream()
    >>> for sample in [19.0, 21.0, 20.0, 20.0] * 25:
    ...     stream.update(sample)
    >>> [round(end, 2) for end in stream.interval]
    [19.78, 20.22]

    Notes
    -----
    s √( (2/n) (1 + ν/n) ln(√(n/ν + 1) / γ) ), s² the sample variance, ν as in `NormalMixture`.
    """

    n_opt: float
    burn_in: int = field(default=30, kw_only=True)
    gamma: float = 0.05
    stream_type = AsymptoticStream

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.burn_in == 1:
            raise ValueError("burn_in must be at least 2, to have a variance; received 1")
