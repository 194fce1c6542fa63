"""Tables the paper lacks: sizes, likely classes, two classes, imperfect classes, the sweep of gaps.

Lives here: from ``tables.json`` to rows.  Must not know how values are measured, HTML or
terminals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from colme.pages import TextTable as Table
from colme.paper.outline import NOTES, Content
from colme.paper.paper_tables import percent, spread_text


def more_tables(content: Content) -> tuple[Table, ...]:
    """Return the further tables, as far as they were measured.

    Examples
    --------
    >>> more_tables({})
    ()
    """
    found = []
    if "likely_class_estimation_time" in content:
        found.append(likely_table(content))
    if "two_class" in content:
        found.append(two_class_table(content["two_class"]))
    found += [imperfect_table(*item) for item in content.get("imperfect_classes", {}).items()]
    if "gap_sweep" in content:
        found.append(sweep_table(content["gap_sweep"]))
    return tuple(found)


def sizes_table(content: Content) -> Table:
    """Return how many agents each class has.

    Examples
    --------
    >>> sizes_table({"class_sizes": {"two-class": {"0.2": 97, "0.8": 103}}}).rows
    (('two-class', '97 (mean 0.2), 103 (mean 0.8)'),)
    """
    rows = tuple(
        (name, ", ".join(f"{size} (mean {mean})" for mean, size in sizes.items()))
        for name, sizes in content["class_sizes"].items()
    )
    return Table("Agents in each class", ("experiment", "agents"), rows, (NOTES["sizes"],))


def likely_table(content: Content) -> Table:
    """Return when likely classes are right for good, beside the guaranteed ones.

    Examples
    --------
    >>> cell = {"avg": 300.0, "std": 40.0, "max": 600.0}
    >>> likely = {"sharp": {"0.2": cell | {"right_at_the_end": 1.0}}}
    >>> content = {"class_estimation_time": {"sharp": {"0.2": cell}},
    ...            "likely_class_estimation_time": likely}
    >>> likely_table(content).rows
    (('sharp', '0.2', '300 ± 40 (600)', '100 %', '300 ± 40 (600)'),)
    """
    rows = [
        {
            "algorithm": name,
            "class": key,
            "likely class right for good (no guarantee)": spread_text(cell),
            "agents right at the end": percent(cell["right_at_the_end"]),
            "guaranteed class, for comparison": spread_text(
                content["class_estimation_time"][name][key]
            ),
        }
        for name, cells in content["likely_class_estimation_time"].items()
        for key, cell in cells.items()
    ]
    return _table("Likely classes, without guarantee", rows, NOTES["likely"])


def _table(title: str, rows: Sequence[Mapping[str, str]], *notes: str) -> Table:
    """Return the table of rows that carry the names of their columns."""
    return Table(title, tuple(rows[0]), tuple(tuple(row.values()) for row in rows), notes)


def two_class_table(content: Content) -> Table:
    """Return the times of the 2-class problem, which the paper shows as figures only.

    Examples
    --------
    >>> cell = {"avg": 400.0, "std": 40.0, "max": 600.0}
    >>> two_class_table({"class_estimation_time": {"round-robin": {"0.2": cell}},
    ...                  "convergence_time": {"oracle": {"0.1": cell, "0.01": cell}}}).rows[0][1]
    '–'
    """
    identified = content["class_estimation_time"]
    rows = []
    for name, cells in content["convergence_time"].items():
        by_class = identified.get(name, {})
        first = ", ".join(f"{spread_text(cell)} in class {key}" for key, cell in by_class.items())
        rows.append((name, first or spread_text(None), *map(spread_text, cells.values())))
    header = ("algorithm", "class estimation time", "error 0.1", "error 0.01")
    title = "The 2-class problem, all agents: avg ± std (max)"
    return Table(title, header, tuple(rows), (NOTES["two_class"],))


def imperfect_table(name: str, case: Content) -> Table:
    """Return how η-classes are identified and estimated, beside Theorems 3 and 4.

    Examples
    --------
    >>> cell = {"avg": 218.0, "std": 45.0, "max": 363.0}
    >>> case = {"zeta": {"min": 538, "max": 824}, "within_zeta": 1.0,
    ...         "class_estimation_time": cell, "convergence_time": {}}
    >>> imperfect_table("imperfect-separated", case).rows[0][1:3]
    ('218 ± 45 (363)', '538 to 824')
    """
    times, within = case["class_estimation_time"], case["within_zeta"]
    rows = [_theorem_row("η-class identified", times, case["zeta"], within)]
    for epsilon, row in case["convergence_time"].items():
        ours = "eta-restricted-round-robin"
        what = f"{ours}, error {epsilon}"
        rows.append(_theorem_row(what, row[ours], row["tau"], row["within_tau"]))
        for other in ("local", "oracle"):
            late = 1 - row["within_horizon"][other]
            never = f"; {100 * late:.0f} % not within the horizon" if late else ""
            rows.append((f"{other}, error {epsilon}", spread_text(row[other]) + never, "", ""))
    header = ("what", "measured avg ± std (max)", "theorem, exact", "agents within it")
    title = f"Imperfect classes, {name.removeprefix('imperfect-')}"
    return Table(title, header, tuple(rows), (NOTES["imperfect"],))


def _theorem_row(what: str, cell: Content, bound: Content, share: float) -> tuple[str, ...]:
    ends = f"{bound['min']} to {bound['max']}" if bound["min"] < bound["max"] else str(bound["max"])
    return what, spread_text(cell), ends, percent(share)


def sweep_table(rows: list[dict[str, Any]]) -> Table:
    """Return measured and theoretical identification times across gaps.

    Examples
    --------
    >>> cell = {"avg": 280.0, "std": 60.0, "max": 657.0}
    >>> sweep_table([{"gap": 0.4, "zeta": 842, "within_zeta": 1.0,
    ...               "class_estimation_time": cell}]).rows[0][-1]
    '3.0'
    """
    table = [
        {
            "gap": f"{row['gap']:g}",
            "measured avg ± std (max)": spread_text(row["class_estimation_time"]),
            "ζ, exact": str(row["zeta"]),
            "agents within ζ": percent(row["within_zeta"]),
            "ζ / average": f"{row['zeta'] / row['class_estimation_time']['avg']:.1f}",
        }
        for row in rows
    ]
    return _table("Class estimation time across gaps", table)
