"""Sums by agent: the one pass over all rows, and how its result becomes summaries.

Lives here: the pass, what gives bad rows away in its result, and the arrays made of it.  Must not
know files, formats or messages about rows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme import _check
from colme.data.reading.database import first
from colme.data.reading.moments import Moments
from colme.data.summaries import Halves, Summaries, merged

Numbers: TypeAlias = NDArray[np.float64]

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["Sums", "fetched", "looks_bad", "n_agents", "names_of", "pass_over"]

WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
LONGEST_TABLE = 1 << 28


@dataclass(frozen=True, eq=False)
class Sums:
    """Agents in order, and by slice, half and agent: counts, means, Σ (x - x̄)².

    Examples
    --------
    >>> one = np.ones((1, 2, 1))
    >>> Sums(np.array(["a"]), one.astype(int), 2 * one, 0 * one).summaries.means.tolist()
    [2.0]
    """

    agents: NDArray[Any]
    counts: NDArray[np.int64]
    means: NDArray[np.float64]
    squares: NDArray[np.float64]

    @cached_property
    def summaries(self) -> Summaries:
        """All slices together."""
        halves = Halves(*merged((self.counts, self.means, self.squares)))
        return Summaries(self.agents, *merged(halves), halves)

    def moments(self, ends: NDArray[Any]) -> Moments:
        """Return the slices with the times at which they end."""
        halves = Halves(self.counts, self.means, self.squares)
        return Moments(self.agents, ends, *merged(part.swapaxes(0, 1) for part in halves), halves)


def pass_over(
    database: DuckDBPyConnection,
    rows: str,
    slice_of: str | None,
    extremes: bool,
    halves: bool = True,
) -> None:
    """Sum up all rows by slice and agent into the table `sums`.

    Parameters
    ----------
    database
        Which sums.
    rows
        A query with columns agent and value, half if there are halves, tick if there are slices.
    slice_of
        What finds the slice of a row; None if all are in one and have no time.
    extremes
        Whether the least and the largest value are needed.
    halves
        Whether the samples of one half are counted and summed up, too.

    Notes
    -----
    The mean's sum carries along what rounding takes, and the variance is folded value by value
    around the running mean, so that values far from 0 lose nothing.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from colme.data.reading.database import connected
    >>> rows = "(SELECT 'a' AS agent, 1e9 + range AS value, 0 AS half FROM range(3))"
    >>> with tempfile.TemporaryDirectory() as place, connected(Path(place)) as database:
    ...     pass_over(database, rows, None, extremes=False)
    ...     sums = fetched(database, by_number=False, n_slices=1)
    >>> sums.summaries.squares.tolist()
    [2.0]
    """
    timed = "count(*)" if slice_of is None else "count(tick)"
    halved = "sum(half)::BIGINT AS n_one, sum(half * value) AS one" if halves else "0, 0.0"
    low, high = ("min(value)", "max(value)") if extremes else ("0.0", "0.0")
    database.execute(
        f"CREATE OR REPLACE TEMP TABLE sums AS SELECT {slice_of or 0} AS slice, agent, "
        f"{halved}, count(*) AS n, count(value) AS valued, {timed} AS timed, favg(value) AS mean, "
        f"var_pop(value) AS variance, {low} AS low, {high} AS high FROM {rows} GROUP BY ALL"
    )


def looks_bad(database: DuckDBPyConnection, value_range: tuple[float, float] | None) -> bool:
    """Return whether the sums give away rows that cannot be used (or may do so).

    Notes
    -----
    NaN and infinity show in the mean.  A value beyond 1e150 makes n (variance + mean²), the sum of
    the squares of values, larger than 1e300; that can also happen without.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from colme.data.reading.database import connected
    >>> rows = "(SELECT 'a' AS agent, unnest([1.0, NULL]) AS value, 1 AS half)"
    >>> with tempfile.TemporaryDirectory() as place, connected(Path(place)) as database:
    ...     pass_over(database, rows, None, extremes=False)
    ...     looks_bad(database, None)
    True
    """
    low, high = value_range or (0.0, 0.0)
    (bad,) = first(
        database,
        "SELECT coalesce(bool_or(agent IS NULL OR valued < n OR timed < n OR NOT isfinite(mean) OR "
        f"NOT n * (variance + mean * mean) <= {_check.LARGEST_SAMPLE**2!r} OR low < {low!r} OR "
        f"high > {high!r}), true) FROM sums",
    ) or (True,)
    return bool(bad)


def n_agents(database: DuckDBPyConnection) -> int:
    """Return how many agents the sums have.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from colme.data.reading.database import connected
    >>> rows = "(SELECT range AS agent, 0.0 AS value, 0 AS half FROM range(3))"
    >>> with tempfile.TemporaryDirectory() as place, connected(Path(place)) as database:
    ...     pass_over(database, rows, None, extremes=False)
    ...     n_agents(database)
    3
    """
    (number,) = first(database, "SELECT count(DISTINCT agent) FROM sums") or (0,)
    return int(number)


def fetched(database: DuckDBPyConnection, by_number: bool, n_slices: int) -> Sums:
    """Return the sums as arrays.

    Parameters
    ----------
    database
        Which holds them.
    by_number
        Whether names that are all whole numbers become numbers.
    n_slices
        How many slices there are.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from colme.data.reading.database import connected
    >>> rows = "(SELECT range::VARCHAR AS agent, 0.0 AS value, 1 AS half FROM range(11))"
    >>> with tempfile.TemporaryDirectory() as place, connected(Path(place)) as database:
    ...     pass_over(database, rows, None, extremes=False)
    ...     fetched(database, by_number=True, n_slices=1).agents.tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    """
    database.execute(
        "CREATE OR REPLACE TEMP TABLE names AS SELECT agent, row_number() OVER (ORDER BY agent) - 1"
        " AS place FROM (SELECT DISTINCT agent FROM sums)"
    )
    found = database.execute("SELECT agent FROM names ORDER BY place").fetchnumpy()
    agents = names_of(np.asarray(found["agent"]), by_number)
    order = np.argsort(agents, kind="stable")
    sums = database.execute(
        "SELECT slice, place, n, mean, variance * n AS squares, n_one, one "
        "FROM sums JOIN names USING (agent)"
    ).fetchnumpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    where = np.asarray(sums["slice"]), rank[sums["place"]]
    parts = [np.zeros((n_slices, len(agents))) for _ in range(5)]
    for part, name in zip(parts, ("n", "mean", "squares", "n_one", "one"), strict=True):
        part[where] = sums[name]
    return Sums(agents[order], *_halved(*parts))


def _halved(
    n: Numbers, mean: Numbers, squares: Numbers, n_one: Numbers, one: Numbers
) -> tuple[NDArray[np.int64], Numbers, Numbers]:
    """Return counts, means and squares by slice, half and agent, from those of all and of one half.

    Only what the two means do not explain is known of the squares of both together: they share it
    as they share the degrees of freedom.
    """
    other = n - n_one
    means = np.stack([(n * mean - one) / np.maximum(other, 1), one / np.maximum(n_one, 1)], axis=1)
    counts = np.stack([other, n_one], axis=1)
    means = np.where(counts > 0, means, 0.0)
    means = np.where(counts == n[:, np.newaxis], mean[:, np.newaxis], means)
    apart = other * n_one / np.maximum(n, 1) * (means[:, 0] - means[:, 1]) ** 2
    degrees = np.maximum(counts - 1, 0)
    shares = degrees / np.maximum(degrees.sum(axis=1, keepdims=True), 1)
    return counts.astype(np.int64), means, shares * np.maximum(squares - apart, 0.0)[:, np.newaxis]


def names_of(found: NDArray[Any], by_number: bool) -> NDArray[Any]:
    """Return names as an array of whole numbers or of text.

    Examples
    --------
    >>> names_of(np.array(["10", "9"], dtype=object), by_number=True).tolist()
    [10, 9]
    >>> names_of(np.array(["10", "09"], dtype=object), by_number=True).tolist()
    ['10', '09']
    """
    if found.dtype.kind in "iu":
        return found.astype(np.int64)
    if by_number and all(WHOLE.fullmatch(name) for name in found):
        return found.astype(np.int64)
    longest = max(map(len, found), default=1)
    plain = longest * 4 * len(found) <= LONGEST_TABLE and not any("\0" in name for name in found)
    return found.astype(str) if plain else found
