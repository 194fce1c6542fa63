"""Where a table is cut in time: slices of about equally many rows, equal times never parted.

Lives here: the choice of cuts, and how rows find their slice.  Must not know files, agents or sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from colme.data.reading.database import first

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["cuts", "repeats", "slice_sql", "written"]

SAMPLED_TIMES = 50_000
SAMPLED_ROWS = 20_000_000
DAY, SECOND = 86_400_000_000, 1_000_000


def cuts(database: DuckDBPyConnection, rows: Callable[[], str], n_slices: int) -> list[int | float]:
    """Return the last tick of each slice, at most so many.

    Parameters
    ----------
    database
        Which counts.
    rows
        Returns a query with a column tick, anew for each use.
    n_slices
        How many slices there are at most.

    Notes
    -----
    Times are sampled by their hash, about 50 000 of them, each with all of its rows: no sorting of
    rows, and the same cuts each time.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from colme.data.reading.database import connected
    >>> with tempfile.TemporaryDirectory() as place, connected(Path(place)) as database:
    ...     cuts(database, lambda: "(SELECT range AS tick FROM range(100))", 4)
    [24, 49, 74, 99]
    """
    n_times, last = first(
        database, f"SELECT approx_count_distinct(tick), max(tick) FROM {rows()}"
    ) or (0, None)
    if last is None:
        return []
    share = max(1, int(n_times) // SAMPLED_TIMES)
    sampled = "tick IS NOT NULL" if share == 1 else f"hash(tick) % {share} = 0"
    found = database.execute(
        f"SELECT tick, count(*) AS n FROM {rows()} WHERE {sampled} GROUP BY tick ORDER BY tick"
    ).fetchnumpy()
    ticks, reached = found["tick"], np.cumsum(found["n"])
    if not len(ticks):
        return [last]
    goals = reached[-1] * np.arange(1, n_slices) / n_slices
    chosen = {tick for tick in ticks[np.searchsorted(reached, goals)].tolist() if tick < last}
    return [*sorted(chosen), last]


def slice_sql(ends: Sequence[int | float], first: int = 0) -> str:
    """Return what finds the slice of a row, by halves.

    Examples
    --------
    >>> slice_sql([5, 9])
    'CASE WHEN tick <= 5 THEN 0 ELSE 1 END'
    """
    if len(ends) <= 1:
        return str(first)
    half = len(ends) // 2
    low, high = slice_sql(ends[:half], first), slice_sql(ends[half:], first + half)
    return f"CASE WHEN tick <= {ends[half - 1]!r} THEN {low} ELSE {high} END"


def repeats(database: DuckDBPyConnection, rows: str, n_rows: int) -> tuple[int, bool]:
    """Return how many rows have the agent and time of another, and whether all were counted.

    Of very many rows only pairs of agent and time with certain hashes are counted.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from colme.data.reading.database import connected
    >>> rows = "(SELECT 'a' AS agent, range // 2 AS tick FROM range(5))"
    >>> with tempfile.TemporaryDirectory() as place, connected(Path(place)) as database:
    ...     repeats(database, rows, 5)
    (4, True)
    """
    share = -(-n_rows // SAMPLED_ROWS)
    sampled = "" if share <= 1 else f"WHERE hash(agent, tick) % {share} = 0"
    (found,) = first(
        database,
        f"SELECT coalesce(sum(n), 0) FROM (SELECT count(*) AS n FROM {rows} {sampled} "
        "GROUP BY agent, tick HAVING n > 1)",
    ) or (0,)
    return int(found) * max(share, 1), share <= 1


def written(ends: Sequence[int | float], by_clock: bool) -> NDArray[Any]:
    """Return ticks as numbers, or as ISO text if they are microseconds since 1970.

    Examples
    --------
    >>> written([0, 86_400_000_000], by_clock=True).tolist(), written([1, 2], False).tolist()
    (['1970-01-01', '1970-01-02'], [1, 2])
    """
    ticks = np.asarray(ends)
    if not by_clock:
        return ticks
    whole = [not (ticks % size).any() for size in (DAY, SECOND)]
    moments = ticks.astype("datetime64[us]")
    if whole[0]:
        moments = moments.astype("datetime64[D]")
    elif whole[1]:
        moments = moments.astype("datetime64[s]")
    return np.datetime_as_string(moments)
