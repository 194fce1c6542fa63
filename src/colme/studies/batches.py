"""Batches: how much communication waiting saves, and what it costs.

Lives here: the study.  Must not know how it is written down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from colme import metrics, theory
from colme.algorithm import resolve
from colme.studies.study import Curve, Study
from colme.studies.work import DELTA, SIGMA, Work, curve_of, three_classes

__all__ = ["ALGORITHMS", "PARTS", "QUESTION", "SIZES", "measure"]

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


class _Found(NamedTuple):
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
    return Study(
        name="batches",
        question=QUESTION,
        answer=f"At m = {many} instead of {few}, {'; '.join(answers)}.",
        columns=_COLUMNS,
        rows=tuple(_cells(name, m, each) for (name, m), each in found.items()),
        curves=_curves(found, algorithms, sizes),
        x_label="samples between two queries, m",
        y_label="until the class is known",
        log="xy",
        notes=(
            f"Averages over agents; {n_open} cases were not within the horizon.",
            f"Hearing of everybody once takes {n_agents - 1} queries, and no waiting saves these.",
            "Theory: Theorems 1 and J in batches, which hold for each agent with probability 1 - "
            f"{DELTA / 8:g}.",
        ),
        runs=work.runs,
        seed=work.seed,
    )


def _cells(name: str, m: int, f: _Found) -> tuple[str | float, ...]:
    counted = (f.known, f.known * m, f.promised, f.promised * m, f.near, f.near * m)
    return (f"{name}, m = {m}", *counted)


def _measure(work: Work, n_agents: int, name: str, m: int) -> _Found:
    problem = three_classes(n_agents)
    samples = work.draw(problem, m * max(4000 // m, 3 * n_agents))
    trajectory = work.simulate(
        f"{name}, m = {m}", samples, name, sigma=SIGMA, labels=problem.labels, arrivals=m
    )
    known = metrics.identification_times(trajectory)
    near = metrics.convergence_times(trajectory, problem.true_means, _EPSILON)
    test = resolve(name).class_test.word
    situation = theory.Situation(problem.true_means, SIGMA, DELTA, class_test=test, batch=m)
    return _Found(
        float(known.mean()),
        float(near.mean()),
        float(theory.identification_times(situation).mean()),
        int((known > trajectory.horizon).sum() + (near > trajectory.horizon).sum()),
    )


def _curves(
    found: dict[tuple[str, int], _Found], algorithms: Sequence[str], sizes: Sequence[int]
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
