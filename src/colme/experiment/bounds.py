"""The bound of an experiment and how streams forget, as written in a file.

Lives here: the tables [bound] and [drift], and the bounds that follow from both.  Must not know
arrivals, contacts or how long anything runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from colme._settings import Table
from colme.algorithm import ClassTest
from colme.bounds import (
    KINDS,
    STREAM_N_OPT,
    Betting,
    Bound,
    Discounted,
    Restarted,
    Windowed,
    default_bound,
    range_sigma,
)
from colme.bounds.counted import Counted
from colme.noise import Bernoulli, Beta, Uniform
from colme.problem import Problem
from colme.summary import BYTES_PER_VIEW

BOUND_KINDS: Mapping[str, Callable[..., Bound]] = MappingProxyType(
    {
        re.sub(r"\B(?=[A-Z])", "-", name).lower(): kind
        for name, kind in KINDS.items()
        if kind not in (Discounted, Restarted, Windowed)
    }
)
"""Every bound for a mean that does not change, by its name in a file."""

_PARAMETERS = ("n_opt", "n_min", "burn_in", "n_grid", "low", "high")
_ANY_RISK = 0.05
"""Any value will do: a simulation divides the risk anew."""
_BYTES_PER_STREAM = 400
"""State of a stream that is followed sample by sample, without windows and grids."""
_BYTES_PER_WINDOW_SAMPLE = 32
_BYTES_PER_GRID_CELL = 16


class BoundSpec(Table):
    """A bound by its name, with the parameters it takes; see `colme.bounds`.

    The scale of a sample comes from the problem, and so does its range if the noise has one.

    Attributes
    ----------
    kind
        laplace, normal-mixture, stitched, empirical-bernstein, betting, student or
        asymptotic; by default what suits each algorithm, from the scale of a sample.
    n_opt
        Number of samples that normal-mixture, student and asymptotic are tuned for
        (1000).
    n_min
        Number of samples from which stitched is tight (1).
    burn_in
        Number of samples before which asymptotic claims nothing (30).
    n_grid
        Number of cells of betting (100).
    low
        Smallest possible sample (that of the noise).
    high
        Largest possible sample (that of the noise).

    Examples
    --------
    >>> problem = Problem.bernoulli([0.2, 0.8], n_agents=3)
    >>> BoundSpec(kind="empirical-bernstein").build(problem, [0.5])
    [EmpiricalBernstein(low=0.0, high=1.0, gamma=0.05)]
    >>> BoundSpec(kind="stitched", n_min=10).build(problem, [0.5])
    [Stitched(sigma=0.5, n_min=10.0, gamma=0.05)]
    """

    kind: str
    n_opt: float | None = Field(default=None, gt=0)
    n_min: float | None = Field(default=None, gt=0)
    burn_in: int | None = Field(default=None, ge=2)
    n_grid: int | None = Field(default=None, ge=1)
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.kind not in BOUND_KINDS:
            raise ValueError(
                f"kind must be one of {', '.join(BOUND_KINDS)}; received {self.kind!r}"
            )
        takes = [name for name in _PARAMETERS if name in self._takes()]
        surplus = [name for name in self._parameters() if name not in takes]
        if surplus:
            raise ValueError(
                f"{self.kind} takes {', '.join(takes) or 'no parameter'}; "
                f"not used: {', '.join(surplus)}"
            )
        return self

    def build(self, problem: Problem, scales: list[float]) -> list[Bound]:
        """Return one bound for all agents, or one for each scale."""
        takes = self._takes()
        values = self._parameters()
        if "n_opt" in takes:
            values.setdefault("n_opt", STREAM_N_OPT)
        if "low" in takes:
            values |= self._range(problem)
        make = BOUND_KINDS[self.kind]
        if "sigma" not in takes:
            return [make(**values, gamma=_ANY_RISK)]
        return [make(**values, sigma=sigma, gamma=_ANY_RISK) for sigma in scales]

    def _parameters(self) -> dict[str, Any]:
        return self.model_dump(exclude={"kind"}, exclude_none=True)

    def _takes(self) -> set[str]:
        kind: Any = BOUND_KINDS[self.kind]
        return {field.name for field in fields(kind)}

    def _range(self, problem: Problem) -> dict[str, float]:
        """Return the range of all samples: the given one, or else that of the noise."""
        known = _range_of(problem) or (None, None)
        low = known[0] if self.low is None else self.low
        high = known[1] if self.high is None else self.high
        if low is None or high is None:
            raise ValueError(
                f"{self.kind} needs the range of the samples, which this noise does not have: "
                f"give low and high; received low={self.low}, high={self.high}"
            )
        range_sigma(low, high)
        return {"low": low, "high": high}


class DriftSpec(Table):
    """How a stream forgets, for means that may change; see `colme.bounds`.

    Attributes
    ----------
    window
        Number of the latest samples that count; older ones do not.
    discount
        Factor by which the weight of a sample falls with each later sample.
    restart
        Start again when the mean is shown to have changed.
    alarm
        Probability that a stream whose mean never changes is ever restarted (0.001).
    detector
        What detects changes: sequences (default) or adwin.
    revisit
        One query in this many goes to an excluded peer (10); 0: none does.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> DriftSpec(window=100).wrap(Laplace(0.5, 0.05)).length
    100
    """

    alternatives: ClassVar[tuple[str, ...]] = ("window", "discount", "restart")

    window: int | None = Field(default=None, ge=2)
    discount: float | None = Field(default=None, gt=0, le=1)
    restart: bool = False
    alarm: float | None = Field(default=None, gt=0, lt=1)
    detector: Literal["sequences", "adwin"] | None = None
    revisit: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _check(self) -> Self:
        chosen = self.model_dump(include={*self.alternatives}, exclude_defaults=True)
        if len(chosen) != 1:
            raise ValueError(
                "give one of window, discount and restart = true; "
                f"received {', '.join(chosen) or 'none'}"
            )
        surplus = self.model_dump(include={"alarm", "detector"}, exclude_none=True)
        if surplus and not self.restart:
            raise ValueError(
                "alarm and detector go with restart = true; "
                f"received {', '.join(surplus)} with {', '.join(chosen)}"
            )
        return self

    def wrap(self, bound: Bound) -> Bound:
        """Return the bound, made to forget in this way."""
        settings = self.model_dump(include={"alarm", "detector", "revisit"}, exclude_none=True)
        if self.window is not None:
            return Windowed(bound, self.window, **settings)
        if self.discount is not None:
            return Discounted(bound, self.discount, **settings)
        return Restarted(bound, **settings)


def bounds_of(
    problem: Problem, class_test: ClassTest, bound: BoundSpec | None, drift: DriftSpec | None
) -> dict[str, Any]:
    """Return the argument of `simulate` that follows from a bound, a drift or both.

    Examples
    --------
    >>> problem = Problem.bernoulli([0.2, 0.8], n_agents=3)
    >>> bounds_of(problem, ClassTest.OVERLAP, BoundSpec(kind="laplace"), None)
    {'bound': Laplace(sigma=0.5, gamma=0.05)}
    """
    sigmas = problem.sigmas
    scales: list[float] = (sigmas[:1] if (sigmas == sigmas[0]).all() else sigmas).tolist()
    if bound is None:
        each: list[Bound] = [default_bound(class_test, sigma, _ANY_RISK) for sigma in scales]
    else:
        each = bound.build(problem, scales)
    if drift is not None:
        each = [drift.wrap(one) for one in each]
    return {"bound": each if len(each) > 1 else each[0]}


def bytes_of(bound: BoundSpec | None, drift: DriftSpec | None) -> dict[str, int]:
    """Return the bytes of one agent's view at one step, and at most those of its stream's state.

    Nothing is returned of bounds whose radius follows from the count.

    Examples
    --------
    >>> bytes_of(None, DriftSpec(window=100))
    {'bytes_per_view': 72, 'bytes_per_stream': 3600}
    """
    kind: Any = Counted if bound is None else BOUND_KINDS[bound.kind]
    if drift is None and issubclass(kind, Counted):
        return {}
    window = 0 if drift is None else _BYTES_PER_WINDOW_SAMPLE * (drift.window or 0)
    grid = 0 if bound is None else _BYTES_PER_GRID_CELL * (bound.n_grid or Betting.n_grid)
    n_bytes = window + max(_BYTES_PER_STREAM, grid)
    return {"bytes_per_view": BYTES_PER_VIEW, "bytes_per_stream": n_bytes}


def _range_of(problem: Problem) -> tuple[float, float] | None:
    """Return the range that holds all samples of all agents; None if there is none."""
    match problem.noise:
        case Bernoulli():
            return 0.0, 1.0
        case Beta() as beta:
            return beta.low, beta.high
        case Uniform(half_width):
            means = [*problem.true_means, *(change.mean for change in problem.changes)]
            return float(np.min(means) - half_width), float(np.max(means) + half_width)
    return None
