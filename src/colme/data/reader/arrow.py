"""Arrow files and streams, handed to the database batch by batch.

Lives here: readers that hold one batch at a time.  Must not know which columns matter, or agents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from colme._extras import load
from colme.data.reader.database import Database, first_line, quoted
from colme.data.reader.table_files import TableFile


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
