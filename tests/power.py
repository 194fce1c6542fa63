"""A disk that loses what was not synced: what a machine finds after its power failed.

How: SQLite does all its input and output through a table of functions, its VFS, and lets a program
register another.  `Disk` registers one that calls the usual one and looks on: at every sync it
keeps a copy of what the file then holds.  Python's own `os.fsync` is looked at the same way, for
files and for folders.  `Disk.lose_power` then writes a folder anew from these copies alone.  So the
worst case is tried, which no disk is obliged to avoid: of a file everything since its last sync is
gone, and of a folder every name since the folder's last sync.

Why so: killing a process loses nothing that the kernel has; a file system that drops writes needs
root, a wrapper library needs a compiler, and counting system calls would say that there was a sync
but not what it saved.  This needs only the library that the module `sqlite3` itself has loaded.

SQLite syncs the folder itself together with the first sync of a log that it has just made; that
happens beneath its VFS, and is repeated here.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["Disk", "watched_disk"]

_SYNC = 4
"""The place of xSync among the functions of a file."""
_N_FUNCTIONS = 18
"""Functions of a file in version 3 of their table, the latest."""
_FAILED = 1034
"""What SQLite calls a sync that failed: SQLITE_IOERR_FSYNC."""
_LOGS = ("-wal", "-journal")
_KEPT: list[Any] = []
"""What SQLite may still call: a test that fails leaves a store open, and ctypes frees what nobody
holds."""

_Open = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_void_p,  # SQLite keeps this very pointer, so it must not become a copy
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.c_void_p,
)
_Sync = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)


class _Vfs(ctypes.Structure):
    """The head of sqlite3_vfs, up to xOpen; what follows is copied as it is."""

    _fields_ = (
        ("iVersion", ctypes.c_int),
        ("szOsFile", ctypes.c_int),
        ("mxPathname", ctypes.c_int),
        ("pNext", ctypes.c_void_p),
        ("zName", ctypes.c_char_p),
        ("pAppData", ctypes.c_void_p),
        ("xOpen", _Open),
        ("others", ctypes.c_void_p * 15),
    )


class _Functions(ctypes.Structure):
    """sqlite3_io_methods: a version, then functions."""

    _fields_ = (("version", ctypes.c_int), ("functions", ctypes.c_void_p * _N_FUNCTIONS))


def _library() -> ctypes.CDLL:
    """Return the library that the module `sqlite3` works with."""
    mapped = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines()}
    found = sorted(path for path in mapped if "sqlite3" in path and ".so" in path)
    for path in found:
        library = ctypes.CDLL(path)
        if hasattr(library, "sqlite3_vfs_register"):
            return library
    raise RuntimeError(
        f"none of {found} lets a VFS be registered: use a Python whose sqlite3 is a shared library "
        "(apt install libsqlite3-0)"
    )


class Disk:
    """What is durable of every file and folder, as of its last sync."""

    def __init__(self) -> None:
        self.n_syncs = 0
        self._content: dict[int, bytes] = {}
        self._names: dict[Path, dict[str, int]] = {}
        self._failing = ""

    def synced(self, path: Path) -> None:
        """Keep what a file holds now, or which names a folder holds."""
        self.n_syncs += 1
        if path.is_dir():
            self._names[path] = {one.name: one.stat().st_ino for one in path.iterdir()}
        else:
            self._content[path.stat().st_ino] = path.read_bytes()
            if path.name.endswith(_LOGS) and path.name not in self._names.get(path.parent, {}):
                self.synced(path.parent)

    def fail_sync(self, ending: str) -> None:
        """Let the next sync of a file with this ending of its name fail."""
        self._failing = ending

    def fails(self, path: Path) -> bool:
        """Whether this sync fails; the next one does not."""
        fails = bool(self._failing) and path.name.endswith(self._failing)
        self._failing = "" if fails else self._failing
        return fails

    def lose_power(self, folder: Path, after: Path) -> Path:
        """Write what is left of a folder to another place, and return that."""
        after.mkdir()
        for name, number in self._names.get(folder.resolve(), {}).items():
            (after / name).write_bytes(self._content.get(number, b""))
        return after


@contextmanager
def watched_disk() -> Iterator[Disk]:
    """Yield a disk that sees every sync of SQLite and of `os.fsync` while the block runs."""
    library, disk = _library(), Disk()
    library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
    usual = library.sqlite3_vfs_find(None)
    shim = _Vfs.from_buffer_copy(usual.contents)
    shim.zName = b"watched"
    _KEPT.append(shim)

    def xopen(vfs: int, name: int, file: int, flags: int, out: int) -> int:
        code: int = usual.contents.xOpen(vfs, name, file, flags, out)
        if code == 0 and name:
            path = Path(os.fsdecode(ctypes.string_at(name)))
            _KEPT.append(_watch(file, path.resolve(), disk))
        return code

    shim.xOpen = _Open(xopen)
    plain = os.fsync

    def fsync(descriptor: Any) -> None:
        plain(descriptor)
        number = descriptor if isinstance(descriptor, int) else descriptor.fileno()
        disk.synced(Path(f"/proc/self/fd/{number}").resolve())

    library.sqlite3_vfs_register(ctypes.byref(shim), 1)
    os.fsync = fsync  # type: ignore[assignment]
    try:
        yield disk
    finally:
        os.fsync = plain
        library.sqlite3_vfs_register(usual, 1)
        library.sqlite3_vfs_unregister(ctypes.byref(shim))


def _watch(file: int, path: Path, disk: Disk) -> tuple[Any, ...]:
    """Let a file that SQLite has opened tell of its syncs."""
    table = ctypes.cast(file, ctypes.POINTER(ctypes.POINTER(_Functions)))
    functions = _Functions.from_buffer_copy(table.contents.contents)
    plain = _Sync(functions.functions[_SYNC])

    def xsync(of: int, flags: int) -> int:
        if disk.fails(path):
            return _FAILED
        code: int = plain(of, flags)
        if code == 0:
            disk.synced(path)
        return code

    sync = _Sync(xsync)
    functions.functions[_SYNC] = ctypes.cast(sync, ctypes.c_void_p).value
    pointer = ctypes.pointer(functions)
    table[0] = pointer
    return functions, pointer, sync, plain
