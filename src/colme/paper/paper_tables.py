"""Verdicts at a glance, and the paper's own tables: measured beside published.

Lives here: how numbers are written in the tables people read, and from ``tables.json`` to rows.
Must not know how values are measured, HTML or terminals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from colme.pages import FAILS, HOLDS, NOTHING
from colme.pages import TextTable as Table
from colme.paper.claims import Claim
from colme.paper.experiments import EXTRA_ALGORITHMS
from colme.paper.outline import NOTES, Content
from colme.paper.published import PUBLISHED, Check, TablePlace, cells_of, compare

_HEADER = ("published", "measured", "95 % interval", "off by", "within")


def spread_text(cell: Mapping[str, float] | None) -> str:
    """Return ``avg ± std (max)``, with a decimal where the average is small.

    Examples
    --------
    >>> spread_text({"avg": 5.94, "std": 3.6, "max": 21.0})
    '5.9 ± 3.6 (21)'
    """
    if cell is None:
        return NOTHING
    digits = 1 if cell["avg"] < 20 and cell["avg"] % 1 else 0
    return f"{cell['avg']:.{digits}f} ± {cell['std']:.{digits}f} ({cell['max']:.0f})"


def interval_text(interval: Sequence[float] | None) -> str:
    """Return the two ends of an interval, or a dash.

    Examples
    --------
    >>> interval_text([5.71, 6.04]), interval_text(None)
    ('5.7 to 6.0', '–')
    """
    if interval is None:
        return NOTHING
    digits = 1 if interval[1] < 20 else 0
    return f"{interval[0]:.{digits}f} to {interval[1]:.{digits}f}"


def percent(share: float, digits: int = 2) -> str:
    """Return a share in percent; all is ``100 %``, and nothing less is rounded up to it.

    Examples
    --------
    >>> percent(1.0), percent(0.99995), percent(0.0725, digits=0)
    ('100 %', '99.99 %', '7 %')
    """
    if share == 1:
        return "100 %"
    scale = 10.0**digits
    return f"{math.floor(share * 100 * scale) / scale:.{digits}f} %"


def claim_table(claims: Sequence[Claim]) -> Table:
    """Return what the paper states in words, with the evidence.

    Examples
    --------
    >>> claim_table([Claim("it works", "it did", True)]).rows
    (('it works', 'it did', '✓'),)
    """
    rows = tuple((c.statement, c.evidence, HOLDS if c.holds else FAILS) for c in claims)
    return Table(
        "What the paper states, and what was measured", ("statement", "measured", "holds"), rows
    )


def summary(checks: Sequence[Check], claims: Sequence[Claim]) -> Table:
    """Return, at one glance, how much holds; what does not is named.

    Examples
    --------
    >>> summary([], [Claim("it works", "it did", True)]).rows
    (('statements of the paper', '✓ 1 of 1', ''),)
    """
    groups: dict[str, list[Check]] = {}
    for check in checks:
        who = "of all agents" if check.place.agents == "all" else "class by class"
        group = (
            "class estimation times" if check.place.epsilon is None else f"convergence times {who}"
        )
        groups.setdefault(group, []).append(check)
    rows = [
        _counted(name, chosen, "; ".join(_name(check) for check in chosen if not check.holds))
        for name, chosen in groups.items()
    ]
    if claims:
        off = " ".join(claim.statement for claim in claims if not claim.holds)
        rows.append(_counted("statements of the paper", claims, off))
    header = ("compared with the paper", "within the margin", "not within")
    off_by_class = any(check.place.agents != "all" and not check.holds for check in checks)
    return Table("What holds", header, tuple(rows), (NOTES["off"],) if off_by_class else ())


def _counted(name: str, all_of_them: Sequence[Check | Claim], off: str) -> tuple[str, str, str]:
    n_all, n_held = len(all_of_them), sum(one.holds for one in all_of_them)
    return name, f"{HOLDS if n_held == n_all else FAILS} {n_held} of {n_all}", off


def _name(check: Check) -> str:
    place = check.place
    where = "" if place.agents == "all" else f", class {place.agents}"
    when = "" if place.epsilon is None else f", error {place.epsilon}"
    noise = ", published within the measured interval" if check.is_noise else ""
    return f"{place.algorithm}{where}{when} ({100 * check.difference:+.0f} %{noise})"


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
        (label, place.agents, *cells)
        for place, label, cells in _rows(content)
        if place.table == "class_estimation_time"
    ]
    notes = (NOTES["interval"], *_extra(content["class_estimation_time"]), NOTES["¹"])
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
    rows, notes = [], [NOTES["interval"], NOTES["counting"]]
    notes += _extra(content["convergence_time"][agents]) + _late(content, agents, epsilon)
    for place, label, cells in _rows(content):
        if (place.agents, place.epsilon) == (agents, epsilon):
            rows.append((label, *cells))
            notes += [NOTES[mark] for mark in "¹²³" if cells[1].endswith(mark)]
    who = "all agents" if agents == "all" else f"class {agents}"
    title = f"Convergence times to error {epsilon}, {who}"
    return Table(title, ("algorithm", *_HEADER), tuple(rows), tuple(notes))


def _rows(content: Content) -> Iterator[tuple[TablePlace, str, tuple[str, ...]]]:
    """Yield the place of each row, its label, and the cells after that."""
    published, intervals = cells_of(PUBLISHED), cells_of(content.get("intervals", {}))
    checks = {check.place: check for check in compare(content)}
    for place, cell in cells_of(content).items():
        known, check = published.get(place), checks.get(place)
        if place.algorithm.startswith("theory"):
            label, mark = _theory_label(place)
            exact = f"exactly {cell}{mark if known != cell else ''}"
            yield place, label, (str(known), exact, NOTHING, NOTHING, NOTHING)
            continue
        off = verdict = NOTHING
        if check is not None:
            off = f"{100 * check.difference:+.1f} %"
            verdict = f"{HOLDS if check.holds else FAILS} {check.margin}"
        texts = spread_text(known), spread_text(cell), interval_text(intervals.get(place))
        yield place, place.algorithm, (*texts, off, verdict)


def _extra(rows: Content) -> list[str]:
    """Return a note if some row is not the paper's."""
    note = NOTES["extra"].format(extra=", ".join(EXTRA_ALGORITHMS))
    return [note] if any(name in EXTRA_ALGORITHMS for name in rows) else []


def _late(content: Content, agents: str, epsilon: str) -> list[str]:
    """Return a note for each algorithm with times beyond its horizon."""
    where = "" if agents == "all" else f" in class {agents}"
    return [
        f"Times of {name}{where} beyond its horizon, each counted as one step more: {late[agents]}."
        for name, cells in content.get("beyond_horizon", {}).items()
        if (late := cells[epsilon]) is not None and late[agents]
    ]


def _theory_label(place: TablePlace) -> tuple[str, str]:
    """Return the label of a row of theory, and the mark of its footnote."""
    if place.epsilon is None:
        return "Theorem 1: ζ", "¹"
    if place.algorithm == "theory_local_tau":
        return "Theory, local: τ", "³"
    return "Theorem 2: τ", "¹" if place.epsilon == "0.1" else "²"
