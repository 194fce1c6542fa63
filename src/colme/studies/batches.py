"""Batches: how much communication waiting saves, and what it costs.

Lives here: the study.  Must not know how it is written down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from colme import theory
from colme.algorithm import resolve
from colme.experiment import ArrivalsSpec
from colme.studies.study import Curve, Row, Study
from colme.studies.work import DELTA, SIGMA, Work, curve_of, three_classes

QUESTION = "How much communication does waiting save, and what does it cost?"
SIZES = (1, 2, 5, 10, 20)
"""Samples between two queries."""
ALGORITHMS = ("restricted-round-robin", "sharp")
"""The paper's and ours."""
PARTS = len(ALGORITHMS) * len(SIZES)
"""Simulations."""

_EPSILON = 0.01
_COLUMNS = (
    "algorithm",
    "queries until the class is known",
    "samples",
    "theory: queries",
    "theory: samples",
    f"queries until the error is below {_EPSILON:g}",
    "samples until then",
)


class _Averages(NamedTuple):
    """Average queries until the class is known and until the error is small; what is promised."""

    known: float
    near: float
    promised: float
    n_open: int


def measure(
    work: Work,
    n_agents: int = 200,
    algorithms: Sequence[str] = ALGORITHMS,
    sizes: Sequence[int] = SIZES,
) -> Study:
    """Return what batches save and cost, the last but one size against the first.

    Examples
    --------
    >>> study = measure(Work(runs=1), n_agents=6, algorithms=["sharp"], sizes=[1, 10, 20])
    >>> study.value("sharp, m = 10", "samples") > study.value("sharp, m = 1", "samples")
    True
    """
    found = {(name, m): _measure(work, n_agents, name, m) for name in algorithms for m in sizes}
    few, many = sizes[0], sizes[-2]
    answers = []
    for name in algorithms:
        saved = found[name, few].known / found[name, many].known
        answers.append(
            f"with {name} an agent needs {saved:.1f} times fewer queries to know its class "
            f"and {many / few / saved:.1f} times more samples"
        )
    n_open = sum(each.n_open for each in found.values())
    return work.study(
        "batches",
        QUESTION,
        f"At m = {many} instead of {few}, {'; '.join(answers)}.",
        (_COLUMNS, [_cells(name, m, each) for (name, m), each in found.items()]),
        (
            _curves(found, algorithms, sizes),
            "samples between two queries, m",
            "until the class is known",
            "xy",
        ),
        f"Averages over agents; {n_open} cases were not within the horizon.",
        f"Hearing of everybody once takes {n_agents - 1} queries, and no waiting saves these.",
        "Theory: Theorems 1 and J in batches, which hold for each agent with probability 1 - "
        f"{DELTA / 8:g}.",
    )


def _cells(name: str, m: int, f: _Averages) -> Row:
    counted = (f.known, f.known * m, f.promised, f.promised * m, f.near, f.near * m)
    return (f"{name}, m = {m}", *counted)


def _measure(work: Work, n_agents: int, name: str, m: int) -> _Averages:
    steps = max(4000 // m, 3 * n_agents)
    tables: dict[str, Any] = {"arrivals": ArrivalsSpec(batch=m), "epsilons": (_EPSILON,)}
    scenario = work.scenario(three_classes(n_agents), steps, **tables)
    measures = scenario.measure(work.simulate(f"{name}, m = {m}", scenario, name))
    known, near = measures.identification_times, measures.convergence_times[_EPSILON]
    assert known is not None
    test = resolve(name).class_test.word
    means = scenario.problem.true_means
    situation = theory.Situation(means, SIGMA, DELTA, class_test=test, batch=m)
    return _Averages(
        float(known.mean()),
        float(near.mean()),
        float(theory.identification_times(situation).mean()),
        int((known > steps).sum() + (near > steps).sum()),
    )


def _curves(
    found: dict[tuple[str, int], _Averages], algorithms: Sequence[str], sizes: Sequence[int]
) -> tuple[Curve, ...]:
    curves = []
    for name in algorithms:
        each = [found[name, m] for m in sizes]
        for word, unit in (("queries", [1] * len(sizes)), ("samples", sizes)):
            known = [f.known * k for f, k in zip(each, unit, strict=True)]
            promised = [f.promised * k for f, k in zip(each, unit, strict=True)]
            curves.append(curve_of(f"{name}: {word}", sizes, known))
            if name == algorithms[-1]:
                what = f"{name}: {word} (theory)"
                curves.append(curve_of(what, sizes, promised, theory=True))
    return tuple(curves)
