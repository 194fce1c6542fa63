"""Has the mean changed: the test of every likely moment, by repeated confidence sequences.

Lives here: which moments are tested, what each of them says, and the detector.  Must not know what
follows from a change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from colme._compile import compiled
from colme.bounds.evidence import huber

__all__ = ["BLOCK", "MOST_SPLITS", "Sequences", "split_evidence", "split_price", "watched"]

BLOCK = 4
"""The detector looks once in so many samples, and a change may lie between two looks."""

MOST_SPLITS = 1024
"""More splits than are ever live."""

_FINE = 32  # a split is dropped at an age of so many times the largest power of 2 that divides it
_BEFORE = 0.1  # the prior count before a split, as a share of the count
_AFTER = 4.0  # the prior count after it
_FLAT = 50.0  # up to here splits have about the same share of the risk,
_FALL = 0.25  # then the share of all splits to come falls with this power
_BURN_IN = 30  # samples before an estimated variance is used
_NOISE = 1e-12  # what rounding leaves of a variance
_NEGLIGIBLE = -5.0  # smaller parts of the sum, in logarithms, are left out
_PRICE_BEFORE = 0.5 * math.log1p(1 / _BEFORE)


@compiled
def split_price(i: int) -> float:
    """Return ln(1/π_i), what the i-th split pays for not being the only one.

    Examples
    --------
    >>> [round(split_price(i), 2) for i in (1, 10, 100, 1000)]
    [5.31, 5.52, 6.67, 9.1]

    Notes
    -----
    π_i = F(i - 1) - F(i) with F(i) = (1 + i/50)^-¼: the shares of all splits add up to 1.
    """
    return -math.log((1 + (i - 1) / _FLAT) ** -_FALL - (1 + i / _FLAT) ** -_FALL)


@compiled
def split_evidence(
    before: int, mean_before: float, count: int, mean: float, squares: float, scale: float
) -> float:
    """Return the Huber function of the pair: the first `before` samples, and those after.

    `mean` and `squares` are of all `count` samples.  If the scale is infinite, the sample variance
    within both parts stands in for it, from 30 samples on.

    Examples
    --------
    >>> round(split_evidence(100, 0.0, 200, 0.5, 0.0, 0.5), 2)
    93.46

    Notes
    -----
    Spread σ²((1 + 1/10)/b + (a + 4)/a²) for b samples before and a after; the prior count before
    is b/10, which is known when the split is made.
    """
    after = float(count - before)
    distance = abs(mean - mean_before) * (count / after)
    variance = scale * scale
    if scale == math.inf and count >= _BURN_IN:
        left = squares - before * after / count * distance * distance
        variance = left / (count - 2) if left > _NOISE * squares else math.inf
    spread = variance * ((1 + _BEFORE) / before + (after + _AFTER) / (after * after))
    return huber(distance, spread, math.inf)


@compiled
def watched(
    count: int,
    mean: float,
    squares: float,
    scale: float,
    log_risk: float,
    live: int,
    splits: Any,
    means: Any,
    prices: Any,
) -> tuple[int, bool]:
    """Return how many splits are live after a look, and whether the mean must have changed.

    To be called after every `BLOCK`-th sample, with the epoch's count, mean and squares.  The
    first `live` places of the sequences are read, brought up to date, and one is added.

    Examples
    --------
    >>> splits, means, prices = [1, 0], [0.0, 0.0], [split_price(1), 0.0]
    >>> watched(8, 0.1, 0.5, 0.5, 6.9, 1, splits, means, prices)
    (2, False)
    >>> splits, means
    ([1, 2], [0.0, 0.1])

    Notes
    -----
    Σ_i π_i M_before(i) M_after(i), each product at its least over the mean, is below an e-process;
    an alarm is the sum at 1/alarm.
    """
    now = count // BLOCK
    kept, total = 0, 0.0
    for j in range(live):
        i = splits[j]
        if now - i <= _FINE * (i & -i):
            splits[kept], means[kept], prices[kept] = i, means[j], prices[j]
            kept += 1
            against = split_evidence(BLOCK * i, means[j], count, mean, squares, scale)
            gain = against - prices[j] - _PRICE_BEFORE - log_risk
            if gain > _NEGLIGIBLE:
                gain -= 0.5 * math.log1p((count - BLOCK * i) / _AFTER)
                total += math.exp(min(gain, 1.0))
    splits[kept], means[kept], prices[kept] = now, mean, split_price(now)
    return kept + 1, total >= 1.0


class Sequences:
    """The detector of one stream: some hundred splits, more with the logarithm of its length.

    Examples
    --------
    >>> detector = Sequences(scale=0.5, alarm=0.001)
    >>> any(detector.changed(count, 0.0, 0.0) for count in range(1, 100))
    False
    """

    def __init__(self, scale: float, alarm: float) -> None:
        self._scale, self._log_risk = scale, -math.log(alarm)
        self._live = 0
        self._splits: list[int] = []
        self._means: list[float] = []
        self._prices: list[float] = []

    def changed(self, count: int, mean: float, squares: float) -> bool:
        """Return whether the mean must have changed, after each sample of an epoch."""
        if count % BLOCK:
            return False
        kept: list[list[Any]] = [self._splits, self._means, self._prices]
        for values in kept:
            del values[self._live :]
            values.append(0)
        self._live, found = watched(
            count, mean, squares, self._scale, self._log_risk, self._live, *kept
        )
        return found

    def state(self) -> dict[str, list[float]]:
        """Return the live splits and the means before them, ready for JSON."""
        return {"splits": list(self._splits[: self._live]), "means": self._means[: self._live]}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on where `state` was taken."""
        try:
            splits, means = ([float(x) for x in state[name]] for name in ("splits", "means"))
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"a detector keeps splits and means; received {state!r}") from None
        rising = all(b > a > 0 for a, b in zip([0.5, *splits], splits, strict=False))
        if len(splits) != len(means) or not rising or not all(map(math.isfinite, splits + means)):
            raise ValueError(f"splits rise, each with a mean before it; received {state!r}")
        self._splits, self._means = [int(i) for i in splits], means
        self._prices = [split_price(i) for i in self._splits]
        self._live = len(splits)
