"""The problem of an experiment, as written in a file.

Lives here: the table [problem] and its changes.  Must not know how long anything runs.
"""

from __future__ import annotations

import math
from typing import Literal, Self

from pydantic import ConfigDict, Field, model_validator

from colme._settings import Table
from colme.experiment.numbers import Sigmas
from colme.experiment.size import Size
from colme.noise import Bernoulli, Beta, Gaussian, Noise, Uniform
from colme.problem import Problem

__all__ = ["ChangeSpec", "ProblemSpec"]

_NEEDS: dict[str, tuple[str, ...]] = {
    "gaussian": ("sigma",),
    "bernoulli": (),
    "uniform": ("half_width",),
    "beta": ("concentration", "low", "high"),
}


class ChangeSpec(Table):
    """At step `at` a share of the agents of class `from` moves to the mean of class `to`.

    Examples
    --------
    >>> change = ChangeSpec.model_validate({"at": 100, "from": 0, "to": 1, "share": 0.5})
    >>> change.from_, change.to
    (0, 1)
    """

    model_config = ConfigDict(populate_by_name=True)

    at: int = Field(ge=1)
    from_: int = Field(alias="from", ge=0)
    to: int = Field(ge=0)
    share: float = Field(gt=0, le=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.from_ == self.to:
            raise ValueError(f"a change leads to another class; received {self.to} for both")
        return self

    def apply(self, problem: Problem, seed: int) -> Problem:
        """Return the problem with this change, or raise ValueError if nobody would move."""
        changed = problem.moving(self.from_, self.to, self.share, self.at, seed)
        if len(changed.changes) == len(problem.changes):
            raise ValueError(
                f"share {self.share:g} of the {problem.class_sizes[self.from_]} agents of class "
                f"{self.from_} is nobody: ask for a larger share"
            )
        return changed


class ProblemSpec(Table):
    """A problem as written in a file: see `colme.Problem` for what each field means.

    Examples
    --------
    >>> ProblemSpec(class_means=(0.2, 0.8), n_agents=4, sigma=0.5).build().n_agents
    4
    """

    noise: Literal["gaussian", "bernoulli", "uniform", "beta"] = "gaussian"
    class_means: tuple[float, ...] = Field(min_length=1)
    n_agents: int | None = Field(default=None, ge=1)
    class_sizes: tuple[int, ...] | None = None
    sigma: Sigmas | None = None
    half_width: float | None = Field(default=None, gt=0)
    concentration: float | None = Field(default=None, gt=0)
    low: float | None = None
    high: float | None = None
    bias: float = Field(default=0.0, ge=0)
    seed: int = Field(default=0, ge=0)
    changes: tuple[ChangeSpec, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Self:
        allowed = _NEEDS[self.noise]
        given = [
            name
            for name in ("sigma", "half_width", "concentration", "low", "high")
            if getattr(self, name) is not None
        ]
        missing = [name for name in allowed if name not in given and name not in ("low", "high")]
        surplus = [name for name in given if name not in allowed]
        if missing or surplus:
            raise ValueError(
                f"{self.noise} noise takes {', '.join(allowed) or 'no parameter'}; "
                f"missing: {', '.join(missing) or 'none'}; not used: {', '.join(surplus) or 'none'}"
            )
        Size(self.count_agents(), horizon=1, runs=1, longest_row=1).check()
        self.build()
        return self

    def count_agents(self) -> int:
        """Return how many agents there are.

        Examples
        --------
        >>> ProblemSpec(class_means=(0.2, 0.8), class_sizes=(3, 4), sigma=0.5).count_agents()
        7
        """
        return sum(self.class_sizes or ()) if self.n_agents is None else self.n_agents

    def build(self) -> Problem:
        """Return the problem; classes, biases and movers that are drawn come from `seed`."""
        problem = Problem.of_classes(
            self._noise(),
            self.class_means,
            n_agents=self.n_agents,
            class_sizes=self.class_sizes,
            bias=self.bias,
            seed=self.seed,
        )
        for change in self.changes:
            problem = change.apply(problem, self.seed)
        return problem

    def _noise(self) -> Noise:
        match self.noise:
            case "gaussian":
                return Gaussian(self.sigma or math.nan)
            case "uniform":
                return Uniform(self.half_width or math.nan)
            case "beta":
                low = 0.0 if self.low is None else self.low
                high = 1.0 if self.high is None else self.high
                return Beta(self.concentration or math.nan, low, high)
            case "bernoulli":
                return Bernoulli()
