"""What studies share: their experiments, counting their progress, and a few numbers.

Lives here: running experiments on behalf of a study.  Must not know any study.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme.experiment import Experiment, ProblemSpec, Scenario
from colme.results import Digest, Times, Trajectory
from colme.studies.finding import Curve, Row, Study

DELTA = 0.001
"""The risk of every agent in every study."""
SIGMA = 0.5
"""The noise of the paper's problem."""

Progress = Callable[[str, float], None]


def three_classes(n_agents: int, **settings: Any) -> ProblemSpec:
    """Return the paper's problem: means 0.2, 0.4 and 0.8, each agent put into a class at random.

    Examples
    --------
    >>> three_classes(200).build().class_sizes.tolist()
    [55, 66, 79]
    """
    given = {"sigma": SIGMA} | settings
    return ProblemSpec(class_means=(0.2, 0.4, 0.8), n_agents=n_agents, **given)


@dataclass
class Work:
    """The work of one study: how often it runs, and how far it has come.

    Parameters
    ----------
    runs, seed
        Runs with fresh samples, and their seed.
    threads
        Number of threads; the results do not depend on it.
    progress
        Called with what is running and the share of all work done, from 0 to 1.
    parts
        How many simulations the study makes.
    name, question
        Of the study.

    Examples
    --------
    >>> work = Work(runs=2)
    >>> scenario = work.scenario(three_classes(6), horizon=10)
    >>> work.simulate("alone", scenario, "local").estimates.shape
    (2, 10, 6)
    """

    runs: int
    seed: int = 0
    threads: int | None = None
    progress: Progress | None = None
    parts: int = 1
    name: str = ""
    question: str = ""
    _done: int = field(default=0, init=False)

    def scenario(self, problem: ProblemSpec, horizon: int, **tables: Any) -> Scenario:
        """Return an experiment with the risk, runs and seed of the study, ready to run."""
        common = {"horizon": horizon, "runs": self.runs, "seed": self.seed, "delta": DELTA}
        experiment = Experiment(problem=problem, **(common | tables))
        return experiment.build(experiment.size(keeps=True))

    def run(
        self, what: str, scenario: Scenario, algorithm: str = "sharp", **instead: Any
    ) -> Trajectory | Digest:
        """Return what `Scenario.run` does, and report progress as `what`."""

        def report(share: float) -> None:
            if self.progress is not None:
                self.progress(what, min(1.0, (self._done + share) / self.parts))

        report(0.0)
        result = scenario.run(algorithm, threads=self.threads, progress=report, **instead)
        self._done += 1
        return result

    def simulate(
        self, what: str, scenario: Scenario, algorithm: str = "sharp", **instead: Any
    ) -> Trajectory:
        """Return what `run` does, for an algorithm that leaves a trajectory."""
        trajectory = self.run(what, scenario, algorithm, **instead)
        assert isinstance(trajectory, Trajectory)
        return trajectory

    def study(
        self,
        answer: str,
        rows: Iterable[Row],
        figure: tuple[Sequence[Curve], str, str, str],
        *notes: str,
    ) -> Study:
        """Return the study; rows may lack columns; a figure is curves, labels and `log`."""
        table, (curves, x_label, y_label, log) = list(rows), figure
        columns = tuple(dict.fromkeys(column for row in table for column in row))
        cells = tuple(tuple(row.get(column) for column in columns) for row in table)
        found = self.name, self.question, answer, columns, cells
        axes = tuple(curves), x_label, y_label, log
        return Study(*found, *axes, notes, self.runs, self.seed)


def ever_excluded(trajectory: Trajectory) -> NDArray[np.bool_]:
    """Return, for every run and agent, whether it ever excluded an agent of its own class.

    Examples
    --------
    >>> from colme import simulate
    >>> samples = [[0.0, 0.0, 9.0]] * 3
    >>> ever_excluded(simulate(samples, "round-robin", sigma=0.1, labels=[0, 1, 1])).tolist()
    [[False, True, True]]
    """
    assert trajectory.class_counts is not None
    labels = trajectory.labels
    own = np.take_along_axis(trajectory.class_counts, labels[None, None, :, None], -1)[..., 0]
    fewest: NDArray[np.int64] = own.min(axis=1)
    return fewest < trajectory.class_sizes[labels]


def failures(
    trajectory: Trajectory, who: NDArray[np.bool_] | slice = np.s_[:]
) -> dict[str, int | float]:
    """Return how many agents ever excluded a classmate, and the chance of as many at the risk.

    Examples
    --------
    >>> from colme import simulate
    >>> failures(simulate([[0.0, 0.0]] * 3, "round-robin", sigma=0.1, labels=[0, 0]))
    {'ever ruled out a classmate': 0, 'chance of as many': 1.0}
    """
    failed = ever_excluded(trajectory)[:, who]
    n_failed = int(failed.sum())
    chance = chance_of(n_failed, failed.size, DELTA)
    return {"ever ruled out a classmate": n_failed, "chance of as many": chance}


def share_beyond(times: Times, horizon: int) -> str:
    """Return the share of times beyond the horizon, as people read it.

    Examples
    --------
    >>> share_beyond(np.array([3, 9, 10, 10]), 9)
    '50.0%'
    """
    return f"{(times > horizon).mean():.1%}"


def chance_of(n_failed: int, n: int, risk: float) -> float:
    """Return the probability of at least `n_failed` failures of `n`, if each has the risk promised.

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
