"""Where a table is cut in time: slices of about equally many rows, equal times never parted.

Lives here: the choice of cuts, and how rows find their slice.  Must not know files, agents or sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme.data.reader.database import Database, first

_SAMPLED_TIMES = 50_000
_SAMPLED_ROWS = 20_000_000
_DAY, _SECOND = 86_400_000_000, 1_000_000


def cut_times(database: Database, rows: Callable[[], str], n_slices: int) -> list[int | float]:
    """Return the last tick of each slice, of at most `n_slices`.

    Parameters
    ----------
    database
        The database that counts.
    rows
        Returns a query with a column tick, anew for each use.
    n_slices
        How many slices there are at most.

    Notes
    -----
    Times are sampled by their hash, about 50 000 of them, each with all of its rows: rows are not
    sorted, and the cuts are the same each time.

    Examples
    --------
    >>> import duckdb
    >>> cut_times(duckdb.connect(), lambda: "(SELECT range AS tick FROM range(100))", 4)
    [24, 49, 74, 99]
    """
    counted = f"SELECT approx_count_distinct(tick), max(tick) FROM {rows()}"
    n_times, last = first(database, counted) or (0, None)
    if last is None:
        return []
    share = max(1, int(n_times) // _SAMPLED_TIMES)
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


def repeated_times(database: Database, rows: str, n_rows: int) -> str | None:
    """Return a note of how many rows have the agent and time of another; None if there are none.

    Of very many rows only pairs of agent and time with certain hashes are counted.

    Examples
    --------
    >>> import duckdb
    >>> rows = "(SELECT 'a' AS agent, range // 2 AS tick FROM range(5))"
    >>> repeated_times(duckdb.connect(), rows, 5)
    '4 rows have the agent and time of another: in no particular order'
    """
    share = max(-(-n_rows // _SAMPLED_ROWS), 1)
    sampled = "" if share == 1 else f"WHERE hash(agent, tick) % {share} = 0"
    (found,) = first(
        database,
        f"SELECT coalesce(sum(n), 0) FROM (SELECT count(*) AS n FROM {rows} {sampled} "
        "GROUP BY agent, tick HAVING n > 1)",
    ) or (0,)
    if not found:
        return None
    number = f"{'about ' if share > 1 else ''}{int(found) * share}"
    return f"{number} rows have the agent and time of another: in no particular order"


def times(ticks: Sequence[int | float], *, are_dates: bool) -> NDArray[Any]:
    """Return ticks as numbers, or as ISO text if they are microseconds since 1970.

    Examples
    --------
    >>> times([0, 86_400_000_000], are_dates=True).tolist(), times([1], are_dates=False).tolist()
    (['1970-01-01', '1970-01-02'], [1])
    """
    found = np.asarray(ticks)
    if not are_dates:
        return found
    unit = "us" if (found % _SECOND).any() else "s" if (found % _DAY).any() else "D"
    return np.datetime_as_string(found.astype("datetime64[us]").astype(f"datetime64[{unit}]"))
