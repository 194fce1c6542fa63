"""Files as the database scans them: their columns, and the query that reads them.

Lives here: one scan for all files of the same shape, and how each format is opened.  Must not know
which columns matter, or agents.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from colme._extras import load
from colme.data.reader.columns import kind_of
from colme.data.reader.database import Database, errors, first, first_line, listed, literal, quoted
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


@dataclass(frozen=True)
class Scan:
    """Files with the same columns: the types of these, and how text among them is written.

    Examples
    --------
    >>> scan = Scan((), {"store": "VARCHAR", "sales": "BIGINT"}, "csv")
    >>> scan.kinds, scan.column("sales")
    ({'store': 'text', 'sales': 'whole numbers'}, 'c1')
    """

    files: tuple[TableFile, ...]
    types: dict[str, str]
    format: str
    style: str = ","
    encoding: str = "utf-8"

    @cached_property
    def kinds(self) -> dict[str, str]:
        """What each column holds, in words."""
        return {name: kind_of(type_name) for name, type_name in self.types.items()}

    @property
    def is_text(self) -> bool:
        """Whether all that is read is text, its type found by looking at some of it."""
        return self.format in ("csv", "json")

    @property
    def is_numbered(self) -> bool:
        """Whether rows come with their number in the file."""
        return self.format == "parquet" and bool(self.types) and ROW_NUMBER not in self.types

    def column(self, name: str) -> str:
        """Return the column as the database wants it."""
        return f"c{list(self.types).index(name)}" if self.format == "csv" else quoted(name)

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
    return replace(scan, types=_types(database, scan.sql(database, (), strict=True)))


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
    for name in types:
        column = scan.column(name)
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


def register_arrow(database: Database, files: Sequence[TableFile], names: Sequence[str]) -> str:
    """Make readers of Arrow files known, new ones for each scan; return what reads them all.

    Parameters
    ----------
    database
        The database that will read them.
    files
        Arrow files or streams.
    names
        Columns needed; all if none are named.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> from colme.data.reader.database import connected
    >>> table = pa.table({"agent": ["a"], "value": [1.5], "more": [0]})
    >>> with tempfile.TemporaryDirectory() as place, connected(Path(place)) as database:
    ...     path = Path(place, "a.arrow")
    ...     with pa.ipc.new_file(path, table.schema) as file:
    ...         file.write_table(table)
    ...     files = [TableFile(path, "a.arrow", "arrow")]
    ...     query = register_arrow(database, files, ["agent", "value"])
    ...     database.execute(f"SELECT * FROM {query}").fetchall()
    [('a', 1.5)]
    """
    parts = []
    for k, file in enumerate(files):
        known = f"arrow {k} {file.path}"
        database.register(known, _reader(file, names))
        parts.append(f"SELECT * FROM {quoted(known)}")
    return f"({' UNION ALL BY NAME '.join(parts)})"


def _reader(file: TableFile, names: Sequence[str]) -> Any:
    """Return a reader of batches with these columns (all if none), dictionaries written out."""
    pa = load("Arrow files are read with pyarrow", "arrow", "pyarrow")
    try:
        opened = pa.memory_map(str(file.path))
        if opened.read(6) == b"ARROW1":
            reader = pa.ipc.open_file(opened)
            batches = (reader.get_batch(k) for k in range(reader.num_record_batches))
        else:
            opened.seek(0)
            reader = pa.ipc.open_stream(opened)
            batches = iter(reader)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{file.name} cannot be read as Arrow: {first_line(error)}") from None
    wanted = [field for field in reader.schema if not names or field.name in names]
    schema = pa.schema(
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in wanted
    )
    plain = (batch.select(schema.names).cast(schema) for batch in batches)
    return pa.RecordBatchReader.from_batches(schema, plain)
