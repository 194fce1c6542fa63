"""Rows themselves, for what sums cannot tell: all of them, or those of as many agents as fit.

Lives here: the choice of agents, and their rows as two arrays.  Must not know noise or methods.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme import _check
from colme.data.reading import badrows, sums
from colme.data.reading.columns import choose
from colme.data.reading.database import connected, errors, first, keep_order
from colme.data.reading.rows import Rows
from colme.data.reading.scans import gather
from colme.data.reading.sources import Named, find

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["read_rows"]

Picked: TypeAlias = tuple[NDArray[Any], NDArray[np.float64], tuple[str, ...]]


def read_rows(
    paths: Named | Sequence[Named],
    agent: str | None = None,
    value: str | None = None,
    *,
    skip_bad_rows: bool = False,
    value_range: tuple[float, float] | None = None,
    most_rows: int = 5_000_000,
    seed: int = 0,
) -> Picked:
    r"""Read tables row by row: return agents, values, and notes about what was left out.

    Parameters
    ----------
    paths, agent, value, skip_bad_rows, value_range
        As in `read`, with the same checks.
    most_rows
        If there are more, only some agents are read, with all of their rows: as many as fit.
    seed
        Chooses them, by a hash of their names.

    Notes
    -----
    Rows come in order of agents, and of values within an agent, whatever the order of files: the
    same table gives the same arrays.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = Path(place, "a.csv").write_text("store,sales\ny,5\nx,3\nx,1\n")
    ...     agents, values, notes = read_rows(Path(place, "a.csv"))
    >>> agents.tolist(), values.tolist(), notes
    (['x', 'x', 'y'], [1.0, 3.0, 5.0], ())
    """
    most, allowed = _check.positive_int("most_rows", most_rows), badrows.check_range(value_range)
    with tempfile.TemporaryDirectory(prefix="colme-") as place, connected(Path(place)) as database:
        scans = gather(database, find(paths, Path(place)), skip_bad_rows)
        columns = choose(scans[0].kinds, agent, value, None, scans[0].files[0].name)
        keep_order(database, False)
        rows = Rows(tuple(scans), columns)
        source = _checked(database, rows, skip_bad_rows, allowed)
        note = _number_agents(database, most, _check.non_negative_int("seed", seed))
        return *_picked(database, source(), rows.named_by_numbers), note


def _checked(
    database: DuckDBPyConnection, rows: Rows, skip: bool, allowed: tuple[float, float] | None
) -> Callable[[], str]:
    """Sum up by agent, bad rows left out or refused; return what queries the rows, anew each time.

    As in `read`, rows are looked at one by one only if the sums give bad ones away.
    """
    extremes = allowed is not None
    try:
        sums.pass_over(database, rows.sql(database, True), None, extremes, halves=False)
        bad = sums.looks_bad(database, allowed)
    except errors():
        bad = True
    if not bad:
        return partial(rows.sql, database, True)
    reason = badrows.reason_sql(False, allowed)
    census = badrows.count(database, rows, reason)
    if census.bad and not (skip and census.n_good):
        raise badrows.refusal(database, rows, census, reason)

    def good() -> str:
        return f"(SELECT agent, value FROM {rows.sql(database, False)} WHERE {reason} IS NULL)"

    sums.pass_over(database, good(), None, extremes, halves=False)
    return good


def _number_agents(database: DuckDBPyConnection, most: int, seed: int) -> tuple[str, ...]:
    """Give each agent to be read a place in the table `picked`; return a note if some have none."""
    database.execute(
        "CREATE OR REPLACE TEMP TABLE counted AS SELECT agent, n, "
        f"sum(n) OVER (ORDER BY hash(agent, {seed}), agent) AS reached FROM sums"
    )
    database.execute(
        "CREATE OR REPLACE TEMP TABLE picked AS SELECT agent, row_number() OVER (ORDER BY agent) "
        f"- 1 AS place FROM counted WHERE reached <= {most}"
    )
    found, total, rows_in_all, largest = first(
        database,
        "SELECT (SELECT count(*) FROM picked), count(*), sum(n), max(n) FROM counted",
    ) or (0, 0, 0, 0)
    if not found:
        raise ValueError(
            f"no agent fits: some have up to {largest} rows, where at most {most} can be held at "
            "once: give a part of the table"
        )
    if found == total:
        return ()
    return (
        f"{rows_in_all} rows are too many to be held at once: {found} of {total} agents, "
        "drawn by chance, with all of their rows stand for them",
    )


def _picked(
    database: DuckDBPyConnection, rows: str, by_number: bool
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    found = database.execute("SELECT agent FROM picked ORDER BY place").fetchnumpy()
    names = sums.names_of(np.asarray(found["agent"]), by_number)
    columns = database.execute(
        f"SELECT place, value FROM {rows} JOIN picked USING (agent) ORDER BY place, value"
    ).fetchnumpy()
    return names[np.asarray(columns["place"])], np.asarray(columns["value"], dtype=np.float64)
