"""How many samples each agent receives at each step.

Lives here: rates, bursts, agents that join late or fall silent.  Must not know means, noise or
algorithms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check

Pattern = Literal["steady", "poisson", "bursts"]

_SPAWN_KEY = 1
"""Separates the seeds of arrivals (key, run) from those of samples (run,)."""
_LARGEST = 1e6
"""Samples per step, or per burst, so that counts fit."""
_MOST_AT_ONCE = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Arrivals:
    """How many samples agents receive at each step.

    Parameters
    ----------
    rates
        Samples per step: one number for all agents, or one for each, kept as a tuple.
    pattern
        ``"steady"``: ⌊r t⌋ samples by step t; ``"poisson"``: at random; ``"bursts"``: at random,
        `burst` samples at a time.
    burst
        Samples of one burst.
    late
        Share of agents that join late, at a random step after the first ...
    late_by
        ... and within this share of the horizon.
    silent
        Share of agents that fall silent for good, at a random step after they joined.

    Examples
    --------
    >>> Arrivals(0.5).draw(horizon=4, n_agents=2)[0].tolist()
    [[0, 0], [1, 1], [0, 0], [1, 1]]
    >>> Arrivals([1, 2], silent=0.5).draw(horizon=10, n_agents=2, runs=3).shape
    (3, 10, 2)
    """

    rates: float | Sequence[float] | NDArray[np.float64] = 1.0
    pattern: Pattern = "steady"
    burst: int = 10
    late: float = 0.0
    late_by: float = 0.5
    silent: float = 0.0

    def __post_init__(self) -> None:
        one = np.ndim(self.rates) == 0
        rates = _check_rate(self.rates) if one else tuple(map(_check_rate, self.rates))  # type: ignore[arg-type]
        object.__setattr__(self, "rates", rates)
        if self.pattern not in get_args(Pattern):
            raise ValueError(
                f"pattern must be one of {', '.join(get_args(Pattern))}; received {self.pattern!r}"
            )
        if _check.positive_int("burst", self.burst) > _LARGEST:
            raise ValueError(f"burst must be at most {_LARGEST:g}; received {self.burst}")
        for name in ("late", "late_by", "silent"):
            _check.share(name, getattr(self, name))

    @classmethod
    def between(
        cls, low: float, high: float, n_agents: int, seed: int = 0, **others: Any
    ) -> Arrivals:
        """Return arrivals with random rates from low to high, uniform on a logarithmic scale.

        `others` are further settings of the class.

        Examples
        --------
        >>> arrivals = Arrivals.between(0.1, 10, n_agents=50, pattern="poisson")
        >>> len(arrivals.rates), 0.1 <= min(arrivals.rates) < 1 < max(arrivals.rates) <= 10
        (50, True)
        """
        low, high = _check.positive("low", low), _check.positive("high", high)
        if low > high:
            raise ValueError(f"a range needs low <= high; received {low:g}, {high:g}")
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_SPAWN_KEY,) * 3))
        rates = low * (high / low) ** rng.random(_check.positive_int("n_agents", n_agents))
        return cls(np.clip(rates, low, high), **others)

    @classmethod
    def batches(cls, size: int) -> Arrivals:
        """Return arrivals of `size` samples for every agent at every step.

        Examples
        --------
        >>> Arrivals.batches(3).draw(horizon=2, n_agents=1)[0].tolist()
        [[3], [3]]
        """
        return cls(_check.positive_int("size", size))

    def draw(self, horizon: int, n_agents: int, runs: int = 1, seed: int = 0) -> NDArray[np.int32]:
        """Return counts[run, time, agent].

        Run r is the same whether 10 or 1000 runs are asked for, and independent of the samples
        that a problem draws from the same seed.

        Examples
        --------
        >>> poisson = Arrivals(2.0, "poisson")
        >>> few, many = poisson.draw(5, 3, runs=2, seed=7), poisson.draw(5, 3, runs=9, seed=7)
        >>> bool((few == many[:2]).all())
        True
        """
        numbers = range(_check.positive_int("runs", runs))
        return np.stack([self.draw_run(horizon, n_agents, run, seed) for run in numbers])

    def draw_run(
        self, horizon: int, n_agents: int, run: int = 0, seed: int = 0
    ) -> NDArray[np.int32]:
        """Return counts[time, agent] of one run: what `draw` gives for it, without the others.

        Examples
        --------
        >>> bursts = Arrivals(0.5, "bursts", burst=7)
        >>> set((bursts.draw_run(100, 3) % 7).ravel().tolist())
        {0}
        """
        horizon = _check.positive_int("horizon", horizon)
        n_agents = _check.positive_int("n_agents", n_agents)
        rates = np.array(self.rates)
        if rates.ndim and rates.size != n_agents:
            raise ValueError(
                f"rates must be one number or one for each of the {n_agents} agents; "
                f"received {rates.size}"
            )
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_SPAWN_KEY, run)))
        joins, leaves = self._presence(rng, horizon, n_agents)
        counts: NDArray[Any]
        if self.pattern == "steady":
            times = np.arange(horizon + 1)[:, np.newaxis]
            counts = np.diff(np.floor(times * np.broadcast_to(rates, n_agents)), axis=0)
        else:
            size = self.burst if self.pattern == "bursts" else 1
            counts = size * rng.poisson(rates / size, (horizon, n_agents))
        steps = np.arange(1, horizon + 1)[:, np.newaxis]
        counts[(steps < joins) | (steps >= leaves)] = 0
        return counts.astype(np.int32)

    def _presence(
        self, rng: np.random.Generator, horizon: int, n_agents: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first step of each agent, and the first step after its last."""
        joins, leaves = np.ones(n_agents, np.int64), np.full(n_agents, horizon + 1)
        late = rng.permutation(n_agents)[: round(self.late * n_agents)]
        last = max(2, math.floor(self.late_by * horizon))
        joins[late] = rng.integers(2, last, late.size, endpoint=True)
        silent = rng.permutation(n_agents)[: round(self.silent * n_agents)]
        first = np.minimum(joins[silent], horizon) + 1
        leaves[silent] = rng.integers(first, np.maximum(first, horizon), endpoint=True)
        return joins, leaves


def check_arrivals(
    values: ArrayLike, runs: int, n_agents: int, horizon: int | None = None
) -> NDArray[np.int32]:
    """Return given arrivals as [run, time, agent], one run for all if only [time, agent] is given.

    Any number of steps will do unless a horizon is given.

    Examples
    --------
    >>> check_arrivals([[1, 0], [2, 1]], runs=5, n_agents=2).shape
    (1, 2, 2)
    """
    counts = np.asarray(values)
    whole = counts.dtype.kind in "iu"
    wrong = counts[(counts < 0) | (counts > _MOST_AT_ONCE)] if whole else counts
    if wrong.size or not whole:
        received = str(wrong.flat[0]) if whole else f"{counts.dtype} numbers: use astype(int)"
        raise ValueError(
            "arrivals must be whole numbers 0, 1, 2, ...: how many samples each agent receives at "
            f"each step; received {received}"
        )
    by_run = counts[np.newaxis] if counts.ndim == 2 else counts
    if by_run.ndim != 3 or len(by_run) not in (1, runs) or by_run.shape[2] != n_agents:
        raise ValueError(
            f"arrivals must have axes [time, agent] or [run, time, agent] for {runs} runs and "
            f"{n_agents} agents; received shape {counts.shape}"
        )
    if horizon not in (None, by_run.shape[1]):
        raise ValueError(
            f"arrivals must have {horizon} steps, as many as the horizon; received "
            f"{by_run.shape[1]} steps"
        )
    return by_run.astype(np.int32, copy=False)


def _check_rate(rate: Any) -> float:
    number = _check.non_negative("rates", rate)
    if number > _LARGEST:
        raise ValueError(
            f"rates must be at most {_LARGEST:g} samples per step; received {number:g}"
        )
    return number
