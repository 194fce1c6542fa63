"""From files to summaries by agent, in one pass of a database over all rows.

Lives here: the front door for tables and what it returns.  Must not know noise, estimates or the
command line.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from colme import _check
from colme.data.reading import badrows, slices, sums
from colme.data.reading.columns import Columns, choose
from colme.data.reading.database import connected, errors, keep_order
from colme.data.reading.moments import Moments
from colme.data.reading.rows import Rows, half_sql
from colme.data.reading.scans import gather
from colme.data.reading.sources import Named, find
from colme.data.summaries import Summaries

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["Reading", "read"]


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


@dataclass(frozen=True)
class _Wish:
    """What is asked for, beyond the columns."""

    skip_bad_rows: bool
    max_agents: int
    value_range: tuple[float, float] | None
    n_moments: int


def read(
    paths: Named | Sequence[Named],
    agent: str | None = None,
    value: str | None = None,
    time: str | None = None,
    *,
    skip_bad_rows: bool = False,
    max_agents: int = 1_000_000,
    value_range: tuple[float, float] | None = None,
    n_moments: int = 40,
) -> Reading:
    r"""Read tables with one row per sample; sum them up by agent.

    Parameters
    ----------
    paths
        Files, patterns such as `data/*.csv`, or `-` for standard input.  CSV, TSV and JSON (packed
        or not), Parquet, Arrow.
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
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = Path(place, "a.csv").write_text("store,sales\nx,1\ny,5\nx,3\n")
    ...     reading = read(Path(place, "a.csv"))
    >>> reading.summaries.agents.tolist(), reading.summaries.means.tolist()
    (['x', 'y'], [2.0, 5.0])
    >>> reading.notes
    ("took column 'store' for the agent and 'sales' for the value",)
    """
    wish = _Wish(
        skip_bad_rows,
        _check.positive_int("max_agents", max_agents),
        badrows.check_range(value_range),
        _check.positive_int("n_moments", n_moments),
    )
    with tempfile.TemporaryDirectory(prefix="colme-") as place, connected(Path(place)) as database:
        scans = gather(database, find(paths, Path(place)), skip_bad_rows)
        columns = choose(scans[0].kinds, agent, value, time, scans[0].files[0].name)
        keep_order(database, False)
        return _read(database, Rows(tuple(scans), columns), wish)


def _read(database: DuckDBPyConnection, rows: Rows, wish: _Wish) -> Reading:
    """Sum up as if all rows were good; look closer only if the sums say otherwise."""
    by_clock = rows.columns.time is not None and rows.told_by_clock
    every = partial(rows.sql, database, True)
    ends = _summed(database, rows, every, wish)
    census = badrows.Census(0, {})
    if ends is None or sums.looks_bad(database, wish.value_range):
        reason = badrows.reason_sql(rows.columns.time is not None, wish.value_range)
        census = _counted(database, rows, reason, wish)
        every = partial(_good, database, rows, reason)
        ends = _summed(database, rows, every, wish)
    if ends is None:
        raise ValueError("the table is too large to be summed up here: split it by agent")
    found = sums.fetched(database, rows.named_by_numbers, len(ends))
    n_good = int(found.counts.sum())
    if census.n_rows and n_good != census.n_good:
        raise ValueError(f"{census.n_good} good rows became {n_good}: did a file change meanwhile?")
    repeated = _repeated(database, rows, every, n_good)
    moments = found.moments(slices.written(ends, by_clock)) if rows.columns.time else None
    return _reading(rows.columns, found.summaries, census, n_good, repeated, moments)


def _reading(
    columns: Columns,
    summaries: Summaries,
    census: badrows.Census,
    n_good: int,
    repeated: Iterator[str],
    moments: Moments | None,
) -> Reading:
    return Reading(
        summaries,
        columns.agent,
        columns.value,
        columns.time,
        columns.guessed,
        n_good + sum(census.bad.values()),
        dict(census.bad),
        (*_notes(columns, census.bad), *repeated),
        moments,
    )


def _counted(database: DuckDBPyConnection, rows: Rows, reason: str, wish: _Wish) -> badrows.Census:
    """Return the census, or raise ValueError if bad rows may not be left out, or are all."""
    census = badrows.count(database, rows, reason)
    if census.bad and not (wish.skip_bad_rows and census.n_good):
        raise badrows.refusal(database, rows, census, reason)
    return census


def _summed(
    database: DuckDBPyConnection, rows: Rows, source: Callable[[], str], wish: _Wish
) -> list[int | float] | None:
    """Sum up and return the last tick of each slice; None if some row or file is in the way."""
    timed = rows.columns.time is not None
    try:
        source = _kept(database, rows, source)
        ends = [0.0] if not timed else slices.cuts(database, source, wish.n_moments)
        slice_of = slices.slice_sql(ends) if timed else None
        sums.pass_over(database, source(), slice_of, wish.value_range is not None)
    except errors():
        return None
    found = sums.n_agents(database)
    if found > wish.max_agents:
        raise ValueError(
            f"{found} agents, where at most {wish.max_agents} are allowed: is "
            f"{rows.columns.agent!r} really the agent column? If so, allow more with --max-agents"
        )
    return ends


def _kept(database: DuckDBPyConnection, rows: Rows, source: Callable[[], str]) -> Callable[[], str]:
    """Return a source of rows with halves; those of files that do not number rows are kept first.

    They are kept in the order of the files, so that the same files give the same halves.
    """
    if rows.are_numbered:
        return source
    columns = "agent, value, tick" if rows.columns.time else "agent, value"
    keep_order(database, True)
    database.execute(f"CREATE OR REPLACE TEMP TABLE kept AS SELECT {columns} FROM {source()}")
    keep_order(database, False)
    return lambda: f"(SELECT *, {half_sql('rowid')} AS half FROM kept)"


def _good(database: DuckDBPyConnection, rows: Rows, reason: str) -> str:
    return f"(SELECT * FROM {rows.sql(database, False)} WHERE {reason} IS NULL)"


def _notes(columns: Columns, bad: Mapping[str, int]) -> Iterator[str]:
    names = {"agent": columns.agent, "value": columns.value}
    if columns.guessed:
        guesses = " and ".join(f"{names[flag]!r} for the {flag}" for flag in columns.guessed)
        yield f"took column {guesses}"
    if bad:
        reasons = ", ".join(f"{name}: {number}" for name, number in bad.items())
        yield f"rows left out: {sum(bad.values())} ({reasons})"


def _repeated(
    database: DuckDBPyConnection, rows: Rows, source: Callable[[], str], n_rows: int
) -> Iterator[str]:
    if rows.columns.time is None:
        return
    number, counted = slices.repeats(database, source() if rows.are_numbered else "kept", n_rows)
    if number:
        about = "" if counted else "about "
        yield f"{about}{number} rows have the agent and time of another: in no particular order"
