"""Libraries that not everybody has: imported when they are needed, or what to install is said.

Lives here: that one import.  Must not know what a library is used for.
"""

from __future__ import annotations

import importlib
from typing import Any


def load(need: str, extra: str, *modules: str) -> Any:
    """Return the last of some modules; raise ImportError that says which extra of colme has them.

    Parameters
    ----------
    need
        What needs them, as the beginning of a sentence.
    extra
        The extra of colme to install.
    modules
        Their names; all of them are imported.

    Examples
    --------
    >>> load("arithmetic needs numpy", "fast", "numpy").__name__
    'numpy'
    >>> load("flying needs wings", "sky", "wings")
    Traceback (most recent call last):
    ImportError: flying needs wings: pip install 'colme[sky]'
    """
    try:
        return [importlib.import_module(module) for module in modules][-1]
    except ImportError:
        raise ImportError(f"{need}: pip install 'colme[{extra}]'") from None
