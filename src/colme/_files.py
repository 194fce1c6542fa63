"""Files and folders that are there complete or not at all.

Lives here: putting a finished draft in place.  Must not know what is written.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give a draft beside `target` that replaces it only once it is complete.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with replacing(Path(place) / "a.txt") as draft:
    ...         _ = draft.write_text("all of it")
    ...     [path.name for path in Path(place).iterdir()]
    ['a.txt']
    """
    draft = target.with_name(f".{target.stem}-{os.getpid()}.draft{target.suffix}")
    try:
        yield draft
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def replacing_folder(target: Path) -> Iterator[Path]:
    """Give a private draft of a folder; it takes the place of `target` once it is complete.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place, replacing_folder(Path(place) / "a") as draft:
    ...     _ = (draft / "members").write_text("a")
    """
    draft, old = (target.with_name(f".{target.name}-{os.getpid()}.{end}") for end in ("new", "old"))
    try:
        draft.mkdir(mode=0o700)
        yield draft
        if target.exists():
            target.rename(old)
        draft.rename(target)
    finally:
        for left in (draft, old):
            shutil.rmtree(left, ignore_errors=True)
