"""Rows themselves, for what sums cannot say: all of them, or those of as many agents as fit.

Lives here: the choice of agents, and their rows as two arrays.  Must not know noise or methods.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme import _check
from colme.data.reader.bad_rows import sort_out
from colme.data.reader.database import errors, first
from colme.data.reader.row_query import RowQuery
from colme.data.reader.sums import agent_names, sum_up
from colme.data.reader.table_files import Named
from colme.data.summaries import Numbers

Picked: TypeAlias = tuple[NDArray[Any], Numbers, tuple[str, ...]]


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
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = Path(place, "a.csv").write_text("store,sales\ny,5\nx,3\nx,1\n")
    ...     agents, values, notes = read_rows(Path(place, "a.csv"))
    >>> agents.tolist(), values.tolist(), notes
    (['x', 'x', 'y'], [1.0, 3.0, 5.0], ())
    """
    most, seed = _check.positive_int("most_rows", most_rows), _check.non_negative_int("seed", seed)
    with RowQuery.opened(
        paths, agent, value, skip_bad_rows=skip_bad_rows, value_range=value_range
    ) as rows:
        source: Callable[[], str] = rows.sql
        try:
            looks_bad = sum_up(rows, source(), halves=False).looks_bad
        except errors():
            looks_bad = True
        if looks_bad:
            _, source = sort_out(rows)
            sum_up(rows, source(), halves=False)
        notes = _pick_agents(rows, most, seed)
        picked = rows.database.execute("SELECT agent FROM picked ORDER BY place").fetchnumpy()
        names = agent_names(np.asarray(picked["agent"]), rows.are_named_by_numbers)
        cells = rows.database.execute(
            f"SELECT place, value FROM {source()} JOIN picked USING (agent) ORDER BY place, value"
        ).fetchnumpy()
    values = np.asarray(cells["value"], dtype=np.float64)
    return names[np.asarray(cells["place"])], values, notes


def _pick_agents(rows: RowQuery, most: int, seed: int) -> tuple[str, ...]:
    """Give each agent to be read a place in the table `picked`; return a note if some have none."""
    rows.database.execute(
        "CREATE OR REPLACE TEMP TABLE counted AS SELECT agent, n, "
        f"sum(n) OVER (ORDER BY hash(agent, {seed}), agent) AS reached FROM sums"
    )
    rows.database.execute(
        "CREATE OR REPLACE TEMP TABLE picked AS SELECT agent, row_number() OVER (ORDER BY agent) "
        f"- 1 AS place FROM counted WHERE reached <= {most}"
    )
    query = "SELECT (SELECT count(*) FROM picked), count(*), sum(n), max(n) FROM counted"
    found, total, rows_in_all, largest = first(rows.database, query) or (0, 0, 0, 0)
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
