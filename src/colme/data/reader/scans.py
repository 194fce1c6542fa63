"""Files as the database scans them: their columns, and the query that reads them.

Lives here: one scan for all files of the same shape, and how each format is opened.  Must not know
which columns matter, or agents.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from colme.data.reader.columns import KIND_OF_TYPE, find_column
from colme.data.reader.database import (
    Database,
    errors,
    first,
    first_line,
    listed,
    literal,
    quoted,
    register_arrow,
)
from colme.data.reader.table_files import TableFile

MISSING = "('', 'na', 'n/a', 'nan', 'null', 'none')"
"""What stands in tables for a missing value, in small letters."""
ROW_NUMBER = "file_row_number"
"""The database's name for the number of a row in its file."""
_SAMPLED_ROWS = 20_480
"""The types of columns of text are found from this many rows."""
_TYPE_TESTS = {
    "BIGINT": "regexp_full_match(trim({0}), '[+-]?[0-9]{{1,18}}')",
    "DOUBLE": "TRY_CAST({0} AS DOUBLE) IS NOT NULL",
    "BOOLEAN": "lower(trim({0})) IN ('true', 'false')",
    "TIMESTAMP": "TRY_CAST({0} AS TIMESTAMPTZ) IS NOT NULL",
}
"""Types of a column of text, the narrowest first, and what all of its cells must pass."""
_SMALL = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
"""Types of whole numbers that fit 64 bits."""


class Column(NamedTuple):
    """A column of a scan: its name, how the database writes it, its kind, whether a small type.

    Examples
    --------
    >>> Column("sales", "c1", "numbers", is_small=False).sql
    'c1'
    """

    name: str
    sql: str
    kind: str
    is_small: bool


@dataclass(frozen=True)
class Scan:
    """Files with the same columns: the types of these, and how text among them is written.

    Examples
    --------
    >>> from pathlib import Path
    >>> file = TableFile(Path("a.csv"), "a.csv", "csv")
    >>> scan = Scan((file,), {"store": "VARCHAR", "sales": "DECIMAL(18,3)", "x": "INT[]"}, "csv")
    >>> scan.kinds
    {'store': 'text', 'sales': 'numbers', 'x': 'int[]'}
    >>> scan.find("Sales", "value")
    Column(name='sales', sql='c1', kind='numbers', is_small=False)
    """

    files: tuple[TableFile, ...]
    types: dict[str, str]
    format: str
    style: str = ","
    encoding: str = "utf-8"
    is_numbered: bool = False
    """Whether rows come with their number in the file."""

    @cached_property
    def kinds(self) -> dict[str, str]:
        """What each column holds, in words."""
        kinds = {}
        for name, type_name in self.types.items():
            nested = type_name.endswith("]") or type_name.startswith(("STRUCT", "MAP", "UNION"))
            plain = "" if nested else re.split(r"[( _]", type_name)[0]
            kinds[name] = KIND_OF_TYPE.get(plain, type_name.lower())
        return kinds

    @property
    def is_text(self) -> bool:
        """Whether all that is read is text, its type found by looking at some of it."""
        return self.format in ("csv", "json")

    def find(self, name: str, flag: str) -> Column:
        """Return the column of that name, capitals or not; `flag` is what it is used for."""
        found = find_column(name, self.kinds, flag, self.files[0].name)
        sql = f"c{list(self.types).index(found)}" if self.format == "csv" else quoted(found)
        is_small = self.types[found] in _SMALL and self.format in ("parquet", "arrow")
        return Column(found, sql, self.kinds[found], is_small)

    def sql(self, database: Database, names: Sequence[str], *, strict: bool) -> str:
        """Return what stands after FROM to read these columns of all files.

        Parameters
        ----------
        database
            Where files are made known that it cannot open itself.
        names
            Columns needed.
        strict
            Whether lines that are no rows raise an error; else they are set aside.
        """
        files = listed(file.path for file in self.files)
        if self.format == "parquet":
            numbers = f", {ROW_NUMBER} = true" if self.is_numbered else ""
            return f"read_parquet({files}, hive_partitioning = false{numbers})"
        if self.format == "arrow":
            return register_arrow(database, self.files, names)
        compression = f"compression = '{self.files[0].compression}'"
        if self.format == "csv":
            types = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(self.types)))
            return (
                f"read_csv({files}, auto_detect = false, header = true, delim = "
                f"{literal(self.style)}, quote = '\"', escape = '\"', columns = {{{types}}}, "
                f"encoding = '{self.encoding}', {compression}, store_rejects = {not strict})"
            )
        types = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in dict.fromkeys(names))
        lenient = not strict and self.style == "newline_delimited"
        return (
            f"read_json({files}, columns = {{{types}}}, format = '{self.style}', {compression}, "
            f"ignore_errors = {lenient})"
        )


def scan_files(
    database: Database, files: Sequence[TableFile], *, skip_bad_rows: bool
) -> tuple[Scan, ...]:
    r"""Return scans of all files, those of the same shape in one.

    Raises ValueError that names the file if one cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from colme.data.reader.database import connected
    >>> with tempfile.TemporaryDirectory() as place, connected(Path(place)) as database:
    ...     path = Path(place, "a.csv")
    ...     _ = path.write_text("store;sales\nx;1.5\n")
    ...     scan, = scan_files(database, [TableFile(path, "a.csv", "csv")], skip_bad_rows=False)
    >>> scan.types, scan.style
    ({'store': 'VARCHAR', 'sales': 'DOUBLE'}, ';')
    """
    shapes: dict[str, Scan] = {}
    for file in files:
        try:
            if file.format == "csv":
                scan = _scan_csv(database, file, skip_bad_rows)
            else:
                scan = (_scan_json if file.format == "json" else _scan_typed)(database, file)
            rows = scan.sql(database, list(scan.types), strict=False)
            filled = first(database, f"SELECT 1 FROM {rows} LIMIT 1")
        except errors() as error:
            raise ValueError(
                f"{file.name} cannot be read as {file.format}: {first_line(error)}; is it complete "
                "and of that format?"
            ) from None
        if filled is None:
            raise ValueError(f"{file.name} has columns but no rows: there is nothing to estimate")
        shape = repr((scan.types, scan.format, scan.style, scan.encoding, file.compression))
        known = shapes.get(shape)
        shapes[shape] = replace(known, files=(*known.files, file)) if known else scan
    return tuple(shapes.values())


def _scan_typed(database: Database, file: TableFile) -> Scan:
    """Return the scan of a file that says itself what its columns hold."""
    scan = Scan((file,), {}, file.format)
    types = _types(database, scan.sql(database, (), strict=True))
    is_numbered = file.format == "parquet" and ROW_NUMBER not in types
    return replace(scan, types=types, is_numbered=is_numbered)


def _types(database: Database, source: str) -> dict[str, str]:
    rows = database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    return {name: type_name for name, type_name, *_ in rows}


def _scan_json(database: Database, file: TableFile) -> Scan:
    """Return the scan of a JSON file: one object per line, or one list of them."""
    style = "newline_delimited"
    if not any(ending in (".jsonl", ".ndjson") for ending in file.path.suffixes):
        try:
            is_lines = isinstance(json.loads(file.head().lstrip().split(b"\n")[0]), dict)
        except ValueError:
            is_lines = False
        style = style if is_lines else "auto"
    options = f"compression = '{file.compression}', ignore_errors = {style != 'auto'}"
    source = f"read_json({listed([file.path])}, format = '{style}', {options})"
    types = _types(database, source)
    if list(types) == ["json"]:
        raise ValueError(f'{file.name} holds no objects: write rows as {{"agent": ..., ...}}')
    return Scan((file,), types, "json", style)


def _scan_csv(database: Database, file: TableFile, skip_bad_rows: bool) -> Scan:
    """Return the scan of a text file: names from its header, types from its first rows.

    A column has the narrowest type that fits all of its first rows.
    """
    line, encoding = _header(database, file, skip_bad_rows)
    tab = any(ending in (".tsv", ".tab") for ending in file.path.suffixes)
    splits = {sign: next(csv.reader([line], delimiter=sign)) for sign in ("\t" if tab else ",\t;|")}
    names = max(splits.values(), key=len)
    style = next(sign for sign, split in splits.items() if split is names)
    types: dict[str, str] = {}
    for k, name in enumerate(names):
        plain = name.strip() or f"column {k + 1}"
        if plain in types:
            raise ValueError(f"{file.name} has two columns {plain!r}: rename one of them")
        types[plain] = "VARCHAR"
    scan = Scan((file,), types, "csv", style, encoding)
    cells = []
    for column in (f"c{k}" for k in range(len(types))):
        filled = f"lower(trim({column})) NOT IN {MISSING}"
        for kind, test in _TYPE_TESTS.items():
            cells.append(f"WHEN bool_and({test.format(column)}) FILTER ({filled}) THEN '{kind}'")
        cells.append("ELSE 'VARCHAR' END, CASE")
    rows = f"SELECT * FROM {scan.sql(database, (), strict=False)} LIMIT {_SAMPLED_ROWS}"
    query = f"SELECT CASE {' '.join(cells).removesuffix(', CASE')} FROM ({rows})"
    return replace(scan, types=dict(zip(types, first(database, query) or (), strict=True)))


def _header(database: Database, file: TableFile, skip_bad_rows: bool) -> tuple[str, str]:
    """Return the first line and how the file is encoded."""
    if file.compression == "zstd":
        whole_line = "columns = {'line': 'VARCHAR'}, delim = '\x01', quote = '', escape = ''"
        row = first(
            database,
            f"SELECT line FROM read_csv({listed([file.path])}, {whole_line}, header = false, "
            "auto_detect = false, compression = 'zstd') LIMIT 1",
        )
        return (row[0] if row else ""), "utf-8"
    head = file.head()
    if not head:
        raise ValueError(f"{file.name} cannot be decompressed: is it complete, and gzip?")
    utf16 = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    if utf16 and not (skip_bad_rows and head.startswith(b"\xff\xfe")):
        raise ValueError(f"{file.name} is text in UTF-16: save it as UTF-8")
    encoding = "utf-16" if utf16 else "utf-8"
    line = head if utf16 else head.lstrip(b"\r\n").replace(b"\r", b"\n").split(b"\n")[0]
    try:
        text = line.decode("utf-16", "ignore") if utf16 else line.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"the header of {file.name} is not UTF-8: save it as UTF-8") from None
    return text.splitlines()[0] if text else "", encoding
