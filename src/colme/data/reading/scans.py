"""Files as the database scans them: their columns, and the words that read them.

Lives here: one scan for all files of the same shape, and how each format is opened.  Must not know
which columns matter, or agents.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from colme.data.reading.arrow import registered
from colme.data.reading.columns import kind_of
from colme.data.reading.database import errors, first, first_line, listed, literal, quoted
from colme.data.reading.sources import Source

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["MISSING", "NUMBER", "Scan", "gather", "looked_at"]

MISSING = "('', 'na', 'n/a', 'nan', 'null', 'none')"
"""What stands in tables for a value that is not there, in small letters."""
NUMBER = "file_row_number"
"""What the database calls the number of a row in its file."""
SAMPLE = 20_480


@dataclass(frozen=True)
class Scan:
    """Files with the same columns: the types of these, and how text among them is written.

    Examples
    --------
    >>> scan = Scan((), {"store": "VARCHAR", "sales": "BIGINT"}, "csv")
    >>> scan.kinds, scan.column("sales")
    ({'store': 'text', 'sales': 'whole numbers'}, 'c1')
    """

    files: tuple[Source, ...]
    types: dict[str, str]
    format: str
    style: str = ","
    encoding: str = "utf-8"

    @cached_property
    def kinds(self) -> dict[str, str]:
        """What each column holds, in words."""
        return {name: kind_of(type_name) for name, type_name in self.types.items()}

    @property
    def name(self) -> str:
        """The first of its files, for messages."""
        return self.files[0].name if self.files else "the table"

    @property
    def is_text(self) -> bool:
        """Whether all that is read is text, its type found by looking at some of it."""
        return self.format in ("csv", "json")

    @property
    def is_numbered(self) -> bool:
        """Whether rows come with their number in the file."""
        return self.format == "parquet" and bool(self.types) and NUMBER not in self.types

    @property
    def _numbers(self) -> str:
        return f", {NUMBER} = true" if self.is_numbered else ""

    def column(self, name: str) -> str:
        """Return the column in the words of the database."""
        return f"c{list(self.types).index(name)}" if self.format == "csv" else quoted(name)

    def sql(self, database: DuckDBPyConnection, names: Sequence[str], strict: bool) -> str:
        """Return what stands after FROM to read these columns of all files.

        Parameters
        ----------
        database
            Where files are made known that it cannot open itself.
        names
            Columns needed.
        strict
            Whether lines that are no rows raise an error; else they are put aside.
        """
        files = listed(file.path for file in self.files)
        if self.format == "parquet":
            return f"read_parquet({files}, hive_partitioning = false{self._numbers})"
        if self.format == "arrow":
            return registered(database, self.files, names)
        packed = f"compression = '{self.files[0].packed}'"
        if self.format == "csv":
            types = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(self.types)))
            return (
                f"read_csv({files}, auto_detect = false, header = true, delim = "
                f"{literal(self.style)}, quote = '\"', escape = '\"', columns = {{{types}}}, "
                f"encoding = '{self.encoding}', {packed}, store_rejects = {not strict})"
            )
        types = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in dict.fromkeys(names))
        lenient = not strict and self.style == "newline_delimited"
        return (
            f"read_json({files}, columns = {{{types}}}, format = '{self.style}', {packed}, "
            f"ignore_errors = {lenient})"
        )


def gather(database: DuckDBPyConnection, sources: Sequence[Source], skip: bool) -> list[Scan]:
    r"""Return scans of all files, those of the same shape in one.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from colme.data.reading.database import connected
    >>> from colme.data.reading.sources import find
    >>> with tempfile.TemporaryDirectory() as place, connected(Path(place)) as database:
    ...     for name in ("a.csv", "b.csv"):
    ...         _ = Path(place, name).write_text("store;sales\nx;1.5\n")
    ...     scans = gather(database, find(f"{place}/*.csv", Path(place)), skip=False)
    >>> [(len(scan.files), scan.kinds) for scan in scans]
    [(2, {'store': 'text', 'sales': 'numbers'})]
    """
    shapes: dict[str, Scan] = {}
    for source in sources:
        scan = looked_at(database, source, skip)
        shape = repr((scan.types, scan.format, scan.style, scan.encoding, source.packed))
        known = shapes.get(shape)
        shapes[shape] = replace(known, files=(*known.files, source)) if known else scan
    return list(shapes.values())


def looked_at(database: DuckDBPyConnection, source: Source, skip: bool) -> Scan:
    r"""Return the scan of one file, or raise ValueError that names it if it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from colme.data.reading.database import connected
    >>> with tempfile.TemporaryDirectory() as place, connected(Path(place)) as database:
    ...     file = Path(place, "a.csv")
    ...     _ = file.write_text("store\tsales\nx\t1\n")
    ...     looked_at(database, Source(file, "a.csv", "csv"), skip=False).types
    {'store': 'VARCHAR', 'sales': 'BIGINT'}
    """
    look = {"csv": _look_csv, "json": _look_json}.get(source.format, _look_typed)
    try:
        scan = look(database, source, skip)
        rows = scan.sql(database, list(scan.types), strict=False)
        filled = first(database, f"SELECT 1 FROM {rows} LIMIT 1")
    except errors() as error:
        raise ValueError(
            f"{source.name} cannot be read as {source.format}: {first_line(error)}; is it complete "
            "and of that format?"
        ) from None
    if filled is None:
        raise ValueError(f"{source.name} has columns but no rows: there is nothing to estimate")
    return scan


def _look_typed(database: DuckDBPyConnection, source: Source, skip: bool) -> Scan:
    """Return the scan of a file that says itself what its columns hold."""
    del skip
    scan = Scan((source,), {}, source.format)
    rows = database.execute(f"DESCRIBE SELECT * FROM {scan.sql(database, (), True)}").fetchall()
    return replace(scan, types={row[0]: row[1] for row in rows})


def _look_json(database: DuckDBPyConnection, source: Source, skip: bool) -> Scan:
    del skip
    style = "newline_delimited" if _is_lines(source) else "auto"
    rows = database.execute(
        f"DESCRIBE SELECT * FROM read_json({listed([source.path])}, format = '{style}', "
        f"compression = '{source.packed}', ignore_errors = {style != 'auto'})"
    ).fetchall()
    types = {row[0]: row[1] for row in rows}
    if list(types) == ["json"]:
        raise ValueError(f'{source.name} holds no objects: write rows as {{"agent": ..., ...}}')
    return Scan((source,), types, "json", style)


def _is_lines(source: Source) -> bool:
    """Return whether a JSON file has one object per line."""
    if any(ending in (".jsonl", ".ndjson") for ending in source.path.suffixes):
        return True
    try:
        return isinstance(json.loads(source.head().lstrip().split(b"\n")[0]), dict)
    except ValueError:
        return False


def _look_csv(database: DuckDBPyConnection, source: Source, skip: bool) -> Scan:
    """Return the scan of a text file: names from its header, types from its first rows."""
    line, encoding = _header(database, source, skip)
    tab = any(ending in (".tsv", ".tab") for ending in source.path.suffixes)
    splits = {sign: next(csv.reader([line], delimiter=sign)) for sign in ("\t" if tab else ",\t;|")}
    style = max(splits, key=lambda sign: len(splits[sign]))
    types: dict[str, str] = {}
    for k, name in enumerate(splits[style]):
        plain = name.strip() or f"column {k + 1}"
        if plain in types:
            raise ValueError(f"{source.name} has two columns {plain!r}: rename one of them")
        types[plain] = "VARCHAR"
    scan = Scan((source,), types, "csv", style, encoding)
    return replace(scan, types=_sampled_types(database, scan))


def _header(database: DuckDBPyConnection, source: Source, skip: bool) -> tuple[str, str]:
    """Return the first line and how the file is encoded."""
    if source.packed == "zstd":
        whole_line = "columns = {'line': 'VARCHAR'}, delim = '\x01', quote = '', escape = ''"
        row = first(
            database,
            f"SELECT line FROM read_csv({listed([source.path])}, {whole_line}, header = false, "
            "auto_detect = false, compression = 'zstd') LIMIT 1",
        )
        return (row[0] if row else ""), "utf-8"
    head = source.head()
    if not head:
        raise ValueError(f"{source.name} cannot be unpacked: is it complete, and packed as gzip?")
    utf16 = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    if utf16 and not (skip and head.startswith(b"\xff\xfe")):
        raise ValueError(f"{source.name} is text in UTF-16: save it as UTF-8")
    encoding = "utf-16" if utf16 else "utf-8"
    try:
        text = head.decode("utf-16", "ignore") if utf16 else _lines(head)[0].decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"the header of {source.name} is not UTF-8: save it as UTF-8") from None
    return text.splitlines()[0] if text else "", encoding


def _lines(head: bytes) -> list[bytes]:
    return head.lstrip(b"\r\n").replace(b"\r", b"\n").split(b"\n")


def _sampled_types(database: DuckDBPyConnection, scan: Scan) -> dict[str, str]:
    """Return the narrowest type that fits all of the first rows, column by column."""
    tests = {
        "BIGINT": "regexp_full_match(trim({0}), '[+-]?[0-9]{{1,18}}')",
        "DOUBLE": "TRY_CAST({0} AS DOUBLE) IS NOT NULL",
        "BOOLEAN": "lower(trim({0})) IN ('true', 'false')",
        "TIMESTAMP": "TRY_CAST({0} AS TIMESTAMPTZ) IS NOT NULL",
    }
    cells = []
    for name in scan.types:
        column = scan.column(name)
        there = f"lower(trim({column})) NOT IN {MISSING}"
        cells.append(f"count(*) FILTER ({there})")
        cells += [f"bool_and({test.format(column)}) FILTER ({there})" for test in tests.values()]
    rows = f"SELECT * FROM {scan.sql(database, (), False)} LIMIT {SAMPLE}"
    found = iter(first(database, f"SELECT {', '.join(cells)} FROM ({rows})") or ())
    types = {}
    for name in scan.types:
        there, *fits = (next(found) for _ in range(1 + len(tests)))
        named = (kind for kind, fit in zip(tests, fits, strict=True) if there and fit)
        types[name] = next(named, "VARCHAR")
    return types
