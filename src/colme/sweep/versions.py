"""What the last bits of a result depend on beside its specification.

Lives here: versions, and comparing them.  Must not know who computes what.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

import colme


def versions() -> dict[str, str]:
    """Return the versions of all that takes part in the arithmetic.

    Examples
    --------
    >>> list(versions())
    ['colme', 'numba', 'numpy', 'python']
    """
    python = ".".join(platform.python_version_tuple()[:2])
    libraries = {name: _version(name) for name in ("numba", "numpy")}
    return {"colme": colme.__version__, **libraries, "python": python}


def describe_difference(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    """Return what differs, in words; nothing if nothing does.

    Examples
    --------
    >>> describe_difference({"numpy": "2.0", "numba": "1"}, {"numpy": "2.1", "numba": "1"})
    'numpy 2.1 instead of 2.0'
    """
    return ", ".join(
        f"{name} {there.get(name, 'missing')} instead of {known}"
        for name, known in here.items()
        if there.get(name) != known
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
