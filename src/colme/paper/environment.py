"""Where a reproduction ran: versions and machine, for the report alone.

Lives here: facts that differ between machines and so never enter ``tables.json``.  Must not know
experiments.
"""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = ("colme", "numpy", "numba", "matplotlib", "pydantic")


def environment() -> dict[str, str]:
    """Return versions and machine in words.

    Examples
    --------
    >>> sorted(environment())[:2]
    ['Python', 'colme']
    """
    facts = {"Python": platform.python_version()}
    facts |= {package: _version(package) for package in _PACKAGES}
    facts["system"] = f"{platform.system()} on {platform.machine()}"
    facts["cores"] = str(os.cpu_count() or "unknown")
    return facts


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
