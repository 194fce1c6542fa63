"""What studies share: the problem they start from, counting their progress, and a few numbers.

Lives here: drawing and simulating on behalf of a study.  Must not know any study.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme.algorithm import Algorithm
from colme.problem import Problem
from colme.simulate import simulate
from colme.studies.study import Curve
from colme.trajectory import Trajectory

__all__ = [
    "DELTA",
    "SIGMA",
    "Work",
    "chance_of",
    "curve_of",
    "ever_excluded",
    "three_classes",
]

DELTA = 0.001
"""The risk of every agent in every study."""
SIGMA = 0.5
"""The noise of the paper's problem."""

Progress = Callable[[str, float], None]


def three_classes(n_agents: int, sigma: float | NDArray[np.float64] = SIGMA) -> Problem:
    """Return the paper's problem: means 0.2, 0.4 and 0.8, each agent put into a class at random.

    Examples
    --------
    >>> three_classes(200).class_sizes.tolist()
    [55, 66, 79]
    """
    return Problem.gaussian([0.2, 0.4, 0.8], n_agents, sigma=sigma)


@dataclass
class Work:
    """The work of one study: how often it runs, and how far it has come.

    Parameters
    ----------
    runs, seed
        Runs with fresh samples, and their seed.
    threads
        Number of threads; nothing depends on it.
    progress
        Called with what is running and the share of all work done, from 0 to 1.
    parts
        How many simulations the study will make.

    Examples
    --------
    >>> work = Work(runs=2)
    >>> samples = work.draw(three_classes(6), horizon=10)
    >>> work.simulate("alone", samples, "local", sigma=SIGMA).estimates.shape
    (2, 10, 6)
    """

    runs: int
    seed: int = 0
    threads: int | None = None
    progress: Progress | None = None
    parts: int = 1
    _done: int = field(default=0, init=False)

    def draw(
        self, problem: Problem, horizon: int, arrivals: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Return samples of all runs, as `Problem.draw` does."""
        return problem.draw(horizon, self.runs, self.seed, arrivals)

    def simulate(
        self,
        what: str,
        samples: NDArray[np.float64],
        algorithm: str | Algorithm = "sharp",
        **settings: Any,
    ) -> Trajectory:
        """Return what `colme.simulate` does, with the risk of all studies; tell how far it is."""

        def tell(share: float) -> None:
            if self.progress is not None:
                self.progress(what, min(1.0, (self._done + share) / self.parts))

        tell(0.0)
        trajectory = simulate(
            samples, algorithm, delta=DELTA, threads=self.threads, progress=tell, **settings
        )
        self._done += 1
        return trajectory


def ever_excluded(trajectory: Trajectory) -> NDArray[np.bool_]:
    """Return, for every run and agent, whether it ever ruled out somebody of its own class.

    Examples
    --------
    >>> samples = [[0.0, 0.0, 9.0]] * 3
    >>> ever_excluded(simulate(samples, "round-robin", sigma=0.1, labels=[0, 1, 1])).tolist()
    [[False, True, True]]
    """
    assert trajectory.class_counts is not None
    labels = trajectory.labels
    own = np.take_along_axis(trajectory.class_counts, labels[None, None, :, None], -1)[..., 0]
    fewest: NDArray[np.int64] = own.min(axis=1)
    return fewest < trajectory.class_sizes[labels]


def chance_of(n_failed: int, n: int, risk: float) -> float:
    """Return how probable so many failures or more are, if each happens with the risk promised.

    Examples
    --------
    >>> chance_of(0, 1000, 0.001), round(chance_of(5, 1000, 0.001), 4)
    (1.0, 0.0036)

    Notes
    -----
    1 - Σ_{i < k} C(n, i) δⁱ (1 - δ)ⁿ⁻ⁱ, as if agents failed independently.
    """
    fewer = (math.comb(n, i) * risk**i * (1 - risk) ** (n - i) for i in range(n_failed))
    return max(0.0, 1 - math.fsum(fewer))


def curve_of(name: str, x: ArrayLike, y: ArrayLike, *, theory: bool = False) -> Curve:
    """Return a curve through arrays.

    Examples
    --------
    >>> curve_of("error", np.array([1, 2]), [0.5, 0.25]).x
    (1.0, 2.0)
    """
    places, heights = (tuple(np.asarray(each, np.float64).tolist()) for each in (x, y))
    return Curve(name, places, heights, theory)
