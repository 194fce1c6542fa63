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
from typing import TypeAlias

from colme.bounds.known_noise import KnownNoise
from colme.data.reader.columns import Columns, choose_columns
from colme.data.reader.database import Database, connected
from colme.data.reader.scans import ROW_NUMBER, Column, Scan, scan_files
from colme.data.reader.table_files import Named, find_files

Range: TypeAlias = tuple[float, float] | None

_NUMBERS = ("whole numbers", "numbers")
HALF = "bit_count({}) & 1"
"""Which half of its agent's samples a row belongs to: the parity of its number's binary digits.
Every few rows have as many of one as of the other, also at equal distances, as when agents take
turns."""


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
    are_numbered
        Whether rows come with a number, so that they can be dealt to halves as they are read.
    are_named_by_numbers
        Whether all agents may be whole numbers.

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
    skip_bad_rows: bool
    value_range: Range
    are_numbered: bool
    are_named_by_numbers: bool

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
                numbered = all(scan.is_numbered for scan in scans)
                named = all(scan.find(columns.agent, "agent").kind in _NUMBERS for scan in scans)
                yield cls(database, scans, columns, skip_bad_rows, allowed, numbered, named)

    @property
    def are_dated(self) -> bool:
        """Whether times are dates; numbers if not."""
        time = self.columns.time or ""
        kinds = {scan.find(time, "time").kind in _NUMBERS for scan in self.scans}
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
        agents = [scan.find(self.columns.agent, "agent") for scan in self.scans]
        are_small, parts = all(agent.is_small for agent in agents), []
        for scan in scans or self.scans:
            agent = scan.find(self.columns.agent, "agent")
            value = scan.find(self.columns.value, "value")
            name = f"CAST({agent.sql} AS VARCHAR)"
            if agent.kind == "numbers":  # 3.0 is 3
                name = f"regexp_replace(trim({name}), '\\.0+$', '')"
                is_there = f"NOT isnan({agent.sql}::DOUBLE)"
                is_there = f"lower({name}) <> 'nan'" if scan.is_text else is_there
                name = f"CASE WHEN {is_there} THEN {name} END"
            name = f"CAST({agent.sql} AS BIGINT)" if are_small else f"NULLIF({name}, '')"
            is_flag = value.kind == "true or false" and scan.is_text
            number = f"TRY_CAST({value.sql} AS BOOLEAN)" if is_flag else value.sql
            names = [agent.name, value.name]
            cells = [
                f"{name} AS agent",
                f"TRY_CAST({number} AS DOUBLE) AS value",
                f"CAST({value.sql} AS VARCHAR) AS value_text",
            ]
            if self.columns.time:
                time = scan.find(self.columns.time, "time")
                names.append(time.name)
                cells.append(f"{_tick(scan, time)} AS tick")
                cells.append(f"CAST({time.sql} AS VARCHAR) AS time_text")
            if self.are_numbered:
                cells.append(f"{HALF.format(ROW_NUMBER)} AS half")
            rows = scan.sql(self.database, names, strict=strict)
            parts.append(f"SELECT {', '.join(cells)} FROM {rows}")
        return "(" + " UNION ALL ".join(parts) + ")"


def _tick(scan: Scan, time: Column) -> str:
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
