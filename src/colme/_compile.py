"""The only importer of numba: marks the rules and compiles the loops that call them.

Without numba everything still runs, as plain Python; nothing here knows what is compiled.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

__all__ = ["compiled", "kernel"]

P = ParamSpec("P")
R = TypeVar("R")
Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be reordered and multiply-adds fused, which is what lets the row loops use vector
# instructions.  NaN and infinity keep their meaning: an infinite radius is how a rule sees a
# peer that was never asked.
_FASTMATH = {"reassoc", "nsz", "contract"}
_OPTIONS = {"fastmath": _FASTMATH, "error_model": "numpy"}

_rules: list[Callable[..., Any]] = []


def compiled(function: Function) -> Function:
    """Mark a rule: plain Python when called from Python, compiled when called from a kernel.

    Examples
    --------
    >>> @compiled
    ... def double(x: float) -> float:
    ...     return 2 * x
    >>> double(1.5)
    3.0
    """
    _rules.append(function)
    return function


class kernel(Generic[P, R]):  # noqa: N801 - used as a decorator
    """Compile a loop on its first call, keep it on disk, and run it without the GIL.

    numba is imported at that first call, so importing colme stays fast, and a device without
    numba runs the same loop interpreted.

    Examples
    --------
    >>> @kernel
    ... def total(values: list[float]) -> float:
    ...     s = 0.0
    ...     for value in values:
    ...         s += value
    ...     return s
    >>> total.function([1.0, 2.0])
    3.0
    """

    def __init__(self, function: Callable[P, R]) -> None:
        # A rule may meet an infinite radius; compiled code does not warn of what follows either.
        self.function: Callable[P, R] = np.errstate(invalid="ignore")(function)
        self._source = function
        self._compiled: Callable[P, R] | None = None
        self._lock = threading.Lock()
        functools.update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the compiled loop."""
        if self._compiled is None:
            with self._lock:
                self._compiled = self._compiled or _build(self._source) or self.function
        return self._compiled(*args, **kwargs)


def _build(function: Callable[P, R]) -> Callable[P, R] | None:
    """Return the compiled function; None without numba."""
    try:
        numba = importlib.import_module("numba")
    except ImportError:
        return None
    while _rules:
        numba.extending.register_jitable(forceinline=True, **_OPTIONS)(_rules.pop())
    directory = _cache_directory(numba.config.CACHE_DIR)
    if directory is None:
        return _typed(numba.njit(nogil=True, **_OPTIONS)(function))
    kept, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(directory)
    try:
        return _typed(numba.njit(nogil=True, cache=True, **_OPTIONS)(function))
    finally:
        numba.config.CACHE_DIR = kept


def _typed(function: Any) -> Callable[P, R]:
    compiled_function: Callable[P, R] = function
    return compiled_function


def _cache_directory(chosen: str) -> Path | None:
    """Return a writable folder named after the sources, or None.

    numba looks only at the kernel's own file to decide whether its cache is stale; a kernel is
    made of rules from several files, so the folder carries a digest of them all.
    """
    package = Path(__file__).parent
    digest = hashlib.sha256()
    for source in sorted(package.glob("*.py")):
        digest.update(source.read_bytes())
    name = f"colme-{digest.hexdigest()[:16]}"
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    places = [Path(chosen)] if chosen else [package / "__pycache__", user]
    for place in places:
        directory = place / name
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(directory, os.W_OK):
            return directory
    return None
