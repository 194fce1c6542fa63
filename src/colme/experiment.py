"""An experiment as data: a problem, the algorithms to compare on it, and how long to run.

Lives here: reading and validating experiments, running them, summing them up.  Must not know the
command line, tables or plots.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from colme import metrics
from colme.algorithm import Weighting, resolve
from colme.noise import Bernoulli, Beta, Gaussian, Noise, Uniform
from colme.problem import Problem
from colme.simulate import simulate
from colme.trajectory import Record, Trajectory

__all__ = ["Experiment", "ProblemSpec", "summarise"]

_FROZEN = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
_NEEDS: dict[str, tuple[str, ...]] = {
    "gaussian": ("sigma",),
    "bernoulli": (),
    "uniform": ("half_width",),
    "beta": ("concentration", "low", "high"),
}


class ProblemSpec(BaseModel):
    """A problem as written in a file: see `colme.Problem` for what each field means.

    Examples
    --------
    >>> ProblemSpec(class_means=(0.2, 0.8), n_agents=4, sigma=0.5).build().n_agents
    4
    """

    model_config = _FROZEN

    noise: Literal["gaussian", "bernoulli", "uniform", "beta"] = "gaussian"
    class_means: tuple[float, ...] = Field(min_length=1)
    n_agents: int | None = Field(default=None, ge=1)
    class_sizes: tuple[int, ...] | None = None
    sigma: float | None = Field(default=None, gt=0)
    half_width: float | None = Field(default=None, gt=0)
    concentration: float | None = Field(default=None, gt=0)
    low: float | None = None
    high: float | None = None
    bias: float = Field(default=0.0, ge=0)
    seed: int = Field(default=0, ge=0)

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
        self.build()
        return self

    def build(self) -> Problem:
        """Return the problem; classes and biases that are drawn come from `seed`."""
        return Problem.of_classes(
            self._noise(),
            self.class_means,
            n_agents=self.n_agents,
            class_sizes=self.class_sizes,
            bias=self.bias,
            seed=self.seed,
        )

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


class Experiment(BaseModel):
    """A problem, algorithms that see the same samples, and how long and how often they run.

    Examples
    --------
    >>> experiment = Experiment(
    ...     problem=ProblemSpec(class_means=(0.2, 0.8), n_agents=6, sigma=0.1),
    ...     algorithms=("local", "oracle"), horizon=50, runs=2,
    ... )
    >>> [trajectory.name for trajectory in experiment.run()]
    ['local', 'oracle']
    """

    model_config = _FROZEN

    problem: ProblemSpec
    algorithms: tuple[str, ...] = Field(default=("sharp",), min_length=1)
    horizon: int = Field(default=2500, ge=1)
    runs: int = Field(default=20, ge=1)
    delta: float = Field(default=0.001, gt=0, lt=1)
    eta: float | None = Field(default=None, ge=0)
    epsilons: tuple[float, ...] = (0.1, 0.01)
    seed: int = Field(default=1, ge=0)

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name in self.algorithms:
            resolve(name)
        if len(set(self.algorithms)) < len(self.algorithms):
            raise ValueError(f"each algorithm runs once; received {', '.join(self.algorithms)}")
        if any(not epsilon > 0 for epsilon in self.epsilons):
            raise ValueError(f"each epsilon must be greater than 0; received {self.epsilons}")
        return self

    @classmethod
    def read(cls, path: str | Path) -> dict[str, Any]:
        """Return the content of a TOML file, for `make`; raise ValueError if it is not TOML."""
        try:
            with Path(path).open("rb") as stream:
                return tomllib.load(stream)
        except OSError as error:
            raise ValueError(f"cannot read {str(path)!r}: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is not a TOML file: {error}") from None

    @classmethod
    def make(cls, content: dict[str, Any]) -> Self:
        """Return the experiment that nested plain values describe; report every fault at once.

        Examples
        --------
        >>> Experiment.make({"problem": {"class_means": [0.2], "n_agents": 2, "sigma": -1}})
        Traceback (most recent call last):
        ValueError: problem.sigma: Input should be greater than 0; received -1
        """
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            raise ValueError("; ".join(_explain(fault) for fault in error.errors())) from None

    def run(
        self,
        *,
        record: Record | None = None,
        threads: int | None = None,
        progress: Callable[[str, float], None] | None = None,
    ) -> Iterator[Trajectory]:
        """Yield one trajectory for each algorithm; all of them see the same samples.

        Unless told what to record, likely classes are kept of the algorithms that know them.
        """
        problem = self.problem.build()
        samples = problem.draw(self.horizon, self.runs, self.seed)
        for name in self.algorithms:
            yield simulate(
                samples,
                name,
                sigma=problem.sigma,
                delta=self.delta,
                labels=problem.labels,
                eta=self.eta,
                record=record or Record(likely_counts=resolve(name).weighting == Weighting.MODEL),
                threads=threads,
                progress=None if progress is None else _named(progress, name),
            )


def summarise(
    trajectory: Trajectory, true_means: NDArray[np.float64], epsilons: tuple[float, ...]
) -> dict[str, Any]:
    """Return identification and convergence times, overall and per class, as plain values.

    Times of likely classes, of which nothing is guaranteed, stand apart if they were kept.

    Times that lie beyond the horizon count as horizon + 1, and `within_horizon` tells the share
    that does not.

    Examples
    --------
    >>> from colme import simulate
    >>> trajectory = simulate([[0.0, 0.0]] * 3, "oracle", sigma=0.1, labels=[0, 0])
    >>> summarise(trajectory, np.zeros(2), (0.1,))["convergence_time"]["0.1"]["all"]["avg"]
    1.0
    """

    def table(times: NDArray[np.int64]) -> dict[str, Any]:
        rows = {"all": metrics.spread(times)} | {
            str(label): spread
            for label, spread in metrics.spread_by_class(times, trajectory.labels).items()
        }
        done = {"all": times} | {
            str(label): times[:, trajectory.labels == label] for label in trajectory.labels
        }
        return {
            key: vars(row) | {"within_horizon": float((done[key] <= trajectory.horizon).mean())}
            for key, row in rows.items()
        }

    likely = (
        {}
        if trajectory.likely_counts is None
        else {"likely_identification_time": table(metrics.likely_identification_times(trajectory))}
    )
    return {
        "algorithm": trajectory.name,
        "identification_time": table(metrics.identification_times(trajectory)),
        **likely,
        "convergence_time": {
            f"{epsilon:g}": table(metrics.convergence_times(trajectory, true_means, epsilon))
            for epsilon in epsilons
        },
        "final_error": float(metrics.errors(trajectory, true_means)[:, -1].mean()),
    }


def _named(progress: Callable[[str, float], None], name: str) -> Callable[[float], None]:
    return lambda share: progress(name, share)


def _explain(fault: Any) -> str:
    where = ".".join(str(part) for part in fault["loc"])
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] in ("value_error", "missing"):
        return f"{where}: {message}" if where else message
    return f"{where}: {message}; received {fault['input']!r}"
