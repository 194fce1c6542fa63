"""Careful agents: what they gain by pooling only peers shown to be near, and what it costs.

Lives here: the study.  Must not know how it is written down.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme import metrics, theory
from colme.algorithm import ALGORITHMS
from colme.experiment import Measures
from colme.problem import Problem
from colme.studies.study import Row, Study
from colme.studies.work import DELTA, SIGMA, Work, curve_of, three_classes

QUESTION = "What is gained by pooling only peers shown to be near, and what does it cost?"
PARTS = 9
"""Simulations."""
WITHIN = (0.1, 0.2, 0.4)
"""How near a peer must be shown to be."""

_NAMES = ("restricted-round-robin", "sharp")
_EARLY, _LATER = 50, 200
_FINE, _COARSE = 0.01, 0.1
_COLUMNS = (
    "algorithm",
    f"error at step {_EARLY}",
    f"worst agent at step {_EARLY}",
    f"error at step {_LATER}",
    f"worst agent at step {_LATER}",
    f"error below {_COARSE:g}",
    f"error below {_FINE:g}",
    f"not below {_FINE:g} at the end",
    "theory: all classmates shown",
)


def measure(work: Work, n_agents: int = 200, horizon: int = 2500) -> Study:
    """Return the errors of careful agents, beside those of optimistic ones and of being alone.

    Examples
    --------
    >>> study = measure(Work(runs=1), n_agents=15, horizon=200)
    >>> study.value("sharp, within 0.1", "error below 0.1") == study.value("local", _COLUMNS[5])
    True
    """
    rows: list[Any] = []
    curves = []
    for label, name, within in _cases():
        tables: dict[str, Any] = {"within": within, "epsilons": (_COARSE, _FINE)}
        scenario = work.scenario(three_classes(n_agents), horizon, **tables)
        trajectory = work.simulate(label, scenario, name)
        errors = metrics.errors(trajectory, scenario.problem.true_means)
        measures = scenario.measure(trajectory)
        rows.append(_cells(label, measures, errors, _shown(scenario.problem, name, within)))
        if within in (None, WITHIN[1]):
            short = label.replace("-round-robin", "-RR")
            curves.append(curve_of(short, *_thinned(trajectory.times, errors.mean(axis=(0, 2)))))
    return work.study(
        "conservative",
        QUESTION,
        _answer({str(cells[0]): cells for cells in rows}),
        (_COLUMNS, rows),
        (curves, "time step", "distance to true mean", "xy"),
        "The smallest gap between classes is 0.2: with `within` up to that, no stranger is "
        f"ever pooled, for each agent with probability 1 - {DELTA / 8:g}.",
        "The worst agent is that of all runs.  Theory: Theorem S, averaged over agents.  "
        "Averages take agents that are not below as below one step after the end.",
    )


def _cases() -> list[tuple[str, str, float | None]]:
    cases: list[tuple[str, str, float | None]] = [("local", "local", None)]
    for name in _NAMES:
        cases.append((f"{name}, optimistic", name, None))
        cases += [(f"{name}, within {within:g}", name, within) for within in WITHIN]
    return cases


def _shown(problem: Problem, name: str, within: float | None) -> float | None:
    if within is None:
        return None
    test = ALGORITHMS[name].class_test
    situation = theory.Situation(problem.true_means, SIGMA, DELTA, class_test=test)
    return float(theory.shown_times(situation, within).mean())


def _cells(label: str, measures: Measures, errors: NDArray[np.float64], shown: float | None) -> Row:
    early, later = (errors[:, min(step, measures.horizon) - 1].ravel() for step in (_EARLY, _LATER))
    coarse, fine = (measures.convergence_times[epsilon] for epsilon in (_COARSE, _FINE))
    return (
        label,
        *(float(value) for part in (early, later) for value in (part.mean(), part.max())),
        float(coarse.mean()),
        float(fine.mean()),
        f"{(fine > measures.horizon).mean():.1%}",
        shown,
    )


def _answer(rows: dict[str, tuple[Any, ...]]) -> str:
    said = []
    for name in _NAMES:
        bold, careful = rows[f"{name}, optimistic"], rows[f"{name}, within {WITHIN[1]:g}"]
        said.append(
            f"with {name} an agent that pools only peers shown to be within {WITHIN[1]:g} has an "
            f"error of {careful[1]:.2g} instead of {bold[1]:.2g} at step {_EARLY}, and is within "
            f"{_FINE:g} after {careful[6]:.0f} steps instead of {bold[6]:.0f}"
        )
    return f"{said[0][0].upper()}{'; '.join(said)[1:]}."


def _thinned(
    times: NDArray[np.int64], error: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return as many points as a logarithmic axis can show."""
    kept = np.unique(np.geomspace(1, times.size, 200).astype(np.int64)) - 1
    return times[kept], error[kept]
