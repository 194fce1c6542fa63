"""Betting: samples in a known range, and the narrowest intervals for them.

Lives here: the bound by wealth on a grid, and its stream.  Must not know agents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from colme.bounds.bounded import Bets, BoundedBound, BoundedStream
from colme.bounds.evidence import Evidence, N_co


class BettingStream(BoundedStream[N_co]):
    """A stream of bounded samples and the logarithms of what was won against each mean.

    Examples
    --------
    >>> stream = Betting(low=0, high=1).stream(2)
    >>> stream.update([0.0, 1.0])
    >>> stream.evidence.center
    array([0., 1.])
    """

    _kept = (*BoundedStream._kept, "_plus", "_minus", *Bets.kept("_bets"))

    _largest_stake = 0.75  # below 1, so that no bet can lose everything

    def __init__(self, bound: Betting, n: int | None) -> None:
        super().__init__(bound, n)
        self._grid = np.linspace(0.0, 1.0, bound.n_grid + 1)
        self._plus: Any = np.zeros_like(self._grid)  # ln W+(m): bets on more than m
        self._minus: Any = np.zeros_like(self._grid)  # ln W-(m): bets on less

    def _bet(self, stake: Any, unit: Any) -> None:
        gain = np.expand_dims(stake, -1) * (np.expand_dims(unit, -1) - self._grid)
        self._plus = self._plus + np.log1p(gain)
        self._minus = self._minus + np.log1p(-gain)

    @property
    def interval(self) -> tuple[N_co, N_co]:
        """The means against which nobody has won 2/γ, and a little more for the grid's sake."""
        if not self.count:
            return self._between(-math.inf, math.inf)
        level = math.log(2) + self._log_risk
        from_low, from_high = (
            self._width / self._bound.n_grid * np.add(*_crossing(wealth, level))
            for wealth in (self._plus, self._minus[..., ::-1])
        )
        return self._between(self._low + from_low, self._high - from_high)

    @property
    def evidence(self) -> Evidence[N_co]:
        """Two lines, from the mean where both gamblers own the same to the ends of the range."""
        if not self.count:
            return super().evidence
        cell, part = _crossing(self._plus - self._minus, 0.0)
        start, end = _ends(self._plus, cell)
        value = start + part * (end - start)
        slope = np.minimum(
            _chord(self._plus, cell + part, value),
            _chord(self._minus[..., ::-1], self._bound.n_grid - (cell + part), value),
        )
        size = self._width / self._bound.n_grid
        center = self._low + size * (cell + part)
        return self._as_evidence(center, 0.0, slope / size, math.log(2) - value)


def _ends(wealth: Any, cell: Any) -> tuple[Any, Any]:
    """Return the values at the two ends of a cell."""
    index = np.expand_dims(cell, -1)
    start, end = (np.take_along_axis(wealth, index + i, -1)[..., 0] for i in (0, 1))
    return start, end


def _crossing(wealth: Any, level: float) -> tuple[Any, Any]:
    """Return the cell in which falling values come down to the level, and how far into it."""
    above = np.count_nonzero(wealth >= level, axis=-1)
    cell = np.clip(above - 1, 0, wealth.shape[-1] - 2)
    start, end = _ends(wealth, cell)
    return cell, np.clip((start - level) / (start - end), 0.0, 1.0)


def _chord(wealth: Any, place: Any, value: Any) -> Any:
    """Return the slope per cell of the line from (0, wealth) down to (place, value)."""
    chord = (wealth[..., 0] - value) / np.maximum(place, 1.0)
    return np.where(place < 1, wealth[..., 0] - wealth[..., 1], chord)


@dataclass(frozen=True)
class Betting(BoundedBound):
    """Time-uniform interval for samples in [low, high], from bets against every candidate mean.

    For each m on a grid one gambler bets that the mean is larger, one that it is smaller; a mean
    against which someone has turned 1 into 2/γ is ruled out.

    Parameters
    ----------
    low, high
        The range of the samples.
    n_grid
        Cells of the grid, each of which costs time with every sample.  The interval is valid at
        any number, and hardly wider than exact at the one given.
    gamma
        Risk of the interval, both sides together.

    Examples
    --------
    >>> stream = Betting(low=0, high=1, gamma=0.05).stream()
    >>> for sample in [0.4, 0.6, 0.5, 0.5] * 50:
    ...     stream.update(sample)
    >>> [round(end, 3) for end in stream.interval]
    [0.473, 0.527]

    Notes
    -----
    W±(m) = Π (1 ± λ_i (x_i - m)) in units of the range, stakes λ_i of `Bets`, the same for every m.
    Then ln W+ falls, ln W- rises, and both are concave in m: between points of the grid they lie
    above the straight line, which stands for them.
    """

    low: float
    high: float
    n_grid: int = field(default=100, kw_only=True)
    gamma: float = 0.05
    stream_type = BettingStream
