"""Rows that cannot be used: why not, how many, and where the first one is.

Lives here: reasons as the database finds them, their counts and the message about them.  Must not
know formats or sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from colme import _check
from colme.data.reader.database import errors, first, first_line, literal
from colme.data.reader.row_query import RowQuery
from colme.data.reader.scans import MISSING

_TEXT = "text instead of a number"
_BROKEN = "broken line"
_NOT_UTF8 = "not UTF-8"
_COMMA = r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?"
_MAX_LETTERS = 60
"""Of a row that cannot be used, at most this much is shown."""


@dataclass(frozen=True)
class Census:
    """How many rows there are, and how many of them cannot be used, by reason.

    Examples
    --------
    >>> Census(10, 3, {"no value": 2, "no agent": 1}).reasons
    'no value: 2, no agent: 1'
    """

    n_rows: int
    n_bad: int
    bad: Mapping[str, int]

    @property
    def reasons(self) -> str:
        """Why rows cannot be used, and how many each."""
        return ", ".join(f"{name}: {number}" for name, number in self.bad.items())


def sort_out(rows: RowQuery) -> tuple[Census, Callable[[], str]]:
    r"""Return how many rows are good or bad, and what queries the good ones, anew for each use.

    Raises ValueError with the first of the bad rows if they may not be skipped, or are all.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = Path(place, "a.csv").write_text("agent,value\na,1\nb,\nc\nd,high\n")
    ...     with RowQuery.opened(f"{place}/a.csv", skip_bad_rows=True) as rows:
    ...         census, good = sort_out(rows)
    ...         first(rows.database, f"SELECT agent, value FROM {good()}")
    ('a', 1.0)
    >>> census.n_rows, census.n_bad, census.reasons
    (4, 3, 'no value: 1, text instead of a number: 1, broken line: 1')
    """
    reason = _reason_sql(rows)
    census = _count(rows, reason)
    if census.bad and not (rows.skip_bad_rows and census.n_rows > census.n_bad):
        raise _refusal(rows, census, reason)
    return census, lambda: f"(SELECT * FROM {rows.sql(strict=False)} WHERE {reason} IS NULL)"


def _reason_sql(rows: RowQuery) -> str:
    """Return what says, row by row, why it cannot be used; NULL if it can."""
    cases = [
        ("agent IS NULL", "no agent"),
        ("isnan(value)", "no value"),
        (f"value IS NULL AND coalesce(lower(trim(value_text)), '') IN {MISSING}", "no value"),
        ("value IS NULL", _TEXT),
        ("isinf(value)", "infinite value"),
        (f"abs(value) > {_check.LARGEST_SAMPLE}", f"value beyond {_check.LARGEST_SAMPLE:g}"),
    ]
    if rows.value_range is not None:
        low, high = rows.value_range
        outside = f"value outside {low:g} to {high:g}"
        cases.append((f"value NOT BETWEEN {low!r} AND {high!r}", outside))
    if rows.columns.time is not None:
        missing = f"coalesce(lower(trim(time_text)), '') IN {MISSING}"
        cases += [(f"tick IS NULL AND {missing}", "no time"), ("tick IS NULL", "unreadable time")]
    whens = " ".join(f"WHEN {test} THEN {literal(reason)}" for test, reason in cases)
    return f"CASE {whens} END"


def _count(rows: RowQuery, reason: str) -> Census:
    """Return the census of all rows."""
    # An earlier scan may have set lines aside.
    rows.database.execute("DROP TABLE IF EXISTS reject_errors; DROP TABLE IF EXISTS reject_scans")
    query = f"SELECT {reason}, count(*) FROM {rows.sql(strict=False)} GROUP BY 1 ORDER BY 1"
    try:
        found = rows.database.execute(query).fetchall()
    except errors() as error:
        raise _unreadable(rows, error) from None
    if any(scan.format == "csv" for scan in rows.scans):
        lines = rows.database.execute(
            "SELECT utf8, count(*) FROM (SELECT bool_and(error_type <> 'INVALID ENCODING') AS utf8 "
            "FROM reject_errors GROUP BY scan_id, file_id, line) GROUP BY utf8 ORDER BY utf8 DESC"
        ).fetchall()
        found += [(_BROKEN if utf8 else _NOT_UTF8, number) for utf8, number in lines]
    bad = {name: number for name, number in found if name is not None}
    if _TEXT in bad:
        _check_comma(rows, reason)
    return Census(sum(number for _, number in found), sum(bad.values()), bad)


def _check_comma(rows: RowQuery, reason: str) -> None:
    """Raise ValueError if all text among values is numbers with a comma."""
    query = (
        f"SELECT bool_and(regexp_full_match(trim(value_text), {literal(_COMMA)})), "
        f"min(value_text) FROM {rows.sql(strict=False)} WHERE {reason} = {literal(_TEXT)}"
    )
    are_numbers, example = first(rows.database, query) or (False, None)
    if are_numbers:
        raise ValueError(
            f"column {rows.columns.value!r} writes numbers with a decimal comma, such as "
            f"{example!r}; allowed is a point: replace the commas"
        )


def _each_file(rows: RowQuery) -> Iterator[tuple[str, str]]:
    """Yield the name of each file, and a query for its rows."""
    for scan in rows.scans:
        for file in scan.files:
            yield file.name, rows.sql(strict=False, scans=[replace(scan, files=(file,))])


def _unreadable(rows: RowQuery, error: Exception) -> ValueError:
    """Return an error that names the file which cannot be read."""
    for name, source in _each_file(rows):
        try:
            first(rows.database, f"SELECT count(agent), count(value) FROM {source}")
        except errors() as own:
            return ValueError(f"{name} cannot be read: {first_line(own)}; is it complete?")
    return ValueError(f"the table cannot be read: {first_line(error)}")


def _refusal(rows: RowQuery, census: Census, reason: str) -> ValueError:
    """Return the error that says which rows cannot be used, with the first of them."""
    are_lines = _BROKEN in census.bad or _NOT_UTF8 in census.bad
    file, example = _first_line_set_aside(rows) if are_lines else _first_bad_row(rows, reason)
    timed = " and a time, a number or ISO date" if rows.columns.time else ""
    return ValueError(
        f"{file}: {census.n_bad} of {census.n_rows} rows cannot be used ({census.reasons})"
        f"{example}; each row needs an agent and a finite number up to "
        f"{_check.LARGEST_SAMPLE:g}{timed}: repair them, or leave them out with --skip-bad-rows"
    )


def _first_line_set_aside(rows: RowQuery) -> tuple[str, str]:
    """Return the file and the number of the first line that is no row, with its text."""
    query = (
        "SELECT file_path, line, csv_line FROM reject_errors JOIN reject_scans "
        "USING (scan_id, file_id) ORDER BY file_path, line LIMIT 1"
    )
    path, line, text = first(rows.database, query) or ("the table", 0, "")
    shown = " ".join(str(text).split())[:_MAX_LETTERS]
    return str(path).rsplit("/", 1)[-1], f", first line {line}: {shown!r}"


def _first_bad_row(rows: RowQuery, reason: str) -> tuple[str, str]:
    """Return the file and the number of the first row that cannot be used, with its cells."""
    rows.database.execute("SET preserve_insertion_order = true")
    cells = "row, agent, value_text" + (", time_text" if rows.columns.time else "")
    for name, source in _each_file(rows):
        numbered = f"(SELECT *, row_number() OVER () AS row FROM {source})"
        bad = f"SELECT {cells} FROM {numbered} WHERE {reason} IS NOT NULL LIMIT 1"
        found = first(rows.database, bad)
        if found is not None:
            shown = ("nothing" if x is None else repr(str(x)[:_MAX_LETTERS]) for x in found[1:])
            return name, f", first row {found[0]} with {', '.join(shown)}"
    return "the table", ""
