"""Files that are there complete or not at all.

Lives here: the folder that results go to, and writing into it.  Must not know what is written.
"""

from __future__ import annotations

import os
from pathlib import Path

from colme._files import replacing


def prepare_folder(path: str | os.PathLike[str]) -> Path:
    """Return the folder, made if need be; raise ValueError if nothing can be written there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     prepare_folder(f"{place}/out").is_dir()
    True
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ValueError(f"cannot write into {str(folder)!r}: it is a file, not a folder") from None
    except OSError as error:
        raise ValueError(f"cannot make the folder {str(folder)!r}: {error.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"cannot write into {str(folder)!r}: no permission")
    return folder


def write(path: Path, content: str | bytes) -> None:
    """Write a draft beside `path` and put it in place once it is complete.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write(Path(place) / "a" / "b.txt", "all of it")
    ...     (Path(place) / "a" / "b.txt").read_text()
    'all of it'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)
