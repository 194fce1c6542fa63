"""Noise: what must be known of it, and what not knowing it costs.

Lives here: the study.  Must not know how it is written down.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from colme.experiment import BoundSpec
from colme.studies.finding import Row, Study
from colme.studies.work import DELTA, Work, curve_of, failures, share_beyond, three_classes

QUESTION = "What must be known of the noise, and what does not knowing it cost?"
PARTS = 8
"""Simulations."""
SIGMAS = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Where noise is unequal, agents have these in turn."""

_EPSILON = 0.01
_KNOWN = "class known after"


class _NoiseCase(NamedTuple):
    """Samples of one kind, and what agents know of them."""

    name: str
    bound: BoundSpec | None = None
    instead: dict[str, Any] = {}  # noqa: RUF012 - never changed


_UNKNOWN = BoundSpec(kind="asymptotic")
_CASES = (
    _NoiseCase("normal: σ"),
    _NoiseCase("normal: nothing", _UNKNOWN),
    _NoiseCase("coins: usual bound"),
    _NoiseCase("coins: Bernstein", BoundSpec(kind="empirical-bernstein")),
    _NoiseCase("coins: betting", BoundSpec(kind="betting")),
    _NoiseCase("unequal: σ of each"),
    _NoiseCase("unequal: the largest σ", instead={"sigma": max(SIGMAS)}),
    _NoiseCase("unequal: nothing", _UNKNOWN),
)


def measure(work: Work, n_agents: int = 200, horizon: int = 2500) -> Study:
    """Return how agents do that know more or less of their noise.

    Examples
    --------
    >>> study = measure(Work(runs=1), n_agents=15, horizon=40)
    >>> len(study.rows), study.value("normal: σ", "ever ruled out a classmate")
    (8, 0)
    """
    sigmas = np.array(SIGMAS)[np.arange(n_agents) % len(SIGMAS)]
    problems = {
        "normal": three_classes(n_agents),
        "coins": three_classes(n_agents, noise="bernoulli", sigma=None),
        "unequal": three_classes(n_agents, sigma=tuple(sigmas.tolist())),
    }
    rows: dict[str, Row] = {}
    curves = []
    for name, bound, instead in _CASES:
        problem = problems[name.split(":")[0]]
        scenario = work.scenario(problem, horizon, bound=bound, epsilons=(_EPSILON,))
        trajectory = work.simulate(name, scenario, **instead)
        measures = scenario.measure(trajectory)
        known, near = measures.identification_times, measures.convergence_times[_EPSILON]
        assert known is not None
        error = float(measures.final_errors.mean())
        alone = np.abs(scenario.samples.mean(axis=1) - scenario.problem.true_means).mean()
        rows[name] = {
            "samples, and what is known of them": name,
            _KNOWN: float(known.mean()),
            "not known at the end": share_beyond(known, horizon),
            f"error below {_EPSILON:g} after": float(near.mean()),
            **failures(trajectory),
            "error at the end": error,
            "times smaller than alone": float(alone) / error,
        }
        times = trajectory.times[:: max(1, horizon // 250)]
        shares = (known[..., None] <= times).mean(axis=(0, 1))
        curves.append(curve_of(name, times, shares))
    return work.study(
        _answer(rows),
        rows.values(),
        (curves, "time step", "share of agents that know their class", ""),
        "Coins: zeros and ones, of which agents know the range.  "
        f"Unequal: agents have σ = {', '.join(f'{s:g}' for s in SIGMAS)} in turn.",
        f"Promised: an agent ever rules out a classmate with probability at most {DELTA:g} "
        "(asymptotically, if nothing is known); the chance is that of as many cases or more "
        "if this is just so.",
    )


def _answer(rows: Mapping[str, Row]) -> str:
    def slower(one: str, other: str) -> str:
        return f"{rows[one][_KNOWN] / rows[other][_KNOWN]:.2f}"

    wrong = sum(row["ever ruled out a classmate"] for row in rows.values())
    return (
        f"Agents that know nothing of their noise need {slower('normal: nothing', 'normal: σ')} "
        "times as long to know their class as with σ; if noise is unequal, the largest σ for all "
        f"takes {slower('unequal: the largest σ', 'unequal: σ of each')} times as long as one for "
        f"each; for coins Bernstein takes {slower('coins: Bernstein', 'coins: usual bound')} times "
        f"as long as the usual bound and betting {slower('coins: betting', 'coins: usual bound')} "
        f"times; a classmate was ruled out in {wrong} cases."
    )
