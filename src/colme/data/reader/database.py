"""The database that reads tables: how it is started, and how names and text are written for it.

Lives here: the connection, its limits, quoting, and what its errors say.  Must not know files,
columns or agents.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from colme._extras import load

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
    kind: type[Exception] = importlib.import_module("duckdb").Error
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
