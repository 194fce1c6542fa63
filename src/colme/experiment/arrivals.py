"""How samples arrive in an experiment, as written in a file.

Lives here: the table [arrivals].  Must not know problems, contacts or bounds.
"""

from __future__ import annotations

from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from colme._settings import NonNegativeOrEach, Positive, Table
from colme.arrivals import Arrivals

_SETTINGS = ("pattern", "burst", "late", "late_by", "silent")


class ArrivalsSpec(Table):
    """How many samples agents receive at each step: `batch`, or `rates`, or rates `between`.

    Attributes
    ----------
    batch
        Samples that every agent takes at every step (1).
    rates
        Samples per step: one number for all agents, or one for each.
    between
        Lowest and highest rate; each agent's rate is drawn between them, on a
        logarithmic scale.
    pattern
        How samples are spread over time: steady (default), poisson (at random) or
        bursts (many at once, at random).
    burst
        Samples of one burst (10).
    late
        Share of agents that join late.
    late_by
        Share of the horizon by which late agents have joined (0.5).
    silent
        Share of agents that stop receiving samples at some time.
    seed
        Seed for everything random about arrivals.

    Examples
    --------
    >>> ArrivalsSpec(batch=3).draw(horizon=2, n_agents=1, runs=5).tolist()
    [[[3], [3]]]
    >>> ArrivalsSpec(between=(0.1, 10), pattern="poisson").draw(50, n_agents=4, runs=5).shape
    (5, 50, 4)
    """

    alternatives: ClassVar[tuple[str, ...]] = ("batch", "rates", "between")

    batch: int | None = Field(default=None, ge=1, le=1000000)
    rates: NonNegativeOrEach | None = None
    between: tuple[Positive, Positive] | None = None
    pattern: Literal["steady", "poisson", "bursts"] | None = None
    burst: int | None = Field(default=None, ge=1)
    late: float | None = Field(default=None, ge=0, le=1)
    late_by: float | None = Field(default=None, ge=0, le=1)
    silent: float | None = Field(default=None, ge=0, le=1)
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _check(self) -> Self:
        others = self.model_dump(include={"rates", "between", *_SETTINGS}, exclude_none=True)
        if self.batch is not None and others:
            raise ValueError(
                "batch gives every agent the same number of samples at every step; received "
                f"{', '.join(others)} as well: drop batch or these"
            )
        if self.rates is not None and self.between is not None:
            raise ValueError(
                f"give either rates or between; received {self.rates} and {self.between}"
            )
        if self.burst is not None and self.pattern != "bursts":
            raise ValueError('burst is the size of a burst: it goes with pattern = "bursts"')
        if self.late_by is not None and self.late is None:
            raise ValueError("late_by says how late the late agents join: give late, their share")
        return self

    def build(self, n_agents: int) -> Arrivals:
        """Return the arrivals; rates that are drawn come from `seed`."""
        if self.batch is not None:
            return Arrivals.batches(self.batch)
        settings = self.model_dump(include={*_SETTINGS}, exclude_none=True)
        if self.between is not None:
            return Arrivals.between(*self.between, n_agents, self.seed, **settings)
        return Arrivals(1.0 if self.rates is None else self.rates, **settings)

    def draw(self, horizon: int, n_agents: int, runs: int) -> NDArray[np.int32]:
        """Return counts[run, time, agent]; one run for all if nothing is random."""
        arrivals = self.build(n_agents)
        is_fixed = arrivals.pattern == "steady" and not arrivals.late and not arrivals.silent
        return arrivals.draw(horizon, n_agents, 1 if is_fixed else runs, self.seed)
