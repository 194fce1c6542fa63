"""Noise: what must be known of it, and what not knowing it costs.

Lives here: the study.  Must not know how it is written down.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from colme.experiment import BoundSpec, Measures, ProblemSpec, Scenario
from colme.results import Trajectory
from colme.studies.study import Row, Study
from colme.studies.work import (
    DELTA,
    Work,
    chance_of,
    curve_of,
    ever_excluded,
    three_classes,
)

QUESTION = "What must be known of the noise, and what does not knowing it cost?"
PARTS = 8
"""Simulations."""
SIGMAS = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Where noise is unequal, agents have these in turn."""

_EPSILON = 0.01
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


class _NoiseCase(NamedTuple):
    """Samples of one kind, and what agents know of them."""

    kind: str
    known: str
    bound: BoundSpec | None = None
    instead: dict[str, Any] = {}  # noqa: RUF012 - never changed

    @property
    def name(self) -> str:
        """Both in words."""
        return f"{self.kind}: {self.known}"


_UNKNOWN = BoundSpec(kind="asymptotic")
_CASES = (
    _NoiseCase(_NORMAL, "σ"),
    _NoiseCase(_NORMAL, "nothing", _UNKNOWN),
    _NoiseCase(_COINS, "usual bound"),
    _NoiseCase(_COINS, "Bernstein", BoundSpec(kind="empirical-bernstein")),
    _NoiseCase(_COINS, "betting", BoundSpec(kind="betting")),
    _NoiseCase(_UNEQUAL, "σ of each"),
    _NoiseCase(_UNEQUAL, "the largest σ", instead={"sigma": max(SIGMAS)}),
    _NoiseCase(_UNEQUAL, "nothing", _UNKNOWN),
)


def measure(work: Work, n_agents: int = 200, horizon: int = 2500) -> Study:
    """Return how agents do that know more or less of their noise.

    Examples
    --------
    >>> study = measure(Work(runs=1), n_agents=15, horizon=40)
    >>> len(study.rows), study.value("normal: σ", "ever ruled out a classmate")
    (8, 0)
    """
    problems = _problems(n_agents)
    rows: list[Any] = []
    curves = []
    for case in _CASES:
        scenario = work.scenario(
            problems[case.kind], horizon, bound=case.bound, epsilons=(_EPSILON,)
        )
        trajectory = work.simulate(case.name, scenario, **case.instead)
        measures = scenario.measure(trajectory)
        rows.append(_cells(case.name, scenario, trajectory, measures))
        assert measures.identification_times is not None
        times = trajectory.times[:: max(1, horizon // 250)]
        shares = (measures.identification_times[..., None] <= times).mean(axis=(0, 1))
        curves.append(curve_of(case.name, times, shares))
    return work.study(
        "noise",
        QUESTION,
        _answer({str(cells[0]): cells for cells in rows}),
        (_COLUMNS, rows),
        (curves, "time step", "share of agents that know their class", ""),
        "Coins: zeros and ones, of which agents know the range.  "
        f"Unequal: agents have σ = {', '.join(f'{s:g}' for s in SIGMAS)} in turn.",
        f"Promised: an agent ever rules out a classmate with probability at most {DELTA:g} "
        "(asymptotically, if nothing is known); the chance is that of as many cases or more "
        "if this is just so.",
    )


def _problems(n_agents: int) -> dict[str, ProblemSpec]:
    sigmas = np.array(SIGMAS)[np.arange(n_agents) % len(SIGMAS)]
    return {
        _NORMAL: three_classes(n_agents),
        _COINS: three_classes(n_agents, noise="bernoulli", sigma=None),
        _UNEQUAL: three_classes(n_agents, sigma=tuple(sigmas.tolist())),
    }


def _cells(name: str, scenario: Scenario, trajectory: Trajectory, measures: Measures) -> Row:
    known, near = measures.identification_times, measures.convergence_times[_EPSILON]
    assert known is not None
    failed = ever_excluded(trajectory)
    error = float(measures.final_errors.mean())
    alone = float(np.abs(scenario.samples.mean(axis=1) - scenario.problem.true_means).mean())
    return (
        name,
        float(known.mean()),
        f"{(known > measures.horizon).mean():.1%}",
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
