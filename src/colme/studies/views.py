"""Small rows: how many peers an agent must know.

Lives here: the study.  Must not know how it is written down.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from colme import metrics
from colme.contacts import Contacts
from colme.experiment import ContactsSpec, ProblemSpec
from colme.problem import Problem
from colme.results import Record
from colme.studies.finding import Row, Study
from colme.studies.work import SIGMA, Work, curve_of, share_beyond

QUESTION = "How many peers must an agent know?"
PARTS = 6
"""Simulations."""
CLASS_MEANS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Of the five classes."""

_FINE, _COARSE = "error below 0.01", "error below 0.1"
_EVERY = 10


class _ViewCase(NamedTuple):
    """A way to know peers: how many, and whether they hear of others by gossip."""

    name: str
    size: int | None = None
    gossip: bool = False
    algorithm: str = "sharp"


_CASES = (
    _ViewCase("10, gossip", 10, gossip=True),
    _ViewCase("20, gossip", 20, gossip=True),
    _ViewCase("50, gossip", 50, gossip=True),
    _ViewCase("20, the same for ever", 20),
    _ViewCase("everybody"),
    _ViewCase("20 classmates, told so", 20, algorithm="oracle"),
)


def measure(work: Work, n_agents: int = 1000, horizon: int = 1500) -> Study:
    """Return how fast agents are that know only some others, beside those that know everybody.

    Examples
    --------
    >>> study = measure(Work(runs=1), n_agents=300, horizon=20)
    >>> [cells[1] for cells in study.rows]
    [10, 20, 50, 20, 300, 20]
    """
    problem = ProblemSpec(class_means=CLASS_MEANS, n_agents=n_agents, sigma=SIGMA)
    rows: dict[str, Row] = {}
    curves = []
    for case in _CASES:
        knows_all = case.size is None
        contacts = None if knows_all else ContactsSpec(size=case.size, gossip=case.gossip)
        tables: dict[str, Any] = {"contacts": contacts, "epsilons": (0.1, 0.01)}
        scenario = work.scenario(problem, horizon, **tables)
        if case.algorithm == "oracle":  # it queries its classmates alone
            scenario = replace(scenario, contacts=_classmates(scenario.problem, case.size or 1))
        record = Record(every=_EVERY, class_counts=False)
        trajectory = work.simulate(case.name, scenario, case.algorithm, record=record)
        measures = scenario.measure(trajectory)
        coarse, fine = measures.convergence_times.values()
        rows[case.name] = {
            "an agent knows": case.name,
            "entries of memory": case.size or n_agents,
            _COARSE: float(coarse.mean()),
            _FINE: float(fine.mean()),
            "the same, median agent": float(np.median(fine)),
            "not below 0.01 at the end": share_beyond(fine, horizon),
            "error at the end": float(measures.final_errors.mean()),
        }
        errors = metrics.errors(trajectory, scenario.problem.true_means)
        curves.append(curve_of(case.name, trajectory.times, errors.mean((0, 2))))
    return work.study(
        _answer(rows["20, gossip"], rows["20, the same for ever"], rows["everybody"]),
        rows.values(),
        (curves, "time step", "distance to true mean", "xy"),
        f"{n_agents} agents in {len(CLASS_MEANS)} classes, {horizon} steps; errors are looked "
        f"at every {_EVERY} steps.",
        "An entry is all that is kept of one agent, oneself included.  Averages take agents "
        "that are not below as below one step after the end.",
    )


def _answer(some: Row, fixed: Row, everybody: Row) -> str:
    size = "entries of memory"
    return (
        f"With {some[size]} entries instead of {everybody[size]} an agent that hears of others by "
        f"gossip is within 0.01 after {some[_FINE] / everybody[_FINE]:.1f} times as many steps, "
        f"and within 0.1 after {some[_COARSE] / everybody[_COARSE]:.1f} times as many; with the "
        f"same {fixed[size]} for ever it is within 0.01 after "
        f"{fixed[_FINE] / everybody[_FINE]:.1f} times as many."
    )


def _classmates(problem: Problem, size: int) -> Contacts:
    """Return contacts of which all are of the agent's class."""
    rng = np.random.default_rng(0)
    rows = []
    for a in range(problem.n_agents):
        others = np.flatnonzero(problem.labels == problem.labels[a])
        others = others[others != a]
        rows.append(rng.choice(others, min(size - 1, others.size), replace=False).tolist())
    return Contacts.of_lists(rows)
