"""How samples arrive in an experiment, as written in a file.

Lives here: the table [arrivals].  Must not know problems, contacts or bounds.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from colme._settings import Table
from colme.arrivals import Arrivals
from colme.experiment.numbers import Positive, Rates

__all__ = ["ArrivalsSpec"]

_SETTINGS = ("pattern", "burst", "late", "late_by", "silent")


class ArrivalsSpec(Table):
    """How many samples agents receive at each step: see `colme.Arrivals` for the fields.

    `batch` samples for everybody at every step; or `rates`, or rates `between` two numbers, with
    the other settings.

    Examples
    --------
    >>> ArrivalsSpec(batch=3).draw(horizon=2, n_agents=1, runs=5).tolist()
    [[[3], [3]]]
    >>> ArrivalsSpec(between=(0.1, 10), pattern="poisson").draw(50, n_agents=4, runs=5).shape
    (5, 50, 4)
    """

    batch: int | None = Field(default=None, ge=1, le=1_000_000)
    rates: Rates | None = None
    between: tuple[Positive, Positive] | None = None
    pattern: Literal["steady", "poisson", "bursts"] | None = None
    burst: int | None = Field(default=None, ge=1)
    late: float | None = Field(default=None, ge=0, le=1)
    late_by: float | None = Field(default=None, ge=0, le=1)
    silent: float | None = Field(default=None, ge=0, le=1)
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _check(self) -> Self:
        others = self._given("rates", "between", *_SETTINGS)
        if self.batch is not None and others:
            raise ValueError(
                f"batch is the same for everybody at every step; received {', '.join(others)} as "
                "well: drop batch or these"
            )
        if self.rates is not None and self.between is not None:
            raise ValueError(
                f"give either rates or between; received {self.rates} and {self.between}"
            )
        if self.burst is not None and self.pattern != "bursts":
            raise ValueError('burst is the size of a burst: it goes with pattern = "bursts"')
        if self.late_by is not None and self.late is None:
            raise ValueError("late_by tells how late the late ones are: give late, their share")
        self.build(1 if not isinstance(self.rates, tuple) else len(self.rates))
        return self

    def build(self, n_agents: int) -> Arrivals:
        """Return the arrivals; rates that are drawn come from `seed`."""
        if self.batch is not None:
            return Arrivals.batches(self.batch)
        settings: dict[str, Any] = {name: getattr(self, name) for name in self._given(*_SETTINGS)}
        if self.between is not None:
            return Arrivals.between(*self.between, n_agents, self.seed, **settings)
        return Arrivals(1.0 if self.rates is None else self.rates, **settings)

    def draw(self, horizon: int, n_agents: int, runs: int) -> NDArray[np.int32]:
        """Return counts[run, time, agent]; one run for all if nothing is left to chance."""
        arrivals = self.build(n_agents)
        always = arrivals.pattern == "steady" and not arrivals.late and not arrivals.silent
        return arrivals.draw(horizon, n_agents, 1 if always else runs, self.seed)
