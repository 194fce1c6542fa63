"""The paper's own tables, measured beside published, with the theory rows and their footnotes.

Lives here: from ``tables.json`` to rows.  Must not know how values are measured, HTML or
terminals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from colme.pages import NOTHING
from colme.pages import TextTable as Table
from colme.paper.checks import TablePlace, cells_of, compare
from colme.paper.experiments import EXTRA_ALGORITHMS
from colme.paper.published import PUBLISHED
from colme.paper.tables import interval_text, spread_text, verdict

_HEADER = (
    "published",
    "measured",
    "95 % interval",
    "off by",
    "within",
)
_COUNTING = (
    "Measured times count the first step as 1, published convergence times as 0; "
    "“off by” and the verdict allow for that."
)
_INTERVAL = (
    "Times are average ± standard deviation (maximum) over agents and runs; the interval is that "
    "of the measured average, Student's on the averages of whole runs."
)
_EXTRA = (
    f"Not in the paper: {', '.join(EXTRA_ALGORITHMS)}. Nothing is published of it, so no margin "
    "concerns it; it sees the same samples as the others."
)
_ZETA = (
    "¹ The published ζ stops at n* + A - 1 and inverts β one step short. Theorem 1 also subtracts "
    "the peers ruled out early, who need not be asked again; that is done here, with the class "
    "sizes drawn."
)
_TAU = (
    "² The published 33406 divides the local time by the number of classes. Theorem 2 divides it "
    "by the number of agents in the class; τ is then ζ, or the oracle's time if that is longer."
)
_LOCAL = "³ Inverting β exactly gives 100217; the published value stops one step short."
_NOTES = {"¹": _ZETA, "²": _TAU, "³": _LOCAL}

Content = Mapping[str, Any]


def paper_tables(content: Content) -> tuple[Table, ...]:
    """Return the paper's tables as far as they were measured.

    Examples
    --------
    >>> paper_tables({})
    ()
    """
    if "convergence_time" not in content:
        return ()
    convergence = [
        convergence_table(content, agents, epsilon)
        for agents in ("all", "0.2", "0.4", "0.8")
        for epsilon in ("0.1", "0.01")
    ]
    return (class_estimation_table(content), *convergence)


def class_estimation_table(content: Content) -> Table:
    """Return when agents identify their class, class by class.

    Examples
    --------
    >>> times = {"round-robin": {"0.2": {"avg": 1354.0, "std": 182.0, "max": 2242.0}}}
    >>> ends = {"round-robin": {"0.2": [1340.0, 1368.0]}}
    >>> content = {"class_estimation_time": times, "intervals": {"class_estimation_time": ends}}
    >>> class_estimation_table(content).rows[0][2:4]
    ('1378 ± 194 (2150)', '1354 ± 182 (2242)')
    """
    rows = [
        (label, where.agents, *cells)
        for where, label, cells in _rows(content)
        if where.table == "class_estimation_time"
    ]
    notes = (_INTERVAL, *_extra(content["class_estimation_time"]), _ZETA)
    return Table("Class estimation times", ("algorithm", "class", *_HEADER), tuple(rows), notes)


def convergence_table(content: Content, agents: str, epsilon: str) -> Table:
    """Return when estimates are within ε for good, over all agents or those of one class.

    Examples
    --------
    >>> times = {"all": {"local": {"0.1": {"avg": 41.8, "std": 41.0, "max": 472.0}}}}
    >>> ends = {"all": {"local": {"0.1": [40.0, 43.0]}}}
    >>> content = {"convergence_time": times, "intervals": {"convergence_time": ends}}
    >>> convergence_table(content, "all", "0.1").rows[0][-2:]
    ('-0.5 %', '✓ 20 % or 3 steps')
    """
    rows, notes = [], [_INTERVAL, _COUNTING, *_extra(content["convergence_time"][agents])]
    notes += _late(content, agents, epsilon)
    for where, label, cells in _rows(content):
        if (where.agents, where.epsilon) == (agents, epsilon):
            rows.append((label, *cells))
            notes += [note for mark, note in _NOTES.items() if cells[1].endswith(mark)]
    who = "all agents" if agents == "all" else f"class {agents}"
    title = f"Convergence times to error {epsilon}, {who}"
    return Table(title, ("algorithm", *_HEADER), tuple(rows), tuple(notes))


def _rows(content: Content) -> Iterator[tuple[TablePlace, str, tuple[str, ...]]]:
    """Yield the place of each row, its label, and the cells after that."""
    published, intervals = cells_of(PUBLISHED), cells_of(content.get("intervals", {}))
    checks = {
        TablePlace(check.table, check.agents, check.algorithm, check.epsilon): check
        for check in compare(content)
    }
    for where, cell in cells_of(content).items():
        known = published.get(where)
        if where.algorithm.startswith("theory"):
            label, mark = _theory_label(where)
            exact = f"exactly {cell}{mark if known != cell else ''}"
            yield where, label, (str(known), exact, NOTHING, NOTHING, NOTHING)
        else:
            texts = spread_text(known), spread_text(cell), interval_text(intervals.get(where))
            yield where, where.algorithm, (*texts, *verdict(checks.get(where)))


def _extra(rows: Content) -> list[str]:
    """Return a note if some row is not the paper's."""
    return [_EXTRA] if any(name in EXTRA_ALGORITHMS for name in rows) else []


def _late(content: Content, agents: str, epsilon: str) -> list[str]:
    """Return a note for each algorithm with times beyond its horizon."""
    where = "" if agents == "all" else f" in class {agents}"
    return [
        f"Times of {name}{where} beyond its horizon, each counted as one step more: {late[agents]}."
        for name, cells in content.get("beyond_horizon", {}).items()
        if (late := cells[epsilon]) is not None and late[agents]
    ]


def _theory_label(where: TablePlace) -> tuple[str, str]:
    """Return the label of a row of theory, and the mark of its footnote."""
    if where.epsilon is None:
        return "Theorem 1: ζ", "¹"
    if where.algorithm == "theory_local_tau":
        return "Theory, local: τ", "³"
    return "Theorem 2: τ", "¹" if where.epsilon == "0.1" else "²"
