"""What every simulation leaves behind, kept whole or digested on the way.

Lives here: the questions that both answer.  Must not know how either was made.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Times: TypeAlias = NDArray[Any]
"""Steps counted from 1, [run, agent]; horizon + 1: not within the horizon."""


class SimulationResult(Protocol):
    """A `Trajectory` or a `Digest`: metrics, summaries and sweeps are written for this.

    Examples
    --------
    >>> import colme
    >>> problem = colme.Problem.gaussian([0.0], n_agents=9, sigma=0.1)
    >>> kept = colme.simulate(problem.draw(20), "local", sigma=0.1)
    >>> digested = colme.simulate_large(problem, "local", horizon=20)
    >>> [result.times_to_converge(problem.true_means, 0.1).shape for result in (kept, digested)]
    [(1, 9), (1, 9)]
    """

    @property
    def name(self) -> str:
        """What ran."""

    @property
    def horizon(self) -> int:
        """For how many steps."""

    @property
    def labels(self) -> NDArray[np.int64]:
        """The true class of each agent."""

    @property
    def times(self) -> NDArray[np.int64]:
        """The steps, counted from 1, at which errors are known."""

    def times_to_converge(self, true_means: ArrayLike, epsilon: float) -> Times:
        """Return the first step from which each error stays at most ε, [run, agent]."""

    def times_to_identify(self, true_counts: ArrayLike | None = None) -> Times | None:
        """Return the first step from which each optimistic class stays right, [run, agent].

        None if that was not followed.
        """

    def final_errors(self, true_means: ArrayLike) -> NDArray[np.float64]:
        """Return |estimate - true mean| at the horizon, [run, agent]; NaN without an estimate."""

    def average_errors(self, true_means: ArrayLike) -> NDArray[np.float64]:
        """Return the error at each of `times`, averaged over runs and agents that have one."""
