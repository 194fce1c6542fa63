"""A table read from files: summaries by agent, in one pass of a database over all rows.

Lives here: `read`, and what it returns.  Must not know noise, estimates or the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from colme import _check
from colme.data.reader.bad_rows import Census, sort_out
from colme.data.reader.database import errors
from colme.data.reader.row_query import HALF, Range, RowQuery
from colme.data.reader.slices import cut_times, repeated_times, times
from colme.data.reader.sums import fetch_sums, sum_up
from colme.data.reader.table_files import Named
from colme.data.summaries import Halves, Moments, Summaries, merged

_STORED = f"(SELECT *, {HALF.format('rowid')} AS half FROM stored)"
"""Rows that were stored because their files do not number them."""


@dataclass(frozen=True, eq=False)
class Reading:
    """What was read: summaries by agent, and what a reader of results should know about them.

    Parameters
    ----------
    summaries
        One line per agent.
    agent, value, time
        The columns used.
    guessed
        Which of these were guessed: of `agent` and `value`.
    n_rows
        Rows in all files, those left out included.
    n_bad
        Rows left out, by reason.
    notes
        Sentences about guesses, rows left out and equal times.
    moments
        The table cut in time; only with a column of times.

    Examples
    --------
    >>> Reading(Summaries.of(["a"], [1.0]), "store", "sales", n_rows=1).notes
    ()
    """

    summaries: Summaries
    agent: str
    value: str
    time: str | None = None
    guessed: tuple[str, ...] = ()
    n_rows: int = 0
    n_bad: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    moments: Moments | None = None


def read(
    paths: Named | Sequence[Named],
    agent: str | None = None,
    value: str | None = None,
    time: str | None = None,
    *,
    skip_bad_rows: bool = False,
    max_agents: int = 1_000_000,
    value_range: Range = None,
    n_moments: int = 40,
) -> Reading:
    r"""Read tables with one row per sample; sum them up by agent.

    Parameters
    ----------
    paths
        Files, patterns such as `data/*.csv`, or `-` for standard input.  CSV, TSV and JSON
        (compressed or not), Parquet, Arrow.
    agent, value
        Columns: whose sample it is, and the sample.  Guessed if only one column can be meant.
    time
        Column of times, numbers or dates; with it the table is also cut into moments.
    skip_bad_rows
        Leave out rows that cannot be used, and count them, instead of raising ValueError.
    max_agents
        More agents than this are taken for a wrong column.
    value_range
        The least and the largest value allowed.
    n_moments
        How many moments there are at most.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = Path(place, "a.csv").write_text("store,sales\nx,1\ny,5\nx,3\n")
    ...     reading = read(Path(place, "a.csv"))
    >>> reading.summaries.agents.tolist(), reading.summaries.means.tolist()
    (['x', 'y'], [2.0, 5.0])
    >>> reading.notes
    ("took column 'store' for the agent and 'sales' for the value",)
    """
    most = _check.positive_int("max_agents", max_agents)
    n_moments = _check.positive_int("n_moments", n_moments)
    with RowQuery.opened(
        paths, agent, value, time, skip_bad_rows=skip_bad_rows, value_range=value_range
    ) as rows:
        return _read(rows, most, n_moments)


def _read(rows: RowQuery, max_agents: int, n_moments: int) -> Reading:
    """Return what `read` does, once the files are open."""
    # Sum up as if all rows were good; look closer only if the sums reveal that some are not.
    source: Callable[[], str] = rows.sql
    census, columns = Census(0, 0, {}), rows.columns
    are_dates = columns.time is not None and rows.are_dated
    ends = _summed(rows, source, max_agents, n_moments)
    if ends is None:
        census, source = sort_out(rows)
        ends = _summed(rows, source, max_agents, n_moments, are_good=True)
    if ends is None:
        raise ValueError("the table is too large to be summed up here: split it by agent")
    by_number = rows.are_named_by_numbers
    agents, slices = fetch_sums(rows.database, by_number=by_number, n_slices=len(ends))
    halves, n_good = Halves(*merged(slices)), int(slices.counts.sum())
    expected = census.n_rows - census.n_bad
    if census.n_rows and n_good != expected:
        raise ValueError(f"{expected} good rows became {n_good}: did a file change meanwhile?")
    notes: list[str | None] = []
    if columns.guessed:
        guesses = " and ".join(f"{getattr(columns, f)!r} for the {f}" for f in columns.guessed)
        notes.append(f"took column {guesses}")
    if census.bad:
        notes.append(f"rows left out: {census.n_bad} ({census.reasons})")
    moments = None
    if columns.time is not None:
        stored = source() if rows.are_numbered else "stored"
        notes.append(repeated_times(rows.database, stored, n_good))
        both = merged(part.swapaxes(0, 1) for part in slices)
        moments = Moments(agents, times(ends, are_dates=are_dates), *both, slices)
    return Reading(
        Summaries(agents, *merged(halves), halves),
        *columns,
        n_rows=n_good + census.n_bad,
        n_bad=dict(census.bad),
        notes=tuple(note for note in notes if note is not None),
        moments=moments,
    )


def _summed(
    rows: RowQuery,
    source: Callable[[], str],
    max_agents: int,
    n_moments: int,
    *,
    are_good: bool = False,
) -> list[int | float] | None:
    """Sum up and return the last tick of each slice; None if some row or file is in the way.

    Rows of files that do not number them are stored first, in the order of the files, so that the
    same files give the same halves.
    """
    ends: list[int | float] = [0.0]
    try:
        if not rows.are_numbered:
            columns = "agent, value, tick" if rows.columns.time else "agent, value"
            rows.database.execute(
                "SET preserve_insertion_order = true; CREATE OR REPLACE TEMP TABLE stored AS "
                f"SELECT {columns} FROM {source()}; SET preserve_insertion_order = false"
            )
        if rows.columns.time is not None:
            stored = source if rows.are_numbered else lambda: _STORED
            ends = cut_times(rows.database, stored, n_moments)
        found = sum_up(rows, source() if rows.are_numbered else _STORED, ends=ends)
    except errors():
        return None
    if found.n_agents > max_agents:
        raise ValueError(
            f"{found.n_agents} agents, where at most {max_agents} are allowed: is "
            f"{rows.columns.agent!r} really the agent column? If so, allow more with --max-agents"
        )
    return None if found.looks_bad and not are_good else ends
