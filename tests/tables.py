"""Tables as files, for the tests of their reader."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from colme.data import Summaries

Table = Mapping[str, Any]


def _delimited(table: Table, path: Path, delimiter: str) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))


def _lines(table: Table) -> str:
    rows = (dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True))
    return "".join(json.dumps(row) + "\n" for row in rows)


def _stream(table: Table, path: Path) -> None:
    data = pa.table(dict(table))
    with pa.ipc.new_stream(path, data.schema) as stream:
        stream.write_table(data, max_chunksize=500)


def _packed_by(codec: str) -> Callable[[Table, Path], None]:
    def write(table: Table, path: Path) -> None:
        _delimited(table, path, ",")
        plain = path.read_bytes()
        packed = pa.compress(plain, codec=codec, asbytes=True) if codec != "gzip" else None
        path.write_bytes(packed or gzip.compress(plain))

    return write


WRITERS: dict[str, Callable[[Table, Path], object]] = {
    "csv": lambda table, path: _delimited(table, path, ","),
    "tsv": lambda table, path: _delimited(table, path, "\t"),
    "txt": lambda table, path: _delimited(table, path, ";"),
    "csv.gz": _packed_by("gzip"),
    "csv.zst": _packed_by("zstd"),
    "parquet": lambda table, path: pa.parquet.write_table(pa.table(dict(table)), path),
    "feather": lambda table, path: pa.feather.write_feather(pa.table(dict(table)), path),
    "arrow": _stream,
    "jsonl": lambda table, path: path.write_text(_lines(table)),
    "jsonl.gz": lambda table, path: (
        path.write_bytes(gzip.compress(_lines(table).encode())) and None
    ),
    "json": lambda table, path: (
        path.write_text(f"[{','.join(_lines(table).split(chr(10))[:-1])}]") and None
    ),
}


def written(folder: Path, table: Table, ending: str = "csv", name: str = "table") -> Path:
    """Write a table as the ending of its name says; return the file."""
    path = folder / f"{name}.{ending}"
    WRITERS[ending](table, path)
    return path


def assert_same(found: Summaries, expected: Summaries) -> None:
    """Compare counts exactly, means and squares up to rounding."""
    assert found.agents.tolist() == expected.agents.tolist()
    assert found.counts.tolist() == expected.counts.tolist()
    np.testing.assert_allclose(found.means, expected.means, rtol=1e-12, atol=1e-6)
    scale = expected.counts * (np.abs(expected.means) + 1) ** 2
    np.testing.assert_allclose(found.squares, expected.squares, rtol=1e-9, atol=1e-12 * scale.max())
