"""Careful agents: what they gain by pooling only peers shown to be near, and what it costs.

Lives here: the study.  Must not know how it is written down.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme import metrics, theory
from colme.algorithm import ALGORITHMS
from colme.experiment import Scenario
from colme.results import Times
from colme.studies.finding import Row, Study
from colme.studies.work import DELTA, SIGMA, Work, curve_of, share_beyond, three_classes

QUESTION = "What is gained by pooling only peers shown to be near, and what does it cost?"
PARTS = 9
"""Simulations."""
WITHIN = (0.1, 0.2, 0.4)
"""How near a peer must be shown to be."""

_NAMES = ("restricted-round-robin", "sharp")
_EARLY, _LATER = 50, 200
_FINE, _COARSE = 0.01, 0.1

Array = NDArray[np.float64]


def measure(work: Work, n_agents: int = 200, horizon: int = 2500) -> Study:
    """Return the errors of careful agents, beside those of optimistic ones and of being alone.

    Examples
    --------
    >>> study = measure(Work(runs=1), n_agents=15, horizon=200)
    >>> alone = study.value("local", "error below 0.1")
    >>> study.value("sharp, within 0.1", "error below 0.1") == alone
    True
    """
    rows: dict[str, Row] = {}
    curves = []
    for label, name, within in _cases():
        tables: dict[str, Any] = {"within": within, "epsilons": (_COARSE, _FINE)}
        scenario = work.scenario(three_classes(n_agents), horizon, **tables)
        trajectory = work.simulate(label, scenario, name)
        errors = metrics.errors(trajectory, scenario.problem.true_means)
        shown = None if within is None else _shown(scenario, name, within)
        rows[label] = _row(label, errors, scenario.measure(trajectory).convergence_times, shown)
        if within in (None, WITHIN[1]):
            # As many points as a logarithmic axis can show.
            kept = np.unique(np.geomspace(1, horizon, 200).astype(np.int64)) - 1
            short, error = label.replace("-round-robin", "-RR"), errors.mean(axis=(0, 2))
            curves.append(curve_of(short, trajectory.times[kept], error[kept]))
    return work.study(
        _answer(rows),
        rows.values(),
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


def _shown(scenario: Scenario, name: str, within: float) -> float:
    means, test = scenario.problem.true_means, ALGORITHMS[name].class_test
    situation = theory.Situation(means, SIGMA, DELTA, class_test=test)
    return float(theory.shown_times(situation, within).mean())


def _row(label: str, errors: Array, times: Mapping[float, Times], shown: float | None) -> Row:
    horizon = errors.shape[1]
    row: dict[str, Any] = {"algorithm": label}
    for step in (_EARLY, _LATER):
        then = errors[:, min(step, horizon) - 1]
        row[f"error at step {step}"] = float(then.ravel().mean())
        row[f"worst agent at step {step}"] = float(then.max())
    row |= {f"error below {each:g}": float(times[each].mean()) for each in (_COARSE, _FINE)}
    row[f"not below {_FINE:g} at the end"] = share_beyond(times[_FINE], horizon)
    return row | {"theory: all classmates shown": shown}


def _answer(rows: Mapping[str, Row]) -> str:
    said = []
    for name in _NAMES:
        bold, careful = rows[f"{name}, optimistic"], rows[f"{name}, within {WITHIN[1]:g}"]
        early, fine = f"error at step {_EARLY}", f"error below {_FINE:g}"
        said.append(
            f"with {name} an agent that pools only peers shown to be within {WITHIN[1]:g} has an "
            f"error of {careful[early]:.2g} instead of {bold[early]:.2g} at step {_EARLY}, and is "
            f"within {_FINE:g} after {careful[fine]:.0f} steps instead of {bold[fine]:.0f}"
        )
    return f"{said[0][0].upper()}{'; '.join(said)[1:]}."
