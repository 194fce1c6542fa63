"""Has the mean changed: the test of every likely moment, by repeated confidence sequences.

Lives here: which moments are tested, what each of them says, and the detector.  Must not know what
follows from a change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from colme._compile import compiled, kernel
from colme.bounds.evidence import Numbers, huber
from colme.bounds.moments import folded_mean, folded_squares

BLOCK = 4
"""Samples between two looks of the detector; a change may lie between any two looks.  One look
costs as much as hundreds of samples, and four samples more until an alarm are few."""

MOST_SPLITS = 1024
"""Room for more splits than are live in the longest stream (some 500 after 2³¹ samples)."""

_FINE = 32
"""A split is dropped at an age of 32 times the largest power of 2 that divides it: the distance
between live splits is at most about 1/16 of their age, and they grow with the logarithm of time."""
_BEFORE = 0.1
"""The prior count before a split, as a share of the count: the count is known when the split is
made, and any fixed share costs the same whatever the count."""
_AFTER = 4.0
"""The prior count after a split: small, as changes are to be found after few samples."""
_FLAT = 50.0
"""The first 50 splits have about the same share of the risk ..."""
_FALL = 0.25
"""... and the share that is left for all later ones falls with this power of their number: slowly,
so that late changes are found too."""
_BURN_IN = 30
"""Samples before an estimated variance is used, as in `Asymptotic`."""
_NOISE = 1e-12
"""A variance below this share of the squares may be what rounding left of none."""
_NEGLIGIBLE = -5.0
"""Parts of the sum below e⁻⁵ are left out, which saves their logarithm and only delays an alarm."""
_ENOUGH = 1.0
"""A part of the sum is cut at e¹: it raises the alarm alone, and more might overflow."""
_PRICE_BEFORE = 0.5 * math.log1p(1 / _BEFORE)
"""What the evidence before a split pays for its prior."""


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


class SplitTable(NamedTuple):
    """The splits that are live: which they are, the means before them, their prices.

    Examples
    --------
    >>> SplitTable.blank().means.size == MOST_SPLITS
    True
    """

    splits: Any
    means: Any
    prices: Any

    @staticmethod
    def blank() -> SplitTable:
        """Return arrays with room for as many splits as are ever live."""
        splits = np.zeros(MOST_SPLITS, np.int64)
        return SplitTable(splits, np.zeros(MOST_SPLITS), np.zeros(MOST_SPLITS))


@compiled
def update_splits(
    count: int,
    mean: float,
    squares: float,
    scale: float,
    log_risk: float,
    n_live: int,
    table: SplitTable,
) -> tuple[int, bool]:
    """Return how many splits are live after a look, and whether the mean must have changed.

    To be called after every `BLOCK`-th sample, with the epoch's count, mean and squares.  The
    first `n_live` places of the table are read and brought up to date, and one is added.

    Examples
    --------
    >>> table = SplitTable([1, 0], [0.0, 0.0], [split_price(1), 0.0])
    >>> update_splits(8, 0.1, 0.5, scale=0.5, log_risk=6.9, n_live=1, table=table)
    (2, False)
    >>> table.splits, table.means
    ([1, 2], [0.0, 0.1])

    Notes
    -----
    Σ_i π_i M_before(i) M_after(i), each product at its least over the mean, is below an e-process;
    an alarm is the sum at 1/alarm.
    """
    now = count // BLOCK
    kept, total = 0, 0.0
    for j in range(n_live):
        i, mean_before, price = table.splits[j], table.means[j], table.prices[j]
        if now - i <= _FINE * (i & -i):
            table.splits[kept], table.means[kept], table.prices[kept] = i, mean_before, price
            kept += 1
            against = split_evidence(BLOCK * i, mean_before, count, mean, squares, scale)
            gain = against - price - _PRICE_BEFORE - log_risk
            if gain > _NEGLIGIBLE:
                gain -= 0.5 * math.log1p((count - BLOCK * i) / _AFTER)
                total += math.exp(min(gain, _ENOUGH))
    table.splits[kept], table.means[kept], table.prices[kept] = now, mean, split_price(now)
    return kept + 1, total >= 1.0


@kernel
def find_epochs(
    samples: Numbers, scale: float, log_risk: float, table: SplitTable, epochs: Numbers
) -> None:
    """Write how often each stream has restarted by each of its samples, epochs[agent, k].

    Examples
    --------
    >>> epochs = np.empty((1, 250))
    >>> find_epochs(np.repeat([0.0, 1.0], [200, 50])[:, None], 0.5, 6.9, SplitTable.blank(), epochs)
    >>> int(np.argmax(epochs[0]))
    212
    """
    n_samples, n_agents = samples.shape
    for a in range(n_agents):
        mean, square, count, n_live, epoch, due = 0.0, 0.0, 0, 0, 0.0, False
        for t in range(n_samples):
            if due:
                mean, square, count, n_live, epoch, due = 0.0, 0.0, 0, 0, epoch + 1, False
            before = mean
            mean = folded_mean(before, count, samples[t, a])
            square = folded_squares(square, before, mean, samples[t, a])
            count += 1
            if count % BLOCK == 0:
                n_live, due = update_splits(count, mean, square, scale, log_risk, n_live, table)
            epochs[a, t] = epoch


class SequencesDetector:
    """The detector of one stream: some hundred splits, more with the logarithm of its length.

    Examples
    --------
    >>> detector = SequencesDetector(scale=0.5, alarm=0.001)
    >>> any(detector.changed(0.0, count, 0.0, 0.0) for count in range(1, 100))
    False
    """

    def __init__(self, scale: float, alarm: float) -> None:
        self._scale, self._log_risk = scale, -math.log(alarm)
        self._n_live = 0
        self._table = SplitTable([], [], [])

    def changed(self, _sample: float, count: int, mean: float, squares: float) -> bool:
        """Return whether the mean must have changed, after each sample of an epoch."""
        if count % BLOCK:
            return False
        for values in self._table:
            del values[self._n_live :]
            values.append(0)
        self._n_live, found = update_splits(
            count, mean, squares, self._scale, self._log_risk, self._n_live, self._table
        )
        return found

    def state(self) -> dict[str, list[float]]:
        """Return the live splits and the means before them, ready for JSON."""
        live = slice(self._n_live)
        return {"splits": self._table.splits[live], "means": self._table.means[live]}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on where `state` was taken."""
        try:
            splits, means = ([float(x) for x in state[name]] for name in ("splits", "means"))
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"a detector keeps splits and means; received {state!r}") from None
        rising = all(b > a > 0 for a, b in zip([0.5, *splits], splits, strict=False))
        if len(splits) != len(means) or not rising or not all(map(math.isfinite, splits + means)):
            raise ValueError(f"splits rise, each with a mean before it; received {state!r}")
        self._n_live = len(splits)
        self._table = SplitTable(
            [int(i) for i in splits], means, [split_price(int(i)) for i in splits]
        )

    def find_epochs(self, samples: Numbers, epochs: Numbers) -> None:
        """Write how often each stream samples[k, agent] has restarted, epochs[agent, k]."""
        find_epochs(samples, self._scale, self._log_risk, SplitTable.blank(), epochs)
