"""The database that reads tables: how it is started, and how names and text are written for it.

Lives here: the connection, its limits, readers of Arrow files that hold one batch at a time,
quoting, and what its errors say.  Must not know which columns matter, or agents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from colme._extras import load
from colme.data.reader.table_files import TableFile

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Database: TypeAlias = "DuckDBPyConnection"

MEMORY_LIMIT = "1200MB"
"""What the database may hold; the rest goes to a temporary folder."""


@contextmanager
def connected(folder: Path) -> Iterator[Database]:
    """Give a database in memory that spills into `folder` and never leaves this machine.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place, connected(Path(place)) as database:
    ...     first(database, "SELECT 1 + 1")
    (2,)
    """
    duckdb = load("tables are read with duckdb", "data", "duckdb")
    settings: dict[str, Any] = {
        "memory_limit": MEMORY_LIMIT,
        "temp_directory": str(folder / "spilled"),
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    with duckdb.connect(":memory:", config=settings) as database:
        database.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
        try:
            yield database
        except duckdb.Error as error:
            raise OSError(f"the database cannot go on: {first_line(error)}") from None
        except RuntimeError as error:
            if "interrupted" in str(error):  # how the database passes Ctrl-C on
                raise KeyboardInterrupt from None
            raise


def quoted(name: str) -> str:
    """Return the name of a column as the database wants it.

    Examples
    --------
    >>> quoted('my "own" column')
    '"my ""own"" column"'
    """
    return '"' + name.replace('"', '""') + '"'


def listed(paths: Iterable[Path]) -> str:
    """Return files as a list for the database, none of them taken for a pattern.

    Examples
    --------
    >>> listed([Path("/a/b[1].csv"), Path("/a/c.csv")])
    "['/a/b[[]1].csv', '/a/c.csv']"
    """
    plain = str.maketrans({sign: f"[{sign}]" for sign in "[*?"})
    return "[" + ", ".join(literal(str(path).translate(plain)) for path in paths) + "]"


def literal(text: str) -> str:
    """Return text between quotes, those in it doubled.

    Examples
    --------
    >>> literal("it's")
    "'it''s'"
    """
    return f"""'{text.replace("'", "''")}'"""


def first(database: Database, query: str) -> tuple[Any, ...] | None:
    """Return the first row of a short result; the rest is fetched too, so that nothing is pending.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place, connected(Path(place)) as database:
    ...     first(database, "SELECT range FROM range(3)"), first(database, "FROM range(0)")
    ((0,), None)
    """
    rows = database.execute(query).fetchall()
    return rows[0] if rows else None


def errors() -> type[Exception]:
    """Return the kind of error that the database raises.

    Examples
    --------
    >>> issubclass(errors(), Exception)
    True
    """
    kind: type[Exception] = load("tables are read with duckdb", "data", "duckdb").Error
    return kind


def first_line(error: Exception) -> str:
    r"""Return what an error of the database says, without its advice.

    Examples
    --------
    >>> first_line(ValueError("IO Error: no more\n\nLINE 1: SELECT"))
    'no more'
    """
    line = str(error).strip().split("\n")[0]
    if "state machine" in line:
        return "its lines end in different ways, or its quotes do not close"
    return line.split(" Error: ", 1)[-1].split(" Detail: ")[0].strip()


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
