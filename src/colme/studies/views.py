"""Small rows: how many peers an agent must know.

Lives here: the study.  Must not know how it is written down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from colme import metrics
from colme.contacts import Contacts
from colme.gossip import Gossip
from colme.problem import Problem
from colme.studies.study import Study
from colme.studies.work import SIGMA, Work, curve_of
from colme.trajectory import Record, Trajectory

__all__ = ["CLASS_MEANS", "PARTS", "QUESTION", "measure"]

QUESTION = "How many peers must an agent know?"
PARTS = 6
"""Simulations."""
CLASS_MEANS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Of the five classes."""

_FINE, _COARSE = 0.01, 0.1
_EVERY = 10
_COLUMNS = (
    "an agent knows",
    "entries of memory",
    f"error below {_COARSE:g}",
    f"error below {_FINE:g}",
    "the same, median agent",
    f"not below {_FINE:g} at the end",
    "error at the end",
)


@dataclass(frozen=True)
class _Case:
    """A way to know peers: how many, who they are at first, and by what they are used."""

    name: str
    size: int | None = None
    gossip: bool = False
    algorithm: str = "sharp"

    def settings(self, problem: Problem) -> dict[str, Any]:
        """Return what a simulation needs to know of it."""
        if self.size is None:
            return {}
        if self.algorithm == "oracle":  # which asks nobody else
            return {"contacts": _classmates(problem, self.size)}
        contacts = Contacts.random(problem.n_agents, self.size)
        return {"contacts": contacts} | ({"gossip": Gossip()} if self.gossip else {})


_CASES = (
    _Case("10, gossip", 10, gossip=True),
    _Case("20, gossip", 20, gossip=True),
    _Case("50, gossip", 50, gossip=True),
    _Case("20, the same for ever", 20),
    _Case("everybody"),
    _Case("20 classmates, told so", 20, algorithm="oracle"),
)


def measure(work: Work, n_agents: int = 1000, horizon: int = 1500) -> Study:
    """Return how fast agents are that know only some others, beside those that know everybody.

    Examples
    --------
    >>> study = measure(Work(runs=1), n_agents=300, horizon=20)
    >>> [cells[1] for cells in study.rows]
    [10, 20, 50, 20, 300, 20]
    """
    problem = Problem.gaussian(CLASS_MEANS, n_agents, sigma=SIGMA)
    samples = work.draw(problem, horizon)
    found = {}
    for case in _CASES:
        found[case] = work.simulate(
            case.name,
            samples,
            case.algorithm,
            sigma=SIGMA,
            labels=problem.labels,
            record=Record(every=_EVERY, class_counts=False),
            **case.settings(problem),
        )
    rows = [_cells(case, trajectory, problem) for case, trajectory in found.items()]
    return Study(
        name="views",
        question=QUESTION,
        answer=_answer({str(cells[0]): cells for cells in rows}),
        columns=_COLUMNS,
        rows=tuple(rows),
        curves=tuple(
            curve_of(case.name, each.times, metrics.errors(each, problem.true_means).mean((0, 2)))
            for case, each in found.items()
        ),
        x_label="time step",
        y_label="distance to true mean",
        log="xy",
        notes=(
            f"{n_agents} agents in {len(CLASS_MEANS)} classes, {horizon} steps; errors are looked "
            f"at every {_EVERY} steps.",
            "An entry is all that is kept of one agent, oneself included.  Averages take agents "
            "that are not below as below one step after the end.",
        ),
        runs=work.runs,
        seed=work.seed,
    )


def _cells(case: _Case, trajectory: Trajectory, problem: Problem) -> tuple[Any, ...]:
    fine, coarse = (
        metrics.convergence_times(trajectory, problem.true_means, epsilon)
        for epsilon in (_FINE, _COARSE)
    )
    return (
        case.name,
        case.size or problem.n_agents,
        float(coarse.mean()),
        float(fine.mean()),
        float(np.median(fine)),
        f"{(fine > trajectory.horizon).mean():.1%}",
        float(metrics.errors(trajectory, problem.true_means)[:, -1].mean()),
    )


def _answer(rows: dict[str, tuple[Any, ...]]) -> str:
    names = ("20, gossip", "20, the same for ever", "everybody")
    some, fixed, everybody = (rows[name] for name in names)
    return (
        f"With {some[1]} entries instead of {everybody[1]} an agent that hears of others by gossip "
        f"is within {_FINE:g} after {some[3] / everybody[3]:.1f} times as many steps, and within "
        f"{_COARSE:g} after {some[2] / everybody[2]:.1f} times as many; with the same "
        f"{fixed[1]} for ever it is within {_FINE:g} after {fixed[3] / everybody[3]:.1f} times as "
        "many."
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
