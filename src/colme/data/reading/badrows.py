"""Rows that cannot be used: why not, how many, and where the first one is.

Lives here: reasons in the words of the database, their counts and the message about them.  Must not
know formats or sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from colme import _check
from colme.data.reading.database import errors, first, first_line, keep_order, literal
from colme.data.reading.rows import Rows
from colme.data.reading.scans import MISSING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["Census", "check_range", "count", "reason_sql", "refusal"]

TEXT = "text instead of a number"
BROKEN = "broken line"
NOT_UTF8 = "not UTF-8"
COMMA = r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?"
SHOWN = 60


@dataclass(frozen=True)
class Census:
    """How many rows there are, and how many of them cannot be used, by reason.

    Examples
    --------
    >>> Census(10, {"no value": 2}).n_good
    8
    """

    n_rows: int
    bad: Mapping[str, int]

    @property
    def n_good(self) -> int:
        """Rows that can be used."""
        return self.n_rows - sum(self.bad.values())


def check_range(given: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return the least and the largest value allowed, or raise ValueError if they are no range.

    Examples
    --------
    >>> check_range((0, 1))
    (0.0, 1.0)
    """
    if given is None:
        return None
    low, high = (_check.sample("value_range", edge) for edge in given)
    if low >= high:
        raise ValueError(f"value_range is the least and the largest value; received {given}")
    return low, high


def reason_sql(timed: bool, value_range: tuple[float, float] | None) -> str:
    """Return what tells, row by row, why it cannot be used; NULL if it can.

    Examples
    --------
    >>> "tick" in reason_sql(False, None), "1e+150" in reason_sql(True, None)
    (False, True)
    """
    cases = [
        ("agent IS NULL", "no agent"),
        ("isnan(value)", "no value"),
        (f"value IS NULL AND coalesce(lower(trim(value_text)), '') IN {MISSING}", "no value"),
        ("value IS NULL", TEXT),
        ("isinf(value)", "infinite value"),
        (f"abs(value) > {_check.LARGEST_SAMPLE}", f"value beyond {_check.LARGEST_SAMPLE:g}"),
    ]
    if value_range is not None:
        low, high = value_range
        cases.append(
            (f"value NOT BETWEEN {low!r} AND {high!r}", f"value outside {low:g} to {high:g}")
        )
    if timed:
        cases.append(
            (f"tick IS NULL AND coalesce(lower(trim(time_text)), '') IN {MISSING}", "no time")
        )
        cases.append(("tick IS NULL", "unreadable time"))
    whens = " ".join(f"WHEN {test} THEN {literal(reason)}" for test, reason in cases)
    return f"CASE {whens} END"


def count(database: DuckDBPyConnection, rows: Rows, reason: str) -> Census:
    r"""Return the census of all rows.

    Parameters
    ----------
    database
        Which reads them.
    rows
        Where they are.
    reason
        What tells why a row cannot be used.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from colme.data.reading import columns, database, scans, sources
    >>> with tempfile.TemporaryDirectory() as place, database.connected(Path(place)) as reader:
    ...     _ = Path(place, "a.csv").write_text("agent,value\na,1\nb,\nc\nd,high\n")
    ...     files = sources.find(f"{place}/a.csv", Path(place))
    ...     found = tuple(scans.gather(reader, files, skip=True))
    ...     census = count(reader, Rows(found, columns.Columns("agent", "value", None)),
    ...                    reason_sql(False, None))
    >>> census.n_rows, census.n_good
    (4, 1)
    >>> census.bad
    {'no value': 1, 'text instead of a number': 1, 'broken line': 1}
    """
    _forget_lines(database)
    try:
        found = database.execute(
            f"SELECT {reason} AS reason, count(*) FROM {rows.sql(database, False)} GROUP BY 1 "
            "ORDER BY 1"
        ).fetchall()
    except errors() as error:
        raise _blamed(database, rows, error) from None
    bad = {name: number for name, number in found if name is not None}
    total = sum(number for _, number in found)
    if any(scan.format == "csv" for scan in rows.scans):
        lines = _bad_lines(database)
        bad |= lines
        total += sum(lines.values())
    if TEXT in bad:
        _check_comma(database, rows, reason)
    return Census(total, bad)


def refusal(database: DuckDBPyConnection, rows: Rows, census: Census, reason: str) -> ValueError:
    r"""Return the error that says which rows cannot be used, with the first of them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from colme.data.reading import columns, database, scans, sources
    >>> with tempfile.TemporaryDirectory() as place, database.connected(Path(place)) as reader:
    ...     _ = Path(place, "a.csv").write_text("agent,value\na,1\nb,high\n")
    ...     files = [sources.Source(Path(place, "a.csv"), "a.csv", "csv")]
    ...     used = Rows(tuple(scans.gather(reader, files, skip=False)),
    ...                 columns.Columns("agent", "value", None))
    ...     why = reason_sql(False, None)
    ...     print(str(refusal(reader, used, count(reader, used, why), why)).split(", ")[0])
    a.csv: 1 of 2 rows cannot be used (text instead of a number: 1)
    """
    lines = {name: census.bad[name] for name in (BROKEN, NOT_UTF8) if name in census.bad}
    file, example = (
        _example_line(database) if lines else _example_row(database, rows, reason)
    ) or ("the table", "")
    reasons = ", ".join(f"{name}: {number}" for name, number in census.bad.items())
    return ValueError(
        f"{file}: {sum(census.bad.values())} of {census.n_rows} rows cannot be used ({reasons})"
        f"{example}; each row needs an agent and a finite number up to "
        f"{_check.LARGEST_SAMPLE:g}{_more_needed(rows)}: repair them, or leave them out with "
        "--skip-bad-rows"
    )


def _more_needed(rows: Rows) -> str:
    return " and a time, a number or ISO date" if rows.columns.time else ""


def _bad_lines(database: DuckDBPyConnection) -> dict[str, int]:
    """Return how many lines were no rows, by reason."""
    found = database.execute(
        "SELECT utf8, count(*) FROM (SELECT bool_and(error_type <> 'INVALID ENCODING') AS utf8 "
        "FROM reject_errors GROUP BY scan_id, file_id, line) GROUP BY utf8 ORDER BY utf8 DESC"
    ).fetchall()
    return {BROKEN if utf8 else NOT_UTF8: number for utf8, number in found}


def _example_line(database: DuckDBPyConnection) -> tuple[str, str] | None:
    row = first(
        database,
        "SELECT file_path, line, csv_line FROM reject_errors JOIN reject_scans "
        "USING (scan_id, file_id) ORDER BY file_path, line LIMIT 1",
    )
    if row is None:
        return None
    text = " ".join(str(row[2]).split())[:SHOWN]
    return str(row[0]).rsplit("/", 1)[-1], f", first line {row[1]}: {text!r}"


def _example_row(database: DuckDBPyConnection, rows: Rows, reason: str) -> tuple[str, str] | None:
    """Return the file and the place of the first row that cannot be used."""
    keep_order(database, True)
    cells = "row, agent, value_text" + (", time_text" if rows.columns.time else "")
    for scan in rows.scans:
        for file in scan.files:
            source = rows.sql(database, False, [replace(scan, files=(file,))])
            found = first(
                database,
                f"SELECT {cells} FROM (SELECT *, row_number() OVER () AS row FROM {source}) "
                f"WHERE {reason} IS NOT NULL LIMIT 1",
            )
            if found is not None:
                row, agent, *texts = found
                said = ", ".join(
                    "nothing" if text is None else repr(str(text)[:SHOWN])
                    for text in (agent, *texts)
                )
                return file.name, f", first row {row} with {said}"
    return None


def _check_comma(database: DuckDBPyConnection, rows: Rows, reason: str) -> None:
    """Raise ValueError if all text among values is numbers with a comma."""
    found = first(
        database,
        f"SELECT bool_and(regexp_full_match(trim(value_text), {literal(COMMA)})), "
        f"min(value_text) FROM {rows.sql(database, False)} WHERE {reason} = {literal(TEXT)}",
    )
    if found is not None and found[0]:
        raise ValueError(
            f"column {rows.columns.value!r} writes numbers with a decimal comma, such as "
            f"{found[1]!r}; allowed is a point: replace the commas"
        )


def _forget_lines(database: DuckDBPyConnection) -> None:
    for name in ("reject_errors", "reject_scans"):
        database.execute(f"DROP TABLE IF EXISTS {name}")


def _blamed(database: DuckDBPyConnection, rows: Rows, error: Exception) -> ValueError:
    """Return an error that names the file which cannot be read."""
    for scan in rows.scans:
        for file in scan.files:
            source = rows.sql(database, False, [replace(scan, files=(file,))])
            try:
                first(database, f"SELECT count(agent), count(value) FROM {source}")
            except errors() as own:
                return ValueError(f"{file.name} cannot be read: {first_line(own)}; is it complete?")
    return ValueError(f"the table cannot be read: {first_line(error)}")
