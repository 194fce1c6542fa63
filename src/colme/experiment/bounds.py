"""The bound of an experiment and how it forgets, as written in a file.

Lives here: the tables [bound] and [drift], and the bounds that both together stand for.  Must not
know arrivals, contacts or how long anything runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from colme._settings import Table
from colme.algorithm import ClassTest
from colme.bounds import (
    KINDS,
    Betting,
    Bound,
    Discounted,
    Restarted,
    Windowed,
    range_sigma,
    usual_bound,
)
from colme.bounds.counted import Counted
from colme.noise import Bernoulli, Beta, Uniform
from colme.problem import Problem
from colme.views import BYTES_PER_VIEW

__all__ = ["BOUND_KINDS", "BoundSpec", "DriftSpec", "bounds_of", "bytes_of"]

BOUND_KINDS: Mapping[str, Callable[..., Bound]] = MappingProxyType(
    {
        re.sub(r"\B(?=[A-Z])", "-", name).lower(): kind
        for name, kind in KINDS.items()
        if kind not in (Discounted, Restarted, Windowed)
    }
)
"""Every bound for a mean that does not change, by its words in a file."""

_PARAMETERS = ("n_opt", "n_min", "burn_in", "n_grid", "low", "high")
_ANY_RISK = 0.05
"""A simulation puts its bounds at the risk that is left for them."""
_N_OPT = usual_bound(ClassTest.JOINT, 1.0, _ANY_RISK).n_opt  # type: ignore[union-attr]


_BYTES_OF_STREAM = 400
"""What a stream that is followed on its own keeps, beside windows and grids."""


class BoundSpec(Table):
    """A bound by its words, with the parameters it takes; see `colme.bounds`.

    The scale of a sample comes from the problem, and so does its range if the noise has one.

    Examples
    --------
    >>> problem = Problem.bernoulli([0.2, 0.8], n_agents=3)
    >>> BoundSpec(kind="empirical-bernstein").build(problem)
    [EmpiricalBernstein(low=0.0, high=1.0, gamma=0.05)]
    >>> BoundSpec(kind="stitched", n_min=10).build(problem)
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
        surplus = [
            name for name in _PARAMETERS if getattr(self, name) is not None and name not in takes
        ]
        if surplus:
            raise ValueError(
                f"{self.kind} takes {', '.join(takes) or 'no parameter'}; "
                f"not used: {', '.join(surplus)}"
            )
        return self

    def build(self, problem: Problem) -> list[Bound]:
        """Return one bound for all agents, or one for each if their samples scatter differently."""
        takes = self._takes()
        values: dict[str, Any] = {
            name: getattr(self, name) for name in _PARAMETERS if getattr(self, name) is not None
        }
        if "n_opt" in takes:
            values.setdefault("n_opt", _N_OPT)
        if "low" in takes:
            values |= self._range(problem)
        make = BOUND_KINDS[self.kind]
        if "sigma" not in takes:
            return [make(**values, gamma=_ANY_RISK)]
        return [make(**values, sigma=sigma, gamma=_ANY_RISK) for sigma in _scales_of(problem)]

    def _takes(self) -> set[str]:
        kind: Any = BOUND_KINDS[self.kind]
        return {field.name for field in fields(kind)}

    def _range(self, problem: Problem) -> dict[str, float]:
        """Return the range of all samples, as given or else as the noise has it."""
        known = _range_of(problem)
        low = known[0] if self.low is None and known else self.low
        high = known[1] if self.high is None and known else self.high
        if low is None or high is None:
            raise ValueError(
                f"{self.kind} needs the range of the samples, which this noise does not have: "
                f"give low and high; received low={self.low}, high={self.high}"
            )
        range_sigma(low, high)
        return {"low": low, "high": high}


class DriftSpec(Table):
    """How a stream forgets, for means that may change; see `colme.bounds`.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> DriftSpec(window=100).wrap(Laplace(0.5, 0.05)).length
    100
    """

    window: int | None = Field(default=None, ge=2)
    discount: float | None = Field(default=None, gt=0, le=1)
    restart: bool = False
    alarm: float | None = Field(default=None, gt=0, lt=1)
    detector: Literal["sequences", "adwin"] | None = None
    revisit: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _check(self) -> Self:
        chosen = self._given("window", "discount", "restart")
        if len(chosen) != 1:
            raise ValueError(
                "give one of window, discount and restart = true; "
                f"received {', '.join(chosen) or 'none'}"
            )
        surplus = self._given("alarm", "detector")
        if surplus and not self.restart:
            raise ValueError(
                "alarm and detector go with restart = true; "
                f"received {', '.join(surplus)} with {chosen[0]}"
            )
        return self

    def wrap(self, bound: Bound) -> Bound:
        """Return the bound with this way to forget around it."""
        settings: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("alarm", "detector", "revisit")
            if getattr(self, name) is not None
        }
        if self.window is not None:
            return Windowed(bound, self.window, **settings)
        if self.discount is not None:
            return Discounted(bound, self.discount, **settings)
        return Restarted(bound, **settings)


def bounds_of(
    problem: Problem, class_test: ClassTest, bound: BoundSpec | None, drift: DriftSpec | None
) -> dict[str, Any]:
    """Return what a simulation is told of its bounds: the scale of a sample alone, or bounds.

    Examples
    --------
    >>> problem = Problem.bernoulli([0.2, 0.8], n_agents=3)
    >>> bounds_of(problem, ClassTest.OVERLAP, None, None)
    {'sigma': 0.5}
    >>> bounds_of(problem, ClassTest.OVERLAP, BoundSpec(kind="laplace"), None)
    {'bound': Laplace(sigma=0.5, gamma=0.05)}
    """
    scales = _scales_of(problem)
    if bound is None and drift is None:
        return {"sigma": scales if len(scales) > 1 else problem.sigma}
    if bound is None:
        each: list[Bound] = [usual_bound(class_test, sigma, _ANY_RISK) for sigma in scales]
    else:
        each = bound.build(problem)
    if drift is not None:
        each = [drift.wrap(one) for one in each]
    return {"bound": each if len(each) > 1 else each[0]}


def bytes_of(bound: BoundSpec | None, drift: DriftSpec | None) -> tuple[int, int]:
    """Return what one agent's view takes at a step, and at most what its stream keeps, in bytes.

    Examples
    --------
    >>> bytes_of(None, None), bytes_of(None, DriftSpec(window=100))
    ((16, 0), (64, 3600))
    """
    if drift is None and (bound is None or _is_counted(bound)):
        return 16, 0
    in_window = 0 if drift is None or drift.window is None else 32 * drift.window
    on_grid = 0 if bound is None else 16 * (bound.n_grid or Betting.n_grid)
    return BYTES_PER_VIEW, in_window + max(_BYTES_OF_STREAM, on_grid)


def _is_counted(bound: BoundSpec) -> bool:
    kind: Any = BOUND_KINDS[bound.kind]
    return issubclass(kind, Counted)


def _scales_of(problem: Problem) -> list[float]:
    """Return the scale of a sample, once if it is the same for all agents."""
    sigmas = problem.sigmas
    scales: list[float] = (sigmas[:1] if (sigmas == sigmas[0]).all() else sigmas).tolist()
    return scales


def _range_of(problem: Problem) -> tuple[float, float] | None:
    """Return the range that holds all samples of all agents; None if there is none."""
    match problem.noise:
        case Bernoulli():
            return 0.0, 1.0
        case Beta() as beta:
            return beta.low, beta.high
        case Uniform() as uniform:
            means = [*problem.true_means, *(change.mean for change in problem.changes)]
            return float(np.min(means) - uniform.half_width), float(
                np.max(means) + uniform.half_width
            )
    return None
