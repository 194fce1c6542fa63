"""Rows as agent, value and time: one query reads them, whatever the files look like.

Lives here: how each kind of column becomes a name, a number or a tick, as the database writes it.
Must not know formats, bad rows or sums.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from colme.bounds.known_noise import KnownNoise
from colme.data.reader.columns import Columns, choose_columns, find_column
from colme.data.reader.database import Database, connected
from colme.data.reader.scans import ROW_NUMBER, Scan, scan_files
from colme.data.reader.table_files import Named, find_files

Range: TypeAlias = tuple[float, float] | None

_SMALL = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
"""Types of whole numbers that fit 64 bits."""
_NUMBERS = ("whole numbers", "numbers")
HALF = "bit_count({}) & 1"
"""Which half of its agent's samples a row belongs to: the parity of its number's binary digits.
Every few rows have as many of one as of the other, also at equal distances, as when agents take
turns."""


class _Column(NamedTuple):
    """A column of a scan: its name, how the database writes it, its kind, whether a small type."""

    name: str
    sql: str
    kind: str
    is_small: bool


@dataclass(frozen=True)
class RowQuery:
    r"""All rows of some scans, with the columns agent, value and tick.

    Parameters
    ----------
    database
        The database that reads them.
    scans
        Where rows come from.
    columns
        Which columns are used.
    skip_bad_rows
        Whether rows that cannot be used may be left out.
    value_range
        The least and the largest value allowed, if there are such.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = Path(place, "a.csv").write_text("store,sales\nx,1\ny,2.5\n")
    ...     with RowQuery.opened(f"{place}/a.csv") as rows:
    ...         print(rows.database.execute(f"SELECT agent, value FROM {rows.sql()}").fetchall())
    [('x', 1.0), ('y', 2.5)]
    """

    database: Database
    scans: tuple[Scan, ...]
    columns: Columns
    skip_bad_rows: bool = False
    value_range: Range = None

    @classmethod
    @contextmanager
    def opened(
        cls,
        paths: Named | Sequence[Named],
        agent: str | None = None,
        value: str | None = None,
        time: str | None = None,
        *,
        skip_bad_rows: bool = False,
        value_range: Range = None,
    ) -> Iterator[RowQuery]:
        """Give the rows of some files, with the columns given or guessed, in any order."""
        allowed = KnownNoise(value_range=value_range).value_range
        with tempfile.TemporaryDirectory(prefix="colme-") as place:
            folder = Path(place)
            with connected(folder) as database:
                files = find_files(paths, folder)
                scans = scan_files(database, files, skip_bad_rows=skip_bad_rows)
                columns = choose_columns(scans[0].kinds, agent, value, time, files[0].name)
                database.execute("SET preserve_insertion_order = false")
                yield cls(database, scans, columns, skip_bad_rows, allowed)

    @property
    def are_named_by_numbers(self) -> bool:
        """Whether all agents may be whole numbers."""
        return all(self._column(scan, "agent").kind in _NUMBERS for scan in self.scans)

    @property
    def are_numbered(self) -> bool:
        """Whether rows come with a number, so that they can be dealt to halves as they are read."""
        return all(scan.is_numbered for scan in self.scans)

    @property
    def are_dated(self) -> bool:
        """Whether times are dates; numbers if not."""
        kinds = {self._column(scan, "time").kind in _NUMBERS for scan in self.scans}
        if len(kinds) > 1:
            raise ValueError(
                f"column {self.columns.time!r} holds numbers in one file and dates in another: "
                "make them alike"
            )
        return kinds == {False}

    def sql(self, *, strict: bool = True, scans: Sequence[Scan] = ()) -> str:
        """Return a query for the rows of the scans (all if none are given).

        Its columns: agent (missing if NULL), value, tick, the text of value and time, and half if
        rows are numbered.  Lines that are no rows raise an error if `strict`, else they are set
        aside.
        """
        parts = []
        for scan in scans or self.scans:
            agent, value = self._column(scan, "agent"), self._column(scan, "value")
            is_flag = value.kind == "true or false" and scan.is_text
            number = f"TRY_CAST({value.sql} AS BOOLEAN)" if is_flag else value.sql
            names = [agent.name, value.name]
            cells = [
                f"{self._agent(scan, agent.sql, agent.kind)} AS agent",
                f"TRY_CAST({number} AS DOUBLE) AS value",
                f"CAST({value.sql} AS VARCHAR) AS value_text",
            ]
            if self.columns.time:
                time = self._column(scan, "time")
                names.append(time.name)
                cells.append(f"{self._tick(scan, time)} AS tick")
                cells.append(f"CAST({time.sql} AS VARCHAR) AS time_text")
            if self.are_numbered:
                cells.append(f"{HALF.format(ROW_NUMBER)} AS half")
            rows = scan.sql(self.database, names, strict=strict)
            parts.append(f"SELECT {', '.join(cells)} FROM {rows}")
        return "(" + " UNION ALL ".join(parts) + ")"

    def _column(self, scan: Scan, flag: str) -> _Column:
        """Return what is known of a column in this scan."""
        file = scan.files[0].name
        name = find_column(getattr(self.columns, flag), scan.kinds, flag, file)
        is_small = scan.types[name] in _SMALL and scan.format in ("parquet", "arrow")
        return _Column(name, scan.column(name), scan.kinds[name], is_small)

    def _agent(self, scan: Scan, column: str, kind: str) -> str:
        """Return whole numbers as they are, all else as text; 3.0 is 3."""
        if all(self._column(one, "agent").is_small for one in self.scans):
            return f"CAST({column} AS BIGINT)"
        text = f"CAST({column} AS VARCHAR)"
        if kind == "numbers":
            text = f"regexp_replace(trim({text}), '\\.0+$', '')"
            there = f"lower({text}) <> 'nan'" if scan.is_text else f"NOT isnan({column}::DOUBLE)"
            text = f"CASE WHEN {there} THEN {text} END"
        return f"NULLIF({text}, '')"

    def _tick(self, scan: Scan, time: _Column) -> str:
        """Return numbers as they are, dates as microseconds since 1970."""
        if time.is_small:
            return f"CAST({time.sql} AS BIGINT)"
        if time.kind in _NUMBERS:
            moment = tick = f"TRY_CAST({time.sql} AS DOUBLE)"
        else:
            kept = not scan.is_text and time.kind == "times" and "ZONE" not in scan.types[time.name]
            moment = f"TRY_CAST({time.sql} AS {'TIMESTAMP' if kept else 'TIMESTAMPTZ'})"
            tick = f"epoch_us({moment})"
        return f"CASE WHEN isfinite({moment}) THEN {tick} END"
