"""The problem of an experiment, as written in a file.

Lives here: the table [problem] and its changes.  Must not know how long anything runs.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from colme._settings import PositiveOrEach, Table
from colme.noise import Bernoulli, Beta, Gaussian, NoiseLaw, Uniform
from colme.problem import Problem

_NOISE: dict[str, tuple[type[NoiseLaw], tuple[str, ...], tuple[str, ...]]] = {
    "gaussian": (Gaussian, ("sigma",), ()),
    "bernoulli": (Bernoulli, (), ()),
    "uniform": (Uniform, ("half_width",), ()),
    "beta": (Beta, ("concentration",), ("low", "high")),
}
"""The class of each noise, the keys that it needs, and the keys that it may have."""
_NOISE_KEYS = {"sigma", "half_width", "concentration", "low", "high"}


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
        """Return the problem with this change, or raise ValueError if no agent would move."""
        changed = problem.moving(self.from_, self.to, self.share, self.at, seed)
        if len(changed.changes) == len(problem.changes):
            raise ValueError(
                f"share {self.share:g} of the {problem.class_sizes[self.from_]} agents of class "
                f"{self.from_} is no agent at all: ask for a larger share"
            )
        return changed


class ProblemSpec(Table):
    """A problem as written in a file: see `colme.Problem`.

    Attributes
    ----------
    noise
        Distribution of the samples around their mean.
    class_means
        True mean of each class.
    n_agents
        Number of agents, each put into a class at random.
    class_sizes
        Number of agents in each class, instead of a total.
    sigma
        Standard deviation of gaussian noise: one for all agents, or one for each.
    half_width
        Half the range of uniform noise.
    concentration
        Concentration of beta noise: larger values scatter less.
    low
        Smallest possible sample of beta noise (0).
    high
        Largest possible sample of beta noise (1).
    bias
        Each agent's mean differs from its class mean by at most this much.
    seed
        Seed for classes, biases and which agents change.
    changes
        At which step which class moves to the mean of which other, and which share of
        its agents: --change 1500 0 2 0.5.  Can be repeated.

    Examples
    --------
    >>> ProblemSpec(class_means=(0.2, 0.8), n_agents=4, sigma=0.5).build().n_agents
    4
    """

    noise: Literal["gaussian", "bernoulli", "uniform", "beta"] = "gaussian"
    class_means: tuple[float, ...] = Field(min_length=1)
    n_agents: int | None = Field(default=None, ge=1)
    class_sizes: tuple[int, ...] | None = None
    sigma: PositiveOrEach | None = None
    half_width: float | None = Field(default=None, gt=0)
    concentration: float | None = Field(default=None, gt=0)
    low: float | None = None
    high: float | None = None
    bias: float = Field(default=0.0, ge=0)
    seed: int = Field(default=0, ge=0)
    changes: tuple[ChangeSpec, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Self:
        _, needed, optional = _NOISE[self.noise]
        given = self.model_dump(include=_NOISE_KEYS, exclude_none=True)
        missing = [name for name in needed if name not in given]
        surplus = [name for name in given if name not in needed + optional]
        if missing or surplus:
            raise ValueError(
                f"{self.noise} noise takes {', '.join(needed + optional) or 'no parameter'}; "
                f"missing: {', '.join(missing) or 'none'}; not used: {', '.join(surplus) or 'none'}"
            )
        return self

    def build(self) -> Problem:
        """Return the problem; whatever is drawn (classes, biases, changes) comes from `seed`."""
        noise: Any = _NOISE[self.noise][0]
        problem = Problem.of_classes(
            noise(**self.model_dump(include=_NOISE_KEYS, exclude_none=True)),
            self.class_means,
            n_agents=self.n_agents,
            class_sizes=self.class_sizes,
            bias=self.bias,
            seed=self.seed,
        )
        for change in self.changes:
            problem = change.apply(problem, self.seed)
        return problem
