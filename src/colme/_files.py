"""Files that are there complete or not at all.

Lives here: putting a finished draft in place.  Must not know what is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replacing"]


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
