"""Which files a table is made of: names, patterns, standard input, formats.

Lives here: what a file is, by its name and its first bytes, and whether it can be complete.  Must
not know columns, rows or the database.
"""

from __future__ import annotations

import glob
import gzip
import shutil
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

Named: TypeAlias = "str | Path | TableFile"

_ENDINGS = {
    "csv": "csv tsv tab txt",
    "parquet": "parquet pq",
    "arrow": "arrow arrows feather ipc",
    "json": "jsonl ndjson json",
}
FORMATS = {ending: form for form, endings in _ENDINGS.items() for ending in endings.split()}
"""The format of a file, by the end of its name."""
_COMPRESSIONS = {"gz": "gzip", "gzip": "gzip", "zst": "zstd", "zstd": "zstd"}
_HEADS = (
    (b"PAR1", ".parquet"),
    (b"ARROW1", ".arrow"),
    (b"\xff\xff\xff\xff", ".arrow"),
    (b"\x1f\x8b", ".gz"),
    (b"\x28\xb5\x2f\xfd", ".csv.zst"),
)
"""First bytes of a file, and the end of a name that fits them."""


@dataclass(frozen=True)
class TableFile:
    """One file: where it is, what people call it, its format and its compression.

    Examples
    --------
    >>> TableFile(Path("/data/a.csv.gz"), "a.csv.gz", "csv", "gzip").format
    'csv'
    """

    path: Path
    name: str
    format: str
    compression: str = "none"

    @classmethod
    def at(cls, path: Path, name: str) -> TableFile:
        """Return the file of that path, or raise an error that says why there is none."""
        if path.is_dir():
            raise ValueError(f"{name} is a folder: name its files, for example {name}/*.csv")
        if not path.exists():
            raise FileNotFoundError(f"there is no file {name}: check its name and folder")
        with path.open("rb") as file:
            empty = path.is_file() and not file.read(1)
        if empty:
            raise ValueError(f"{name} is empty: a table has a header and rows")
        endings = "".join(path.suffixes).lower().split(".")[1:]
        compression = _COMPRESSIONS.get(endings[-1], "none") if endings else "none"
        known = endings[:-1] if compression != "none" else endings
        form = FORMATS.get(known[-1] if known else "")
        if form is None:
            allowed = ", ".join(f".{known}" for known in FORMATS)
            raise ValueError(
                f"{name} has an unknown format; allowed are {allowed}, text also compressed as .gz "
                "or .zst: rename the file"
            )
        if compression != "none" and form not in ("csv", "json"):
            raise ValueError(f"{name} is compressed twice: decompress it and name it .{form}")
        if compression == "zstd" and not is_complete_zstd(path):
            raise ValueError(f"{name} is cut off, or not zstd: fetch it again")
        return cls(path.absolute(), name, form, compression)

    def head(self, n_bytes: int = 1 << 20) -> bytes:
        """Return the first bytes, decompressed if gzip; nothing if they cannot be read."""
        try:
            is_gzip = self.compression == "gzip"
            with gzip.open(self.path) if is_gzip else self.path.open("rb") as file:
                return file.read(n_bytes)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            return b""


def find_files(paths: Named | Sequence[Named], folder: Path) -> list[TableFile]:
    """Return the files meant by names, patterns and `-`, which is standard input.

    Parameters
    ----------
    paths
        One or several files or patterns such as `data/*.csv`; a `TableFile` is taken as it is.
    folder
        Where standard input is stored.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = Path(place, "b.csv").write_text("agent,value")
    ...     _ = Path(place, "a.csv").write_text("agent,value")
    ...     [file.path.name for file in find_files(f"{place}/*.csv", Path(place))]
    ['a.csv', 'b.csv']
    """
    found: dict[Path, TableFile] = {}
    for named in [paths] if isinstance(paths, str | Path | TableFile) else paths:
        if isinstance(named, TableFile):
            files = [named]
        elif str(named) == "-":
            files = [_standard_input(folder)]
        elif Path(named).exists() or not glob.has_magic(str(named)):
            files = [TableFile.at(Path(named), str(named))]
        else:
            files = _matching(Path(named))
        found |= {file.path: file for file in files}
    if not found:
        raise ValueError("give at least one file, or - for standard input; received none")
    return list(found.values())


def _matching(pattern: Path) -> list[TableFile]:
    """Return the files that match a pattern, in order of their names."""
    top = Path(pattern.anchor)
    found = top.glob(str(pattern.relative_to(top)))
    matches = sorted(str(match) for match in found if match.is_file())
    if not matches:
        raise FileNotFoundError(f"no file matches {pattern}: check the folder and the pattern")
    return [TableFile.at(Path(match), match) for match in matches]


def _standard_input(folder: Path) -> TableFile:
    """Store standard input, since it is read more than once, and find out its format."""
    stored = folder / "standard-input"
    with stored.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
    with stored.open("rb") as file:
        ending = _ending(file.read(64))
    if ending == ".gz":
        ending = _ending(TableFile(stored, "-", "csv", "gzip").head(64)) + ".gz"
    return TableFile.at(stored.rename(folder / f"standard-input{ending}"), "standard input")


def _ending(head: bytes) -> str:
    """Return the ending of a name that fits the first bytes of a file."""
    for magic, ending in _HEADS:
        if head.startswith(magic):
            return ending
    return ".json" if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else ".csv"


def is_complete_zstd(path: Path) -> bool:
    """Return whether a zstd file has all blocks it announces; they are counted, not decompressed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = Path(place, "a.zst")
    ...     _ = file.write_bytes(bytes.fromhex("28b52ffd2001090000") + b"a")
    ...     whole = is_complete_zstd(file)
    ...     _ = file.write_bytes(bytes.fromhex("28b52ffd2001090000"))
    ...     whole, is_complete_zstd(file)
    (True, False)
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        while file.tell() < size:
            if not _skip_frame(file) or file.tell() > size:
                return False
    return True


def _skip_frame(file: BinaryIO) -> bool:
    """Move past one frame; return whether there was one."""
    magic = int.from_bytes(file.read(4), "little")
    if magic >> 4 == 0x184D2A5:  # a frame to be skipped: its size, then anything
        file.seek(int.from_bytes(file.read(4), "little"), 1)
        return True
    described = file.read(1)
    if magic != 0xFD2FB528 or not described:
        return False
    flags = described[0]
    single = flags >> 5 & 1
    content = (single, 2, 4, 8)[flags >> 6]
    file.seek(1 - single + (0, 1, 2, 4)[flags & 3] + content, 1)
    while True:
        block = file.read(3)
        if len(block) < 3:
            return False
        header = int.from_bytes(block, "little")
        file.seek(1 if header >> 1 & 3 == 1 else header >> 3, 1)
        if header & 1:
            file.seek(4 * (flags >> 2 & 1), 1)
            return True
