"""Rows as agent, value and time: one way to read them, whatever the files look like.

Lives here: how each kind of column becomes a name, a number or a tick, in the words of the
database.  Must not know formats, bad rows or sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from colme.data.reading.columns import Columns, find_column
from colme.data.reading.scans import NUMBER, Scan

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["Rows", "half_sql"]

SMALL = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
NUMBERS = ("whole numbers", "numbers")


def half_sql(number: str) -> str:
    """Return to which half of its agent's samples a row belongs, from its number: 0 or 1.

    Examples
    --------
    >>> half_sql("rowid")
    'bit_count(rowid) & 1'

    Notes
    -----
    The parity of the binary digits: as many of one as of the other in every few rows, also among
    rows at equal distances, as when agents take turns.
    """
    return f"bit_count({number}) & 1"


@dataclass(frozen=True)
class Rows:
    """All rows of some scans, with the columns agent, value and tick.

    Parameters
    ----------
    scans
        Where rows come from.
    columns
        Which columns are used.

    Examples
    --------
    >>> scan = Scan((), {"store": "VARCHAR", "sales": "DOUBLE", "day": "DATE"}, "parquet")
    >>> rows = Rows((scan,), Columns("store", "sales", "day"))
    >>> rows.named_by_numbers, rows.told_by_clock
    (False, True)
    """

    scans: tuple[Scan, ...]
    columns: Columns

    @property
    def named_by_numbers(self) -> bool:
        """Whether all agents may be whole numbers."""
        return all(self._kind(scan, "agent") in NUMBERS for scan in self.scans)

    @property
    def are_numbered(self) -> bool:
        """Whether rows come with a number, so that they can be dealt to halves as they are read."""
        return all(scan.is_numbered for scan in self.scans)

    @property
    def told_by_clock(self) -> bool:
        """Whether times are dates; numbers if not."""
        kinds = {self._kind(scan, "time") in NUMBERS for scan in self.scans}
        if len(kinds) > 1:
            raise ValueError(
                f"column {self.columns.time!r} holds numbers in one file and dates in another: "
                "make them alike"
            )
        return kinds == {False}

    def sql(self, database: DuckDBPyConnection, strict: bool, scans: Sequence[Scan] = ()) -> str:
        """Return a query for the rows of the scans (all if none are given).

        Its columns: agent (missing if NULL), value, tick, as text what stood there, and half if
        rows are numbered.  Lines that are no rows raise an error if `strict`, else they are put
        aside.
        """
        parts = [self._part(database, scan, strict) for scan in scans or self.scans]
        return "(" + " UNION ALL ".join(parts) + ")"

    def name(self, scan: Scan, flag: str) -> str:
        """Return what the column is called in this scan."""
        return find_column(getattr(self.columns, flag), scan.kinds, flag, scan.name)

    def _kind(self, scan: Scan, flag: str) -> str:
        return scan.kinds[self.name(scan, flag)]

    def _part(self, database: DuckDBPyConnection, scan: Scan, strict: bool) -> str:
        flags = ["agent", "value"] + (["time"] if self.columns.time else [])
        names = {flag: self.name(scan, flag) for flag in flags}
        cells = [f"{self._agent(scan)} AS agent", f"{self._value(scan)} AS value"]
        cells.append(f"CAST({scan.column(names['value'])} AS VARCHAR) AS value_text")
        if "time" in names:
            cells.append(f"{self._tick(scan)} AS tick")
            cells.append(f"CAST({scan.column(names['time'])} AS VARCHAR) AS time_text")
        if self.are_numbered:
            cells.append(f"{half_sql(NUMBER)} AS half")
        rows = scan.sql(database, list(names.values()), strict)
        return f"SELECT {', '.join(cells)} FROM {rows}"

    def _agent(self, scan: Scan) -> str:
        """Whole numbers as they are, all else as text; 3.0 is 3."""
        all_small = all(
            part.types[self.name(part, "agent")] in SMALL and not part.is_text
            for part in self.scans
        )
        name = self.name(scan, "agent")
        column, kind = scan.column(name), scan.kinds[name]
        if all_small:
            return f"CAST({column} AS BIGINT)"
        text = f"CAST({column} AS VARCHAR)"
        if kind == "numbers":
            text = f"regexp_replace(trim({text}), '\\.0+$', '')"
            there = f"lower({text}) <> 'nan'" if scan.is_text else f"NOT isnan({column}::DOUBLE)"
            text = f"CASE WHEN {there} THEN {text} END"
        return f"NULLIF({text}, '')"

    def _value(self, scan: Scan) -> str:
        name = self.name(scan, "value")
        column = scan.column(name)
        if scan.kinds[name] == "true or false" and scan.is_text:
            column = f"TRY_CAST({column} AS BOOLEAN)"
        return f"TRY_CAST({column} AS DOUBLE)"

    def _tick(self, scan: Scan) -> str:
        """Numbers as they are; dates as microseconds since 1970."""
        name = self.name(scan, "time")
        column, kind = scan.column(name), scan.kinds[name]
        if kind in NUMBERS:
            if scan.types[name] in SMALL and not scan.is_text:
                return f"CAST({column} AS BIGINT)"
            number = f"TRY_CAST({column} AS DOUBLE)"
            return f"CASE WHEN isfinite({number}) THEN {number} END"
        kept = not scan.is_text and kind == "times" and "ZONE" not in scan.types[name]
        moment = f"TRY_CAST({column} AS {'TIMESTAMP' if kept else 'TIMESTAMPTZ'})"
        return f"CASE WHEN isfinite({moment}) THEN epoch_us({moment}) END"
