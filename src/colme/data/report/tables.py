"""The tables of a report: what was read, classes, agents, methods, drifts, and what columns mean.

Lives here: from results to rows of text.  Must not know markup, nor how numbers are found.
"""

from __future__ import annotations

import numpy as np

from colme.data.comparison import Comparison, Score
from colme.data.drifts import Drift
from colme.data.estimator import MEANINGS, Class, Estimates
from colme.data.evolution import Replay
from colme.data.reader import Reading
from colme.data.report.selection import ranked
from colme.data.report.texts import Write, between, name_text, number_text
from colme.pages import TextTable as Table

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


def classes_table(estimates: Estimates, write: Write) -> Table:
    """Return the classes from the lowest mean on.

    Examples
    --------
    >>> from colme.data import Summaries, estimate
    >>> found = estimate(Summaries.of(["a", "b"], [1.0, 99.0]), sigma=1.0)
    >>> [row[:3] for row in classes_table(found, str).rows]
    [('class 1', '1', '1'), ('class 2', '1', '1')]
    """
    found = estimates.class_table
    rows = tuple(_class_row(one, write) for one in found[:_CLASSES])
    header = (
        "class",
        "agents",
        "samples",
        "mean of all samples",
        "class_low to class_high",
        "open",
    )
    notes = (
        "open: members that are also indistinguishable from some agent of another class.",
        *_more(len(found), len(rows), "classes"),
    )
    return Table("", header, rows, notes)


def _class_row(one: Class, write: Write) -> tuple[str, ...]:
    return (
        f"class {one.number}",
        str(one.size),
        str(one.samples),
        write(one.mean),
        between(one.low, one.high, write),
        str(one.shared),
    )


def agents_table(estimates: Estimates, write: Write) -> Table:
    """Return the agents from the highest estimate on; of very many the two ends.

    Examples
    --------
    >>> from colme.data import Summaries, estimate
    >>> found = estimate(Summaries.of(["a", "b"], [1.0, 99.0]), sigma=1.0)
    >>> [row[0] for row in agents_table(found, str).rows]
    ['b', 'a']
    """
    order = ranked(estimates)
    n, half = len(order), _AGENTS // 2
    shown = order if n <= _AGENTS else np.concatenate([order[:half], order[-half:]])
    header = (
        "agent",
        "n",
        "mean",
        "low to high",
        "estimate",
        "effective_n",
        "gain",
        "class",
        "alike",
    )
    rows = tuple(_agent_row(estimates, a, write) for a in shown.tolist())
    some = (f"The {half} highest and the {half} lowest estimates.",) if n > len(rows) else ()
    return Table("", header, rows, some + _more(n, len(rows), "agents"))


def _agent_row(estimates: Estimates, a: int, write: Write) -> tuple[str, ...]:
    return (
        name_text(estimates.summaries.agents[a]),
        str(estimates.summaries.counts[a]),
        write(float(estimates.summaries.means[a])),
        between(float(estimates.low[a]), float(estimates.high[a]), write),
        write(float(estimates.estimates[a])),
        number_text(float(estimates.effective_counts[a]), 0),
        number_text(float(estimates.gains[a]), 1),
        str(estimates.classes[a]),
        str(estimates.alike[a]),
    )


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
    header = (
        "method",
        "root mean square error",
        "square error, share of local",
        "95 %",
        "closer for",
    )
    left = f", {comparison.n_left_out} could not be judged" if comparison.n_left_out else ""
    judged = (
        f"Judged by rows held out: {comparison.n_agents} agents{left}; splits: "
        f"{comparison.n_splits}. closer for: the share of agents for whom the method was closer to "
        "the mean held out than their own mean."
    )
    rows = tuple(_score_row(score) for score in comparison.scores)
    return Table("", header, rows, (judged, *comparison.notes))


def _score_row(score: Score) -> tuple[str, ...]:
    return (
        score.name,
        f"{score.rmse:.4g}",
        number_text(score.ratio, 2),
        between(score.ratio_low, score.ratio_high, lambda ratio: f"{ratio:.2f}"),
        "–" if score.name == "local" else f"{100 * score.closer:.0f} %",
    )


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
    rows = tuple(_drift_row(one, write) for one in replay.drifts[:_DRIFTS])
    header = ("agent", "until", "mean until then", "mean since", "rows until then", "rows since")
    claim = (
        "Agents whose mean was not the same all the time. If no mean changed, the probability that "
        f"any agent is named is at most {replay.delta:g}. The moment is the one with the strongest "
        "evidence; nothing is claimed of it."
    )
    return Table(
        "Agents that drifted",
        header,
        rows,
        (claim, *_more(len(replay.drifts), len(rows), "agents")),
    )


def _drift_row(one: Drift, write: Write) -> tuple[str, ...]:
    return (
        name_text(one.agent),
        str(one.when),
        write(one.before),
        write(one.after),
        str(one.n_before),
        str(one.n_after),
    )


def meanings_table() -> Table:
    """Return what each column means, exactly.

    Examples
    --------
    >>> meanings_table().rows[1]
    ('n', 'its samples')
    """
    return Table("", ("column", "what it says"), tuple(MEANINGS.items()))
