"""Unequal rates: what a slow stream gains from fast ones.

Lives here: the study.  Must not know how it is written down.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme.arrivals import Arrivals
from colme.experiment import ArrivalsSpec
from colme.results import Record
from colme.studies.finding import Row, Study
from colme.studies.work import DELTA, Work, curve_of, failures, three_classes

QUESTION = "What does a slow stream gain from fast ones?"
PARTS = 4
"""Simulations."""
RANGE = (0.1, 10.0)
"""Samples per step, from the slowest to the fastest agent."""

_SLOW, _FAST = 0.3, 3.0
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
    rows: dict[str, Row] = {}
    rates = np.array(Arrivals.between(*RANGE, n_agents).rates)
    slow, fast = rates < _SLOW, rates >= _FAST
    groups = {"slow": slow, "middle": ~slow & ~fast, "fast": fast}
    errors: dict[str, Array] = {}
    patterns: tuple[Any, ...] = ("steady", "poisson")
    for pattern in patterns:
        arrivals = ArrivalsSpec(rates=tuple(rates.tolist()), pattern=pattern, seed=work.seed)
        scenario = work.scenario(three_classes(n_agents), horizon, arrivals=arrivals)
        last = Record(class_counts=False, every=horizon)
        alone = work.simulate(f"alone, {pattern}", scenario, "local", record=last)
        sharp = work.simulate(f"sharp, {pattern}", scenario)
        without, shared = (scenario.measure(each).final_errors for each in (alone, sharp))
        errors.setdefault("alone", without)
        errors[f"sharp, {pattern}"] = shared
        for name, who in groups.items():
            if who.any():
                each, both = float(without[:, who].mean()), float(shared[:, who].mean())
                rows[f"{name}, {pattern}"] = {
                    "agents": f"{name}, {pattern}",
                    "how many": int(who.sum()),
                    "samples at the end": float((rates * horizon)[who].mean()),
                    "error alone": each,
                    "error of sharp": both,
                    "share of it": both / each,
                    **failures(sharp, who),
                }
    gain = {name: f"{rows[f'{name}, steady']['share of it']:.2f}" for name in ("slow", "fast")}
    curves = [curve_of(name, *_by_rate(rates, each)) for name, each in errors.items()]
    return work.study(
        f"After {horizon} steps the error of slow agents is {gain['slow']} times what it would be "
        f"alone, and that of fast agents {gain['fast']} times.",
        rows.values(),
        (curves, "samples per step", f"error after {horizon} steps", "xy"),
        f"Slow: below {_SLOW:g} samples per step; fast: {_FAST:g} and more; rates from "
        f"{RANGE[0]:g} to {RANGE[1]:g}, their logarithms even.",
        f"Promised: an agent ever rules out a classmate with probability at most {DELTA:g}; "
        "the chance is that of as many cases or more if this is just so.",
    )


def _by_rate(rates: Array, errors: Array) -> tuple[Array, Array]:
    """Return middles of bins that hold as many agents each, and the mean error in them."""
    bins = np.array_split(np.argsort(rates), min(_BINS, rates.size))
    return (
        np.array([np.exp(np.log(rates[who]).mean()) for who in bins]),
        np.array([errors[:, who].mean() for who in bins]),
    )
