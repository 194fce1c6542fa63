"""What the theorems start from: agents with true means, noise, risk, tolerance and batches.

Lives here: the situation, and which agents are near each other.  Must not know times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check
from colme.algorithm import ClassTest
from colme.bounds import Laplace, NormalMixture, default_bound, split_risk

Times: TypeAlias = NDArray[np.int64]

N = TypeVar("N", int, Times)

LARGEST_BATCH = 10**9
"""With more samples per step, products of agents and batches would overflow."""


@dataclass(frozen=True)
class Situation:
    """Everything that the theorems need to know.

    Two agents are in one class when their means differ by at most `eta`.

    Parameters
    ----------
    true_means
        The mean of each agent.
    sigma, delta, eta
        As in `colme.simulate`.
    class_test
        ``overlap``, the paper's, or ``joint``.
    batch
        How many samples each agent takes in a step, before its one query.

    Examples
    --------
    >>> from colme.theory import identification_times
    >>> situation = Situation([0.2] * 67 + [0.4] * 67 + [0.8] * 66, sigma=0.5, delta=0.001)
    >>> identification_times(situation)[[0, 67, 134]].tolist()
    [3813, 3813, 1017]
    >>> sharper = Situation(situation.means, sigma=0.5, delta=0.001, class_test="joint")
    >>> identification_times(sharper)[[0, 67, 134]].tolist()
    [2004, 2004, 587]
    >>> tens = Situation(situation.means, sigma=0.5, delta=0.001, class_test="joint", batch=10)
    >>> identification_times(tens)[[0, 67, 134]].tolist()
    [387, 387, 245]
    """

    true_means: ArrayLike
    sigma: float
    delta: float
    eta: float = 0.0
    class_test: ClassTest | str = ClassTest.OVERLAP
    batch: int = 1

    def __post_init__(self) -> None:
        means = np.asarray(self.true_means, dtype=np.float64)
        if means.ndim != 1 or means.size == 0 or not np.isfinite(means).all():
            raise ValueError(
                f"true_means must be a list of finite numbers, at least one; received {means!r}"
            )
        _check.non_negative("eta", self.eta)
        class_test = ClassTest.of(self.class_test)
        if class_test == ClassTest.KNOWN:
            raise ValueError(
                "class_test must be one of overlap, joint, paired, since a class known from the "
                f"start takes no time to find; received {self.class_test!r}"
            )
        if _check.positive_int("batch", self.batch) > LARGEST_BATCH:
            raise ValueError(f"batch must be at most {LARGEST_BATCH}; received {self.batch}")
        object.__setattr__(self, "true_means", means)
        object.__setattr__(self, "class_test", class_test)
        self.bound  # noqa: B018 - validates sigma and delta

    @property
    def means(self) -> NDArray[np.float64]:
        """The true means as an array."""
        return np.asarray(self.true_means)

    def steps(self, n: N) -> N:
        """Return the steps ⌈n / batch⌉ that bring n samples."""
        return -(-n // self.batch)

    @property
    def n_agents(self) -> int:
        """How many agents there are."""
        return self.means.size

    def n_within(self, reach: NDArray[np.float64]) -> Times:
        """Return, for each agent, how many agents have means at most `reach` away from its own."""
        values, sizes = np.unique(self.means, return_counts=True)
        below, above = _bracket(values, self.means, reach)
        before = np.concatenate(([0], np.cumsum(sizes)))
        return before[above] - before[below]

    @property
    def bound(self) -> Laplace | NormalMixture:
        """The radius β that goes with the class test, with the risk split over all agents."""
        risk = split_risk(self.delta, self.n_agents)
        return default_bound(ClassTest.of(self.class_test), self.sigma, risk)


def _bracket(
    values: NDArray[np.float64], means: NDArray[np.float64], reach: NDArray[np.float64]
) -> tuple[Times, Times]:
    """Return below, above such that exactly values[below:above] lie within `reach` of each mean.

    Values are sorted and distinct.  Distances are compared exactly as |value - mean| <= reach, so
    that two agents always agree on whether they are near each other.
    """
    padded = np.concatenate(([-np.inf], values, [np.inf]))
    above = np.searchsorted(values, means + reach, side="right")
    above += padded[above + 1] - means <= reach
    above -= padded[above] - means > reach
    below = np.searchsorted(values, means - reach, side="left")
    below -= means - padded[below] <= reach
    below += means - padded[below + 1] > reach
    return below, above


def class_sizes(situation: Situation) -> Times:
    """Return the size of each agent's class, itself included.

    Examples
    --------
    >>> class_sizes(Situation([0.0, 0.1, 0.5], sigma=1.0, delta=0.1, eta=0.1)).tolist()
    [2, 2, 1]

    Notes
    -----
    |C_a| with C_a = {l : |μ_a - μ_l| <= η} (Definitions 2 and 8).
    """
    return situation.n_within(np.full(situation.n_agents, situation.eta))


def margins(situation: Situation) -> NDArray[np.float64]:
    """Return the gap to the nearest agent outside the class, less η; infinite if there is none.

    Examples
    --------
    >>> margins(Situation([0.0, 0.25, 1.0], sigma=1.0, delta=0.1, eta=0.25)).tolist()
    [0.75, 0.5, 0.5]
    """
    values, means = np.unique(situation.means), situation.means
    below, above = _bracket(values, means, np.full(means.size, situation.eta))
    padded = np.concatenate(([-np.inf], values, [np.inf]))
    gaps: NDArray[np.float64] = np.minimum(padded[above + 1] - means, means - padded[below])
    return gaps - situation.eta
