"""Neighbours on a graph: how soon a large fleet is right if each agent has only ten.

Lives here: the study.  Must not know how it is written down.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme.contacts import Contacts
from colme.digest import Digest
from colme.neighbours import simulate_neighbours
from colme.problem import Problem
from colme.studies.study import Study
from colme.studies.work import Work, curve_of

__all__ = ["AT", "CASES", "PARTS", "PUBLISHED", "QUESTION", "REACH", "measure"]

QUESTION = "How soon is a large fleet right in which each agent has only ten neighbours?"
REACH = (0.5, 0.1, 0.01, 0.001)
"""Shares of wrong estimates that are waited for."""
AT = (100, 300, 500, 600, 800, 1000, 2000)
"""Steps at which the share of wrong estimates is told."""
CASES: Mapping[str, str | None] = {
    "local": None,
    "b-colme": "b-colme",
    "c-colme": "c-colme",
    "cl-colme": "cl-colme",
    "c-colme-likely": "c-colme-likely",
    "b-colme-published, run again": "b-colme-published",
    "c-colme-published, run again": "c-colme-published",
}
"""What is measured, by the method that does it; None: nobody has neighbours."""
PARTS = len(CASES)
"""Simulations."""
PUBLISHED: Mapping[str, tuple[int | None, ...]] = {
    "B-ColME, published": (850, 910, 1060, 1170),
    "C-ColME, published": (600, 820, 1080, 1230),
    "Local, published": (190, 1040, None, None),
}
"""Steps until `REACH`, read off the published plot."""

_MEANS, _SIGMA, _DELTA, _EPSILON = (0.0, 1.0), 2.0, 0.1, 0.1
_EVERY = 10
_COLUMNS = (
    "method",
    *(f"steps to {share:g}" for share in REACH),
    *(f"wrong at {t}" for t in AT),
)


def measure(work: Work, n_agents: int = 10_000, degree: int = 10, horizon: int = 2000) -> Study:
    """Return how the share of wrong estimates falls, on the published problem.

    Examples
    --------
    >>> study = measure(Work(runs=1), n_agents=200, horizon=400)
    >>> study.value("c-colme-likely", "wrong at 300") < study.value("local", "wrong at 300")
    True
    """
    problem = Problem.gaussian(_MEANS, n_agents, sigma=_SIGMA)
    graphs = {
        True: Contacts.regular(n_agents, degree),
        False: Contacts.of_lists([()] * n_agents),
    }
    times = np.union1d(np.arange(_EVERY, horizon + 1, _EVERY), [1, horizon])
    found = {
        case: _simulate(work, part, case, problem, graphs[CASES[case] is not None], times)
        for part, case in enumerate(CASES)
    }
    wrong = {case: digest.wrong_shares[:, :, 0].mean(axis=0) for case, digest in found.items()}
    rows = [_cells(case, times, shares) for case, shares in wrong.items()]
    rows += [(name, *steps, *[None] * len(AT)) for name, steps in PUBLISHED.items()]
    return Study(
        name="neighbours",
        question=QUESTION,
        answer=_answer({str(cells[0]): cells for cells in rows}),
        columns=_COLUMNS,
        rows=tuple(rows),
        curves=tuple(
            curve_of(case, times[shares > 0], shares[shares > 0]) for case, shares in wrong.items()
        ),
        x_label="time step",
        y_label="share of wrong estimates",
        log="y",
        notes=(
            f"{n_agents} agents in classes of mean {_MEANS[0]:g} and {_MEANS[1]:g}, σ = {_SIGMA:g},"
            f" {degree} neighbours each, δ = {_DELTA:g}; an estimate is wrong if it is more than"
            f" {_EPSILON:g} off.",
            f"Looked at every {_EVERY} steps.  Published steps are read off a plot.",
        ),
        runs=work.runs,
        seed=work.seed,
    )


def _simulate(
    work: Work,
    part: int,
    case: str,
    problem: Problem,
    contacts: Contacts,
    times: NDArray[np.int64],
) -> Digest:
    def tell(share: float) -> None:
        if work.progress is not None:
            work.progress(case, (part + share) / PARTS)

    tell(0.0)
    return simulate_neighbours(
        problem,
        CASES[case] or "c-colme",
        contacts,
        horizon=int(times[-1]),
        runs=work.runs,
        seed=work.seed,
        delta=_DELTA,
        epsilons=(_EPSILON,),
        times=times,
        threads=work.threads,
        progress=tell,
    )


def _cells(case: str, times: NDArray[np.int64], shares: NDArray[np.float64]) -> tuple[Any, ...]:
    reached: list[int | None] = []
    for share in REACH:
        there = np.flatnonzero(shares <= share)
        reached.append(int(times[there[0]]) if there.size else None)
    at = [float(shares[times == t][0]) if t in times else None for t in AT]
    return (case, *reached, *at)


def _answer(rows: dict[str, tuple[Any, ...]]) -> str:
    one_percent = 1 + REACH.index(0.01)

    def steps(name: str) -> str:
        reached = rows[name][one_percent]
        return "not at all" if reached is None else f"after {reached} steps"

    return (
        f"One estimate in a hundred is wrong {steps('c-colme-likely')} with c-colme-likely, "
        f"{steps('c-colme')} with c-colme and {steps('b-colme')} with b-colme; as published, "
        f"{steps('c-colme-published, run again')} and {steps('b-colme-published, run again')}; "
        f"alone, {steps('local')}."
    )
