"""Which files a table is made of: names, patterns, standard input, formats.

Lives here: what a file is, told from its name and its first bytes, and whether it can be complete.
Must not know columns, rows or the database.
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

__all__ = ["FORMATS", "Source", "find", "is_complete_zstd"]

Named: TypeAlias = "str | Path | Source"

FORMATS = {
    "csv": "csv",
    "tsv": "csv",
    "tab": "csv",
    "txt": "csv",
    "parquet": "parquet",
    "pq": "parquet",
    "arrow": "arrow",
    "arrows": "arrow",
    "feather": "arrow",
    "ipc": "arrow",
    "jsonl": "json",
    "ndjson": "json",
    "json": "json",
}
"""What the end of a name says about the file."""
PACKED = {"gz": "gzip", "gzip": "gzip", "zst": "zstd", "zstd": "zstd"}
HEADS = ((b"PAR1", ".parquet"), (b"ARROW1", ".arrow"), (b"\xff\xff\xff\xff", ".arrow"))


@dataclass(frozen=True)
class Source:
    """One file: where it is, what people call it, its format and how it is packed.

    Examples
    --------
    >>> Source(Path("/data/a.csv.gz"), "a.csv.gz", "csv", "gzip").format
    'csv'
    """

    path: Path
    name: str
    format: str
    packed: str = "none"

    def head(self, n_bytes: int = 1 << 20) -> bytes:
        """Return the first bytes, unpacked if gzip; nothing if they cannot be had."""
        try:
            if self.packed == "gzip":
                with gzip.open(self.path) as packed:
                    return packed.read(n_bytes)
            with self.path.open("rb") as file:
                return file.read(n_bytes)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            return b""


def find(paths: Named | Sequence[Named], folder: Path) -> list[Source]:
    """Return the files meant by names, patterns and `-`, which is standard input.

    Parameters
    ----------
    paths
        One or several files or patterns such as `data/*.csv`; a `Source` is taken as it is.
    folder
        Where standard input is put aside.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = Path(place, "b.csv").write_text("agent,value")
    ...     _ = Path(place, "a.csv").write_text("agent,value")
    ...     [file.path.name for file in find(f"{place}/*.csv", Path(place))]
    ['a.csv', 'b.csv']
    """
    wanted = [paths] if isinstance(paths, str | Path | Source) else list(paths)
    found = [source for path in wanted for source in _meant(path, folder)]
    if not found:
        raise ValueError("give at least one file, or - for standard input; received none")
    return list({source.path: source for source in found}.values())


def _meant(named: Named, folder: Path) -> list[Source]:
    if isinstance(named, Source):
        return [named]
    path = str(named)
    if path == "-":
        return [_standard_input(folder)]
    if Path(path).exists() or not glob.has_magic(path):
        return [_source(Path(path), path)]
    pattern = Path(path)
    top = Path(pattern.anchor)
    found = top.glob(str(pattern.relative_to(top)))
    matches = sorted(str(match) for match in found if match.is_file())
    if not matches:
        raise FileNotFoundError(f"no file matches {path}: check the folder and the pattern")
    return [_source(Path(match), match) for match in matches]


def _source(path: Path, name: str) -> Source:
    """Return the file, or say why it is none."""
    if path.is_dir():
        raise ValueError(f"{name} is a folder: name its files, for example {name}/*.csv")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {name}: check its name and folder")
    with path.open("rb") as file:
        empty = path.is_file() and not file.read(1)
    if empty:
        raise ValueError(f"{name} is empty: a table has a header and rows")
    endings = [ending.lstrip(".").lower() for ending in path.suffixes]
    packed = PACKED.get(endings[-1], "none") if endings else "none"
    known = endings[:-1] if packed != "none" else endings
    source = Source(path.absolute(), name, _format(known[-1] if known else "", name), packed)
    _check_packing(source)
    return source


def _format(ending: str, name: str) -> str:
    if ending not in FORMATS:
        allowed = ", ".join(f".{known}" for known in FORMATS)
        raise ValueError(
            f"{name} has an unknown format; allowed are {allowed}, text also packed as .gz or "
            ".zst: rename the file"
        )
    return FORMATS[ending]


def _check_packing(source: Source) -> None:
    if source.packed != "none" and source.format not in ("csv", "json"):
        raise ValueError(f"{source.name} is packed twice: unpack it and name it .{source.format}")
    if source.packed == "zstd" and not is_complete_zstd(source.path):
        raise ValueError(f"{source.name} is cut off, or not zstd: fetch it again")


def _standard_input(folder: Path) -> Source:
    """Put standard input aside, since it is read more than once, and look what it is."""
    spool = folder / "standard-input"
    with spool.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
    with spool.open("rb") as file:
        ending = _ending(file.read(64))
    if ending.endswith(".gz"):
        ending = _ending(Source(spool, "-", "csv", "gzip").head(64)) + ".gz"
    named = spool.rename(folder / f"standard-input{ending}")
    return _source(named, "standard input")


def _ending(head: bytes) -> str:
    """Return the ending of a name that fits the first bytes of a file."""
    for magic, ending in HEADS:
        if head.startswith(magic):
            return ending
    if head.startswith(b"\x1f\x8b"):
        return ".gz"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return ".csv.zst"
    return ".json" if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else ".csv"


def is_complete_zstd(path: Path) -> bool:
    """Return whether a zstd file has all blocks it announces; they are counted, not unpacked.

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
