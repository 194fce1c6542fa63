"""From a stream to what an agent says about itself: a mean and a count.

Lives here: folding samples.  Must not know peers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from colme import _check
from colme._compile import compiled

__all__ = ["Summary", "folded_mean"]


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


@dataclass(frozen=True)
class Summary:
    """The mean of the first `count` samples of a stream.

    Examples
    --------
    >>> Summary().fold(1.0).fold(2.0)
    Summary(mean=1.5, count=2)
    """

    mean: float = 0.0
    count: int = 0

    def fold(self, sample: float) -> Self:
        """Return the summary after one more sample; refuse NaN, infinities and the like."""
        sample = _check.sample("sample", sample)
        return type(self)(folded_mean(self.mean, self.count, sample), self.count + 1)
