"""Let one module be imported as a mutant: in this process, and in those that tests start.

``COLME_MUTANT`` names the module's file and the file with the mutant's source, a colon between
them.  Without it nothing happens.  Python imports this by itself, since its folder stands on
``PYTHONPATH`` while mutants are tried.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType


def install() -> None:
    """Replace the source of the module that ``COLME_MUTANT`` names, and hide numba.

    Compiled loops would be compiled anew for every mutant; without numba they run as plain Python.
    """
    told = os.environ.get("COLME_MUTANT")
    if not told:
        return
    target, _, source = told.partition(":")
    sys.modules["numba"] = None  # type: ignore[assignment]
    plain = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        if source and self.path == target:
            return compile(Path(source).read_text(), target, "exec")
        return plain(self, fullname)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]


install()
