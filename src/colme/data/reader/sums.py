"""Sums by agent: the one pass over all rows, and the arrays made of its result.

Lives here: the pass, what reveals bad rows in its result, and its arrays.  Must not know files,
formats or messages about rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme import _check
from colme.data.reader.database import Database, first
from colme.data.reader.row_query import RowQuery
from colme.data.reader.slices import slice_sql
from colme.data.summaries import Halves

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
_MAX_BYTES = 1 << 28
"""Names become an array of text of one length only if that takes no more than this."""


class Pass(NamedTuple):
    """What a pass over all rows has found.

    Examples
    --------
    >>> Pass(n_agents=3, looks_bad=False).n_agents
    3
    """

    n_agents: int
    looks_bad: bool
    """Whether some row cannot be used, or may be such."""


def sum_up(
    rows: RowQuery, source: str, *, ends: Sequence[int | float] = (), halves: bool = True
) -> Pass:
    r"""Sum up all rows by slice and agent into the table `sums`.

    Parameters
    ----------
    rows
        Where rows come from, and which values are allowed.
    source
        The query for them: agent and value, half if there are halves, tick if there are slices.
    ends
        The last tick of each slice; none if rows have no time.
    halves
        Whether the samples of one half are counted and summed up, too.

    Notes
    -----
    The mean's sum carries its rounding errors along, and the variance is folded value by value
    around the running mean, so that values far from 0 lose nothing.  NaN and infinity show in the
    mean.  A value beyond 1e150 makes n (variance + mean²), the sum of the squares of values, larger
    than 1e300; other values can do so too.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = Path(place, "a.csv").write_text("agent,value\na,1\nb,1\nb,\n")
    ...     with RowQuery.opened(f"{place}/a.csv") as rows:
    ...         sum_up(rows, rows.sql(), halves=False)
    Pass(n_agents=2, looks_bad=True)
    """
    slices, timed = (slice_sql(ends), "count(tick)") if rows.columns.time else ("0", "count(*)")
    halved = "sum(half)::BIGINT AS n_one, sum(half * value) AS one" if halves else "0, 0.0"
    least, largest = ("min(value)", "max(value)") if rows.value_range else ("0.0", "0.0")
    low, high = rows.value_range or (0.0, 0.0)
    rows.database.execute(
        f"CREATE OR REPLACE TEMP TABLE sums AS SELECT {slices} AS slice, agent, {halved}, "
        f"count(*) AS n, count(value) AS valued, {timed} AS timed, favg(value) AS mean, "
        f"var_pop(value) AS variance, {least} AS low, {largest} AS high FROM {source} GROUP BY ALL"
    )
    query = (
        "SELECT count(DISTINCT agent), coalesce(bool_or(agent IS NULL OR valued < n OR timed < n "
        "OR NOT isfinite(mean) OR NOT n * (variance + mean * mean) <= "
        f"{_check.LARGEST_SAMPLE**2!r} OR low < {low!r} OR high > {high!r}), true) FROM sums"
    )
    n_agents, looks_bad = first(rows.database, query) or (0, True)
    return Pass(int(n_agents), bool(looks_bad))


def fetch_sums(
    database: Database, *, by_number: bool, n_slices: int
) -> tuple[NDArray[Any], Halves]:
    r"""Return names in order, and the sums as arrays [slice, half, agent].

    Parameters
    ----------
    database
        The database that has summed up.
    by_number
        Whether names that are all whole numbers become numbers.
    n_slices
        How many slices there are.

    Notes
    -----
    Of the squares only those of both halves together are known; what the two means do not explain
    is shared as the degrees of freedom are.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> good = "(SELECT range % 2 AS agent, 1e9 + range AS value, 0 AS half FROM range(6))"
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = Path(place, "a.csv").write_text("agent,value\na,1\n")
    ...     with RowQuery.opened(f"{place}/a.csv") as rows:
    ...         _ = sum_up(rows, good)
    ...         agents, sums = fetch_sums(rows.database, by_number=True, n_slices=1)
    >>> agents.tolist(), sums.squares[0, 0].tolist()  # of slice 0, half 0
    ([0, 1], [8.0, 8.0])
    """
    database.execute(
        "CREATE OR REPLACE TEMP TABLE names AS SELECT agent, row_number() OVER (ORDER BY agent) - 1"
        " AS place FROM (SELECT DISTINCT agent FROM sums)"
    )
    found = database.execute("SELECT agent FROM names ORDER BY place").fetchnumpy()
    agents = agent_names(np.asarray(found["agent"]), by_number)
    order = np.argsort(agents, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    sums = database.execute(
        "SELECT slice, place, n, mean, variance * n AS squares, n_one, one "
        "FROM sums JOIN names USING (agent)"
    ).fetchnumpy()
    parts = np.zeros((5, n_slices, len(agents)))
    for part, name in zip(parts, ("n", "mean", "squares", "n_one", "one"), strict=True):
        part[np.asarray(sums["slice"]), rank[sums["place"]]] = sums[name]
    n, mean, squares, n_one, one = parts
    other = n - n_one
    means = np.stack([(n * mean - one) / np.maximum(other, 1), one / np.maximum(n_one, 1)], axis=1)
    counts = np.stack([other, n_one], axis=1)
    means = np.where(counts > 0, means, 0.0)
    means = np.where(counts == n[:, np.newaxis], mean[:, np.newaxis], means)
    apart = other * n_one / np.maximum(n, 1) * (means[:, 0] - means[:, 1]) ** 2
    degrees = np.maximum(counts - 1, 0)
    shares = degrees / np.maximum(degrees.sum(axis=1, keepdims=True), 1)
    within = np.maximum(squares - apart, 0.0)[:, np.newaxis]
    return agents[order], Halves(counts.astype(np.int64), means, shares * within)


def agent_names(found: NDArray[Any], by_number: bool) -> NDArray[Any]:
    """Return names as an array of whole numbers or of text.

    Examples
    --------
    >>> agent_names(np.array(["10", "9"], dtype=object), by_number=True).tolist()
    [10, 9]
    >>> agent_names(np.array(["10", "09"], dtype=object), by_number=True).tolist()
    ['10', '09']
    """
    if found.dtype.kind in "iu" or (by_number and all(map(_WHOLE.fullmatch, found))):
        return found.astype(np.int64)
    longest = max(map(len, found), default=1)
    plain = longest * 4 * len(found) <= _MAX_BYTES and not any("\0" in name for name in found)
    return found.astype(str) if plain else found
