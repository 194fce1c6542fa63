"""Unequal rates: what a slow stream gains from fast ones.

Lives here: the study.  Must not know how it is written down.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme.arrivals import Arrivals
from colme.experiment import ArrivalsSpec
from colme.results import Record
from colme.studies.study import Study
from colme.studies.work import DELTA, Work, chance_of, curve_of, ever_excluded, three_classes

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
    rows: list[Any] = []
    curves, shares = [], {}
    rates = np.array(Arrivals.between(*RANGE, n_agents).rates)
    for pattern in _PATTERNS:
        found = _measure(work, rates, pattern, horizon)
        for name, who in _groups(rates).items():
            if who.any():
                cells = _cells(f"{name}, {pattern}", who, rates * horizon, found)
                rows.append(cells)
                shares[cells[0]] = cells[5]
        if pattern == _PATTERNS[0]:
            curves.append(curve_of("alone", *_by_rate(rates, found.alone)))
        curves.append(curve_of(f"sharp, {pattern}", *_by_rate(rates, found.shared)))
    slow, fast = (f"{shares[name + ', ' + _PATTERNS[0]]:.2f}" for name in ("slow", "fast"))
    return work.study(
        "rates",
        QUESTION,
        f"After {horizon} steps the error of slow agents is {slow} times what it would be "
        f"alone, and that of fast agents {fast} times.",
        (_COLUMNS, rows),
        (curves, "samples per step", f"error after {horizon} steps", "xy"),
        f"Slow: below {_SLOW:g} samples per step; fast: {_FAST:g} and more; rates from "
        f"{RANGE[0]:g} to {RANGE[1]:g}, their logarithms even.",
        f"Promised: an agent ever rules out a classmate with probability at most {DELTA:g}; "
        "the chance is that of as many cases or more if this is just so.",
    )


class _Errors(NamedTuple):
    """Errors [run, agent] at the horizon, alone and with peers, and who excluded a classmate."""

    alone: Array
    shared: Array
    failed: NDArray[np.bool_]


def _groups(rates: Array) -> dict[str, NDArray[np.bool_]]:
    slow, fast = rates < _SLOW, rates >= _FAST
    return {"slow": slow, "middle": ~slow & ~fast, "fast": fast}


def _measure(work: Work, rates: Array, pattern: Any, horizon: int) -> _Errors:
    arrivals = ArrivalsSpec(rates=tuple(rates.tolist()), pattern=pattern, seed=work.seed)
    scenario = work.scenario(three_classes(rates.size), horizon, arrivals=arrivals)
    last = Record(class_counts=False, every=horizon)
    alone = work.simulate(f"alone, {pattern}", scenario, "local", record=last)
    shared = work.simulate(f"sharp, {pattern}", scenario)
    errors = [scenario.measure(result).final_errors for result in (alone, shared)]
    return _Errors(errors[0], errors[1], ever_excluded(shared))


def _cells(name: str, who: NDArray[np.bool_], received: Array, found: _Errors) -> tuple[Any, ...]:
    failed = found.failed[:, who]
    alone, shared = float(found.alone[:, who].mean()), float(found.shared[:, who].mean())
    return (
        name,
        int(who.sum()),
        float(received[who].mean()),
        alone,
        shared,
        shared / alone,
        int(failed.sum()),
        chance_of(int(failed.sum()), failed.size, DELTA),
    )


def _by_rate(rates: Array, errors: Array) -> tuple[Array, Array]:
    """Return middles of bins that hold as many agents each, and the mean error in them."""
    bins = np.array_split(np.argsort(rates), min(_BINS, rates.size))
    return (
        np.array([np.exp(np.log(rates[who]).mean()) for who in bins]),
        np.array([errors[:, who].mean() for who in bins]),
    )
