"""Batches: how much communication waiting saves, and what it costs.

Lives here: the study.  Must not know how it is written down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from colme import theory
from colme.algorithm import resolve
from colme.experiment import ArrivalsSpec
from colme.studies.finding import Row, Study
from colme.studies.work import DELTA, SIGMA, Work, curve_of, three_classes

QUESTION = "How much communication does waiting save, and what does it cost?"
SIZES = (1, 2, 5, 10, 20)
"""Samples between two queries."""
ALGORITHMS = ("restricted-round-robin", "sharp")
"""The paper's and ours."""
PARTS = len(ALGORITHMS) * len(SIZES)
"""Simulations."""

_EPSILON = 0.01
_QUERIES = "queries until the class is known"


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
    rows: list[Row] = []
    curves, answers, n_open = [], [], 0
    few, many = sizes[0], sizes[-2]
    for name in algorithms:
        by_size = {}
        for m in sizes:
            by_size[m], n_late = _measure(work, n_agents, name, m)
            n_open += n_late
        rows += by_size.values()
        saved = by_size[few][_QUERIES] / by_size[many][_QUERIES]
        answers.append(
            f"with {name} an agent needs {saved:.1f} times fewer queries to know its class "
            f"and {many / few / saved:.1f} times more samples"
        )
        for unit, column in (("queries", _QUERIES), ("samples", "samples")):
            heights = [row[column] for row in by_size.values()]
            curves.append(curve_of(f"{name}: {unit}", sizes, heights))
            if name == algorithms[-1]:
                heights = [row[f"theory: {unit}"] for row in by_size.values()]
                curves.append(curve_of(f"{name}: {unit} (theory)", sizes, heights, theory=True))
    return work.study(
        f"At m = {many} instead of {few}, {'; '.join(answers)}.",
        rows,
        (curves, "samples between two queries, m", "until the class is known", "xy"),
        f"Averages over agents; {n_open} cases were not within the horizon.",
        f"Hearing of everybody once takes {n_agents - 1} queries, and no waiting saves these.",
        "Theory: Theorems 1 and J in batches, which hold for each agent with probability 1 - "
        f"{DELTA / 8:g}.",
    )


def _measure(work: Work, n_agents: int, name: str, m: int) -> tuple[dict[str, Any], int]:
    """Return a row, and how many times are not within the horizon."""
    steps = max(4000 // m, 3 * n_agents)
    tables: dict[str, Any] = {"arrivals": ArrivalsSpec(batch=m), "epsilons": (_EPSILON,)}
    scenario = work.scenario(three_classes(n_agents), steps, **tables)
    case = f"{name}, m = {m}"
    measures = scenario.measure(work.simulate(case, scenario, name))
    times, near = measures.identification_times, measures.convergence_times[_EPSILON]
    assert times is not None
    test, means = resolve(name).class_test.word, scenario.problem.true_means
    situation = theory.Situation(means, SIGMA, DELTA, class_test=test, batch=m)
    promised = float(theory.identification_times(situation).mean())
    known, small = float(times.mean()), float(near.mean())
    return {
        "algorithm": case,
        _QUERIES: known,
        "samples": known * m,
        "theory: queries": promised,
        "theory: samples": promised * m,
        f"queries until the error is below {_EPSILON:g}": small,
        "samples until then": small * m,
    }, int((times > steps).sum() + (near > steps).sum())
