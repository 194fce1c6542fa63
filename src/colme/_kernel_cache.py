"""Where compiled kernels are kept, and under which key.

Lives here: the key of a kernel, made of all that its machine code depends on, and a cache of numba
that goes by it.  Must not know what is compiled.
"""

from __future__ import annotations

import enum
import hashlib
import importlib
import os
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

_PACKAGE = __name__.partition(".")[0]


def kernel_key(function: Callable[..., Any]) -> str:
    """Return a digest of a function and of everything in the package that it reaches.

    Comments, docstrings, line numbers and whatever the function does not use leave the key as it
    is.  It follows from the objects that are there now, not from files: a rule replaced at run
    time gives another key.

    Examples
    --------
    >>> def double(x):
    ...     return 2 * x
    >>> def triple(x):
    ...     return 3 * x
    >>> kernel_key(double) == kernel_key(triple)
    False
    """
    digest = hashlib.sha256()
    seen: set[int] = set()
    pending: list[Any] = [function]
    while pending:
        found = pending.pop()
        while hasattr(found, "__wrapped__") and not isinstance(found, type):
            found = found.__wrapped__  # the Python function behind a kernel
        if id(found) in seen:
            continue
        seen.add(id(found))
        text, reached = _described(found)
        digest.update(text.encode())
        pending.extend(reached)
    return digest.hexdigest()[:32]


def _described(found: Any) -> tuple[str, list[Any]]:
    """Return all that compiled code may take from one object, and the objects that it names.

    These are what a function calls or reads, and what fields of a named tuple are made of, in an
    order that does not depend on chance.
    """
    text, scope = _constant(found), vars(sys.modules.get(getattr(found, "__module__", ""), sys))
    names = set(
        re.findall(r"\w+", " ".join(map(str, getattr(found, "__annotations__", {}).values())))
    )
    if isinstance(found, FunctionType):
        scope, parts, codes = found.__globals__, [str(found.__defaults__)], [found.__code__]
        for code in codes:
            codes.extend(value for value in code.co_consts if isinstance(value, CodeType))
            names.update(code.co_names)
            # A docstring comes first among the constants.
            constants = code.co_consts[code.co_consts[:1] == (found.__doc__,) :]
            values = [_constant(value) for value in constants if not isinstance(value, CodeType)]
            words = code.co_names, code.co_varnames, code.co_freevars
            parts.append(f"{code.co_code.hex()} {values} {words}")
        # With the module: files on disk name it.
        text = f"{found.__module__}.{found.__qualname__} {parts}"
    elif isinstance(found, type) and issubclass(found, enum.Enum):
        members = [(member.name, member.value) for member in found]
        text = f"{found.__module__}.{found.__qualname__} {members}"
    elif isinstance(found, type):
        fields = f"{getattr(found, '_fields', ())} {getattr(found, '_field_defaults', {})}"
        text = f"{found.__module__}.{found.__qualname__} {fields}"
    if not isinstance(found, FunctionType) and not hasattr(found, "_fields"):
        return text, []
    reached: list[Any] = []
    for name in sorted(names):
        value = scope.get(name)
        if isinstance(value, ModuleType) and value.__name__.startswith(_PACKAGE):
            reached += [vars(value)[part] for part in sorted(names) if part in vars(value)]
        elif value is not None and not isinstance(value, ModuleType):
            reached.append(value)
    reached += [cell.cell_contents for cell in getattr(found, "__closure__", None) or ()]
    # What stands in for a function in compiled code says so.
    return text, reached + list(getattr(found, "compiled_by", ()))


def _constant(value: Any) -> str:
    """Return the same text for equal values in every process: `repr` does not order sets."""
    if isinstance(value, dict):
        return _constant(list(value.items()))
    if isinstance(value, set | frozenset):
        return f"set {sorted(map(_constant, value))}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__} {[_constant(one) for one in value]}"
    return repr(value)


def use_cache(dispatcher: Any, directory: Path, key: str) -> None:
    """Let a function compiled by numba be kept in a folder, under that key.

    numba's own cache goes by the time of the kernel's file, and so misses changes of the rules it
    calls, and takes a new comment for a change.

    Examples
    --------
    >>> import tempfile, numba
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     double = numba.njit(lambda x: 2 * x)
    ...     use_cache(double, Path(folder), "key")
    ...     double(3), len(list(Path(folder).glob("*.nbi")))
    (6, 1)
    """
    caching = importlib.import_module("numba.core.caching")

    locator = SimpleNamespace(
        ensure_cache_path=partial(directory.mkdir, parents=True, exist_ok=True),
        get_cache_path=partial(str, directory),
        get_source_stamp=partial(str, key),
        get_disambiguator=partial(str, key),
    )

    class Kept(caching.CompileResultCacheImpl):  # type: ignore[misc, name-defined]
        def __init__(self, function: Any) -> None:
            self._locator = locator
            self._lineno = function.__code__.co_firstlineno
            self._filename_base = self.get_filename_base(function.__qualname__, "")

    class Cache(caching.FunctionCache):  # type: ignore[misc, name-defined]
        _impl_class = Kept

    dispatcher._cache = Cache(dispatcher.py_func)


def cache_directory(chosen: str) -> Path | None:
    """Return a folder for compiled kernels that can be written to, or None.

    Examples
    --------
    >>> import tempfile
    >>> cache_directory(tempfile.gettempdir()).name
    'colme-kernels'
    """
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    places = [Path(chosen)] if chosen else [Path(__file__).parent / "__pycache__", user]
    for place in places:
        directory = place / "colme-kernels"
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(directory, os.W_OK):
            return directory
    return None
