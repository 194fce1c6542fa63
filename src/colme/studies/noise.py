"""Noise: what must be known of it, and what not knowing it costs.

Lives here: the study.  Must not know how it is written down.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme import metrics
from colme.bounds import Asymptotic, Betting, EmpiricalBernstein
from colme.problem import Problem
from colme.studies.study import Study
from colme.studies.work import (
    DELTA,
    SIGMA,
    Work,
    chance_of,
    curve_of,
    ever_excluded,
    three_classes,
)
from colme.trajectory import Trajectory

__all__ = ["PARTS", "QUESTION", "SIGMAS", "measure"]

QUESTION = "What must be known of the noise, and what does not knowing it cost?"
PARTS = 8
"""Simulations."""
SIGMAS = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Where noise is unequal, agents have these in turn."""

_EPSILON = 0.01
_N_OPT = 1000
_NORMAL, _COINS, _UNEQUAL = "normal", "coins", "unequal"
_COLUMNS = (
    "samples, and what is known of them",
    "class known after",
    "not known at the end",
    f"error below {_EPSILON:g} after",
    "ever ruled out a classmate",
    "chance of as many",
    "error at the end",
    "times smaller than alone",
)


@dataclass(frozen=True)
class _Case:
    """Samples of one kind, and what agents are told of them."""

    kind: str
    known: str
    settings: dict[str, Any]

    @property
    def name(self) -> str:
        """Both in words."""
        return f"{self.kind}: {self.known}"


def measure(work: Work, n_agents: int = 200, horizon: int = 2500) -> Study:
    """Return how agents do that know more or less of their noise.

    Examples
    --------
    >>> study = measure(Work(runs=1), n_agents=15, horizon=40)
    >>> len(study.rows), study.value("normal: σ", "ever ruled out a classmate")
    (8, 0)
    """
    problems = _problems(n_agents)
    samples = {kind: work.draw(problem, horizon) for kind, problem in problems.items()}
    rows, curves = [], []
    for case in _cases(problems[_UNEQUAL].sigmas):
        problem = problems[case.kind]
        trajectory = work.simulate(
            case.name, samples[case.kind], labels=problem.labels, **case.settings
        )
        known = metrics.identification_times(trajectory)
        rows.append(_cells(case, trajectory, known, problem, samples[case.kind]))
        times = trajectory.times[:: max(1, horizon // 250)]
        shares = (known[..., None] <= times).mean(axis=(0, 1))
        curves.append(curve_of(case.name, times, shares))
    return Study(
        name="noise",
        question=QUESTION,
        answer=_answer({str(cells[0]): cells for cells in rows}),
        columns=_COLUMNS,
        rows=tuple(rows),
        curves=tuple(curves),
        x_label="time step",
        y_label="share of agents that know their class",
        notes=(
            "Coins: zeros and ones, of which agents know the range.  "
            f"Unequal: agents have σ = {', '.join(f'{s:g}' for s in SIGMAS)} in turn.",
            f"Promised: an agent ever rules out a classmate with probability at most {DELTA:g} "
            "(asymptotically, if nothing is known); the chance is that of as many cases or more "
            "if this is just so.",
        ),
        runs=work.runs,
        seed=work.seed,
    )


def _problems(n_agents: int) -> dict[str, Problem]:
    sigmas = np.array(SIGMAS)[np.arange(n_agents) % len(SIGMAS)]
    return {
        _NORMAL: three_classes(n_agents),
        _COINS: Problem.bernoulli([0.2, 0.4, 0.8], n_agents),
        _UNEQUAL: three_classes(n_agents, sigmas),
    }


def _cases(sigmas: NDArray[np.float64]) -> tuple[_Case, ...]:
    unknown: dict[str, Any] = {"bound": Asymptotic(_N_OPT)}
    coins = partial(_Case, _COINS)
    return (
        _Case(_NORMAL, "σ", {"sigma": SIGMA}),
        _Case(_NORMAL, "nothing", unknown),
        coins("usual bound", {"sigma": SIGMA}),
        coins("Bernstein", {"bound": EmpiricalBernstein(0, 1)}),
        coins("betting", {"bound": Betting(0, 1)}),
        _Case(_UNEQUAL, "σ of each", {"sigma": sigmas}),
        _Case(_UNEQUAL, "the largest σ", {"sigma": max(SIGMAS)}),
        _Case(_UNEQUAL, "nothing", unknown),
    )


def _cells(
    case: _Case,
    trajectory: Trajectory,
    known: NDArray[np.int64],
    problem: Problem,
    samples: NDArray[np.float64],
) -> tuple[Any, ...]:
    failed = ever_excluded(trajectory)
    near = metrics.convergence_times(trajectory, problem.true_means, _EPSILON)
    error = float(metrics.errors(trajectory, problem.true_means)[:, -1].mean())
    alone = float(np.abs(samples.mean(axis=1) - problem.true_means).mean())
    return (
        case.name,
        float(known.mean()),
        f"{(known > trajectory.horizon).mean():.1%}",
        float(near.mean()),
        int(failed.sum()),
        chance_of(int(failed.sum()), failed.size, DELTA),
        error,
        alone / error,
    )


def _answer(rows: dict[str, tuple[Any, ...]]) -> str:
    def slower(one: str, other: str) -> str:
        return f"{rows[one][1] / rows[other][1]:.2f}"

    wrong = sum(cells[4] for cells in rows.values())
    usual = f"{_COINS}: usual bound"
    return (
        "Agents that know nothing of their noise need "
        f"{slower(f'{_NORMAL}: nothing', f'{_NORMAL}: σ')} times as long to know their class as "
        "with σ; if noise is unequal, the largest σ for all takes "
        f"{slower(f'{_UNEQUAL}: the largest σ', f'{_UNEQUAL}: σ of each')} times as long as one "
        "for each; for coins Bernstein takes "
        f"{slower(f'{_COINS}: Bernstein', usual)} times as long as the usual bound and "
        f"betting {slower(f'{_COINS}: betting', usual)} times; a classmate was ruled "
        f"out in {wrong} cases."
    )
