"""Unequal rates: what a slow stream gains from fast ones.

Lives here: the study.  Must not know how it is written down.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme import metrics
from colme.arrivals import Arrivals
from colme.studies.study import Study
from colme.studies.work import DELTA, SIGMA, Work, chance_of, curve_of, ever_excluded, three_classes
from colme.trajectory import Record

__all__ = ["PARTS", "QUESTION", "RANGE", "measure"]

QUESTION = "What does a slow stream gain from fast ones?"
PARTS = 4
"""Simulations."""
RANGE = (0.1, 10.0)
"""Samples per step, from the slowest to the fastest agent."""

_SLOW, _FAST = 0.3, 3.0
_PATTERNS = ("steady", "poisson")
_COLUMNS = (
    "agents",
    "how many",
    "samples at the end",
    "error alone",
    "error of sharp",
    "share of it",
    "ever ruled out a classmate",
    "chance of as many",
)
_BINS = 8

Array = NDArray[np.float64]


def measure(work: Work, n_agents: int = 200, horizon: int = 1000) -> Study:
    """Return the errors of slow and fast agents at the horizon, beside those of being alone.

    Examples
    --------
    >>> study = measure(Work(runs=1), n_agents=30, horizon=100)
    >>> study.value("slow, steady", "error of sharp") < study.value("slow, steady", "error alone")
    True
    """
    rows, curves, shares, rates = [], [], {}, np.empty(0)
    for pattern in _PATTERNS:
        arrivals = Arrivals.between(*RANGE, n_agents, pattern=pattern)
        rates = np.array(arrivals.rates)
        alone, shared, failed = _errors(work, arrivals, n_agents, horizon)
        for name, who in _groups(rates).items():
            if not who.any():
                continue
            cells = _cells(f"{name}, {pattern}", who, rates * horizon, alone, shared, failed)
            rows.append(cells)
            shares[cells[0]] = cells[5]
        if pattern == _PATTERNS[0]:
            curves.append(curve_of("alone", *_by_rate(rates, alone)))
        curves.append(curve_of(f"sharp, {pattern}", *_by_rate(rates, shared)))
    slow, fast = (f"{shares[name + ', ' + _PATTERNS[0]]:.2f}" for name in ("slow", "fast"))
    return Study(
        name="rates",
        question=QUESTION,
        answer=f"After {horizon} steps the error of slow agents is {slow} times what it would be "
        f"alone, and that of fast agents {fast} times.",
        columns=_COLUMNS,
        rows=tuple(rows),
        curves=tuple(curves),
        x_label="samples per step",
        y_label=f"error after {horizon} steps",
        log="xy",
        notes=(
            f"Slow: below {_SLOW:g} samples per step; fast: {_FAST:g} and more; rates from "
            f"{RANGE[0]:g} to {RANGE[1]:g}, their logarithms even.",
            f"Promised: an agent ever rules out a classmate with probability at most {DELTA:g}; "
            "the chance is that of as many cases or more if this is just so.",
        ),
        runs=work.runs,
        seed=work.seed,
    )


def _groups(rates: Array) -> dict[str, NDArray[np.bool_]]:
    slow, fast = rates < _SLOW, rates >= _FAST
    return {"slow": slow, "middle": ~slow & ~fast, "fast": fast}


def _errors(
    work: Work, arrivals: Arrivals, n_agents: int, horizon: int
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return errors at the horizon, alone and with peers, and who ruled out a classmate."""
    problem = three_classes(n_agents)
    counts = arrivals.draw(horizon, n_agents, work.runs, work.seed)
    samples = work.draw(problem, horizon, counts)
    common: dict[str, Any] = {"sigma": SIGMA, "labels": problem.labels, "arrivals": counts}
    last = Record(class_counts=False, every=horizon)
    alone = work.simulate(f"alone, {arrivals.pattern}", samples, "local", record=last, **common)
    trajectory = work.simulate(f"sharp, {arrivals.pattern}", samples, **common)
    return (
        metrics.errors(alone, problem.true_means)[:, -1],
        metrics.errors(trajectory, problem.true_means)[:, -1],
        ever_excluded(trajectory),
    )


def _cells(
    name: str,
    who: NDArray[np.bool_],
    received: Array,
    alone: Array,
    shared: Array,
    failed: NDArray[np.bool_],
) -> tuple[str, int, float, float, float, float, int, float]:
    n_failed, n = int(failed[:, who].sum()), failed[:, who].size
    means = float(alone[:, who].mean()), float(shared[:, who].mean())
    return (
        name,
        int(who.sum()),
        float(received[who].mean()),
        *means,
        means[1] / means[0],
        n_failed,
        chance_of(n_failed, n, DELTA),
    )


def _by_rate(rates: Array, errors: Array) -> tuple[Array, Array]:
    """Return middles of bins that hold as many agents each, and the mean error in them."""
    bins = np.array_split(np.argsort(rates), min(_BINS, rates.size))
    return (
        np.array([np.exp(np.log(rates[who]).mean()) for who in bins]),
        np.array([errors[:, who].mean() for who in bins]),
    )
