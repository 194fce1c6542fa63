"""Neighbours on a graph: how soon a large fleet is right if each agent has only ten.

Lives here: the study.  Must not know how it is written down.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme.contacts import Contacts
from colme.experiment import ContactsSpec, ProblemSpec
from colme.results import Digest
from colme.studies.finding import Row, Study
from colme.studies.work import Work, curve_of

QUESTION = "How soon is a large fleet right in which each agent has only ten neighbours?"
REACH = (0.5, 0.1, 0.01, 0.001)
"""Shares of wrong estimates to reach."""
AT = (100, 300, 500, 600, 800, 1000, 2000)
"""Steps at which the share of wrong estimates is listed."""
CASES: Mapping[str, str | None] = {
    "local": None,
    "b-colme": "b-colme",
    "c-colme": "c-colme",
    "cl-colme": "cl-colme",
    "c-colme-likely": "c-colme-likely",
    "b-colme-published, run again": "b-colme-published",
    "c-colme-published, run again": "c-colme-published",
}
"""What is measured, by the method that does it; None: agents have no neighbours."""
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
_STEPS = {f"steps to {share:g}": share for share in REACH}


def measure(work: Work, n_agents: int = 10_000, degree: int = 10, horizon: int = 2000) -> Study:
    """Return how the share of wrong estimates falls, on the published problem.

    Examples
    --------
    >>> study = measure(Work(runs=1), n_agents=200, horizon=400)
    >>> study.value("c-colme-likely", "wrong at 300") < study.value("local", "wrong at 300")
    True
    """
    scenario = work.scenario(
        ProblemSpec(class_means=_MEANS, n_agents=n_agents, sigma=_SIGMA),
        horizon,
        contacts=ContactsSpec(regular=degree),
        algorithms=tuple(method for method in CASES.values() if method is not None),
        delta=_DELTA,
        epsilons=(_EPSILON,),
    )
    lonely = replace(scenario, contacts=Contacts.of_lists([()] * n_agents))
    times = np.union1d(np.arange(_EVERY, horizon + 1, _EVERY), [1, horizon])
    wrong = {}
    for case, method in CASES.items():
        where = lonely if method is None else scenario
        digest = work.run(case, where, method or "c-colme", times=times)
        assert isinstance(digest, Digest)
        wrong[case] = digest.wrong_shares[:, :, 0].mean(axis=0)
    rows: dict[str, Row] = {case: _row(case, times, shares) for case, shares in wrong.items()}
    published = [
        {"method": name, **dict(zip(_STEPS, steps, strict=True))}
        for name, steps in PUBLISHED.items()
    ]
    curves = [curve_of(case, times[each > 0], each[each > 0]) for case, each in wrong.items()]
    return work.study(
        _answer(rows),
        [*rows.values(), *published],
        (curves, "time step", "share of wrong estimates", "y"),
        f"{n_agents} agents in classes of mean {_MEANS[0]:g} and {_MEANS[1]:g}, σ = {_SIGMA:g},"
        f" {degree} neighbours each, δ = {_DELTA:g}; an estimate is wrong if it is more than"
        f" {_EPSILON:g} off.",
        f"Looked at every {_EVERY} steps.  Published steps are read off a plot.",
    )


def _row(case: str, times: NDArray[np.int64], shares: NDArray[np.float64]) -> Row:
    row: dict[str, Any] = {"method": case}
    for name, share in _STEPS.items():
        there = np.flatnonzero(shares <= share)
        row[name] = int(times[there[0]]) if there.size else None
    return row | {f"wrong at {t}": float(shares[times == t][0]) if t in times else None for t in AT}


def _answer(rows: Mapping[str, Row]) -> str:
    def steps(name: str) -> str:
        reached = rows[name]["steps to 0.01"]
        return "not at all" if reached is None else f"after {reached} steps"

    return (
        f"One estimate in a hundred is wrong {steps('c-colme-likely')} with c-colme-likely, "
        f"{steps('c-colme')} with c-colme and {steps('b-colme')} with b-colme; as published, "
        f"{steps('c-colme-published, run again')} and {steps('b-colme-published, run again')}; "
        f"alone, {steps('local')}."
    )
