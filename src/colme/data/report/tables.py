"""The tables of a report: what was read, classes, agents, methods, drifts, and what columns mean.

Lives here: from results to rows of text.  Must not know markup, nor how numbers are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, TypeVar

import numpy as np

from colme.data.comparison import Comparison, Score
from colme.data.drifts import Drift
from colme.data.estimator import MEANINGS, Class, Estimates
from colme.data.estimator.story import short_name
from colme.data.evolution import Replay
from colme.data.reader import Reading
from colme.data.report.texts import Write, between, number_text, ranked
from colme.pages import TextTable as Table

T = TypeVar("T")
_Columns: TypeAlias = dict[str, Callable[[T], str]]
"""The header of each column, and how its cells are written."""
_AGENTS, _CLASSES, _DRIFTS = 1000, 200, 200
"""At most this many rows."""


def reading_table(estimates: Estimates, reading: Reading | None) -> Table:
    """Return what the report is about: columns, rows, agents, what was left out.

    Examples
    --------
    >>> from colme.data import Summaries, estimate
    >>> table = Summaries.of(["a", "b"], [1.0, 9.0])
    >>> reading_table(estimate(table, sigma=1.0), Reading(table, "who", "x", n_rows=2)).rows[0]
    ('agent', 'column “who”')
    """
    counts = estimates.summaries.counts
    facts = [
        ("agents", str(len(counts))),
        ("samples", str(int(counts.sum()))),
        ("samples per agent", f"{counts.min()} to {counts.max()}, median {np.median(counts):g}"),
        ("noise", estimates.noise.meaning),
        ("algorithm", estimates.algorithm),
        ("delta", f"{estimates.delta:g}"),
        ("eta", f"{estimates.eta:g}"),
    ]
    notes = estimates.notes
    if reading is not None:
        columns = (("agent", reading.agent), ("value", reading.value), ("time", reading.time))
        facts = [(what, f"column “{name}”") for what, name in columns if name is not None] + facts
        facts += [("rows in all files", str(reading.n_rows))]
        facts += [(f"left out: {why}", f"{n} rows") for why, n in reading.n_bad.items()]
        notes = (*notes, *reading.notes)
    return Table("", ("what", "value"), tuple(facts), notes)


def _table(columns: _Columns[T], entries: Iterable[T], *notes: str, title: str = "") -> Table:
    """Return one row for each entry, each cell written by its column."""
    rows = tuple(tuple(cell(one) for cell in columns.values()) for one in entries)
    return Table(title, tuple(columns), rows, notes)


def classes_table(estimates: Estimates, write: Write) -> Table:
    """Return the classes from the lowest mean on.

    Examples
    --------
    >>> from colme.data import Summaries, estimate
    >>> found = estimate(Summaries.of(["a", "b"], [1.0, 99.0]), sigma=1.0)
    >>> [row[:3] for row in classes_table(found, str).rows]
    [('class 1', '1', '1'), ('class 2', '1', '1')]
    """
    columns: _Columns[Class] = {
        "class": lambda one: f"class {one.number}",
        "agents": lambda one: str(one.size),
        "samples": lambda one: str(one.samples),
        "mean of all samples": lambda one: write(one.mean),
        "class_low to class_high": lambda one: between(one.low, one.high, write),
        "open": lambda one: str(one.shared),
    }
    found = estimates.class_table
    shown = found[:_CLASSES]
    note = "open: members that are also indistinguishable from some agent of another class."
    return _table(columns, shown, note, *_more(len(found), len(shown), "classes"))


def agents_table(estimates: Estimates, write: Write) -> Table:
    """Return the agents from the highest estimate on; of very many the two ends.

    Examples
    --------
    >>> from colme.data import Summaries, estimate
    >>> found = estimate(Summaries.of(["a", "b"], [1.0, 99.0]), sigma=1.0)
    >>> [row[0] for row in agents_table(found, str).rows]
    ['b', 'a']
    """
    columns: _Columns[dict[str, Any]] = {
        "agent": lambda one: short_name(one["agent"], 80),
        "n": lambda one: str(one["n"]),
        "mean": lambda one: write(one["mean"]),
        "low to high": lambda one: between(one["low"], one["high"], write),
        "estimate": lambda one: write(one["estimate"]),
        "effective_n": lambda one: number_text(one["effective_n"], 0),
        "gain": lambda one: number_text(one["gain"], 1),
        "class": lambda one: str(one["class"]),
        "alike": lambda one: str(one["alike"]),
    }
    order = ranked(estimates)
    n, half = len(order), _AGENTS // 2
    shown = order if n <= _AGENTS else np.concatenate([order[:half], order[-half:]])
    some = (f"The {half} highest and the {half} lowest estimates.",) if n > len(shown) else ()
    notes = some + _more(n, len(shown), "agents")
    return _table(columns, estimates.rows(shown), *notes)


def _more(n: int, n_shown: int, what: str) -> tuple[str, ...]:
    return (f"And {n - n_shown} more {what}; use --out for all.",) if n > n_shown else ()


def comparison_table(comparison: Comparison) -> Table:
    """Return the methods with their errors, in the order in which they were compared.

    Examples
    --------
    >>> own = Score("local", 0.09, 0.1, 1.0, 1.0, 1.0, 0.0)
    >>> comparison_table(Comparison(3, 0, 5, (own,), ())).rows
    (('local', '0.3', '1.00', '1.00 to 1.00', '–'),)
    """
    columns: _Columns[Score] = {
        "method": lambda one: one.name,
        "root mean square error": lambda one: f"{one.rmse:.4g}",
        "square error, share of local": lambda one: number_text(one.ratio, 2),
        "95 %": lambda one: between(one.ratio_low, one.ratio_high, "{:.2f}".format),
        "closer for": lambda one: "–" if one.name == "local" else f"{100 * one.closer:.0f} %",
    }
    left = f", {comparison.n_left_out} could not be judged" if comparison.n_left_out else ""
    judged = (
        f"Judged by rows held out: {comparison.n_agents} agents{left}; splits: "
        f"{comparison.n_splits}. closer for: the share of agents for whom the method was closer to "
        "the mean held out than their own mean."
    )
    return _table(columns, comparison.scores, judged, *comparison.notes)


def drifts_table(replay: Replay, write: Write) -> Table:
    """Return the agents that drifted, those with most evidence first.

    Examples
    --------
    >>> values, names = np.zeros((1, 1)), np.array(["a"])
    >>> drifts = (Drift("a", 7, 1.0, 2.0, 30, 40),)
    >>> replay = Replay(names, names, values, values, np.ones(1, int), drifts, 0.05, ())
    >>> drifts_table(replay, str).rows
    (('a', '7', '1.0', '2.0', '30', '40'),)
    """
    columns: _Columns[Drift] = {
        "agent": lambda one: short_name(one.agent, 80),
        "until": lambda one: str(one.when),
        "mean until then": lambda one: write(one.before),
        "mean since": lambda one: write(one.after),
        "rows until then": lambda one: str(one.n_before),
        "rows since": lambda one: str(one.n_after),
    }
    shown = replay.drifts[:_DRIFTS]
    claim = (
        "Agents whose mean was not the same all the time. If no mean changed, the probability that "
        f"any agent is named is at most {replay.delta:g}. The moment is the one with the strongest "
        "evidence; nothing is claimed of it."
    )
    notes = (claim, *_more(len(replay.drifts), len(shown), "agents"))
    return _table(columns, shown, *notes, title="Agents that drifted")


def meanings_table() -> Table:
    """Return what each column means, exactly.

    Examples
    --------
    >>> meanings_table().rows[1]
    ('n', 'its samples')
    """
    return Table("", ("column", "what it says"), tuple(MEANINGS.items()))
