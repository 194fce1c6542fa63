"""The only importer of numba: marks the rules, compiles the loops that call them, and keeps these.

Lives here: compiling, and a cache on disk whose keys are made of all that machine code depends on.
Without numba everything still runs, as plain Python.  Must not know what is compiled.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import importlib
import math
import os
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be reordered and multiply-adds fused, which is what lets the row loops use vector
# instructions.  NaN and infinity keep their meaning: an infinite radius is how a rule sees a
# peer that was never asked.
_FASTMATH = {"reassoc", "nsz", "contract"}
# Loops take no memory, so nothing in them needs to count references.
_OPTIONS = {"fastmath": _FASTMATH, "error_model": "numpy", "_nrt": False}

_SERIES = tuple(1 / math.factorial(i) for i in range(13, -1, -1))
_LEAST_EXPONENT = -700.0
_ROUNDING = 1.5 * 2**52
_LOG2_E = 1 / math.log(2)
_LN2_HIGH = 0.693147180369123816490  # its last bits are zero, so that k times it is exact
_LN2_LOW = 1.90821492927058770002e-10

_PACKAGE = __name__.partition(".")[0]
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


def exponential(x: float) -> float:
    """Return eˣ for x <= 0: in a kernel, by arithmetic that a row loop does for many x at once.

    Examples
    --------
    >>> exponential(0.0)
    1.0
    """
    return math.exp(x)


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
    _vectorise_exponential(numba)
    while _rules:
        numba.extending.register_jitable(forceinline=True, **_OPTIONS)(_rules.pop())
    dispatcher = numba.njit(nogil=True, **_OPTIONS)(function)
    directory = cache_directory(numba.config.CACHE_DIR)
    if directory is not None:
        use_cache(dispatcher, directory, kernel_key(function))
    return dispatcher  # type: ignore[no-any-return]


@functools.cache
def _vectorise_exponential(numba: Any) -> None:
    """Tell numba to compute `exponential` as 2ᵏ eʳ: a call to the C library is never vectorised.

    With k the integer nearest to x / ln 2, |r| <= ln(2) / 2 and 14 terms of the series leave a
    relative error below 1e-15; below -700 the answer is 0.  Adding 1.5 · 2⁵² to a number leaves its
    integer part in the low bits, from where 2ᵏ is made by a shift.
    """
    types = numba.types

    @numba.extending.intrinsic  # type: ignore[untyped-decorator]
    def power_of_two(_context: Any, _shifted: Any) -> Any:
        def build(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            ir = importlib.import_module("llvmlite.ir")
            bits = builder.bitcast(args[0], ir.IntType(64))
            biased = builder.add(bits, ir.Constant(ir.IntType(64), 1023))
            shifted = builder.shl(biased, ir.Constant(ir.IntType(64), 52))
            return builder.bitcast(shifted, args[0].type)

        return types.float64(types.float64), build

    def compute(x: Any) -> Any:
        tiny = not x > _LEAST_EXPONENT
        x = _LEAST_EXPONENT if tiny else x
        shifted = x * _LOG2_E + _ROUNDING
        k = shifted - _ROUNDING
        r = x - k * _LN2_HIGH - k * _LN2_LOW
        total = _SERIES[0]
        for i in range(1, len(_SERIES)):
            total = total * r + _SERIES[i]
        return 0.0 if tiny else total * power_of_two(shifted)

    def choose(x: Any) -> Any:  # noqa: ARG001 - numba asks for the name
        return compute

    # Reordering would undo the rounding.
    options = _OPTIONS | {"fastmath": {"contract"}, "forceinline": True}
    numba.extending.overload(exponential, jit_options=options)(choose)


exponential.compiled_by = (_vectorise_exponential,)  # type: ignore[attr-defined]


def kernel_key(function: Callable[..., Any]) -> str:
    """Return a digest of a function and of everything in the package that it reaches.

    Comments, docstrings, line numbers and whatever the function does not use leave it as it is.
    It follows from the objects that are there now: a rule replaced at run time gives another key.

    Examples
    --------
    >>> kernel_key(lambda x: 2 * x) == kernel_key(lambda x: 3 * x)
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
    types = getattr(found, "__annotations__", {}).values()
    names = set(re.findall(r"\w+", " ".join(map(str, types))))
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
        text = str(parts)
    elif isinstance(found, type) and issubclass(found, enum.Enum):
        text = str([(member.name, member.value) for member in found])
    elif isinstance(found, type):
        text = f"{getattr(found, '_fields', ())} {getattr(found, '_field_defaults', {})}"
    if isinstance(found, type | FunctionType):  # with the module: files on disk name it
        text = f"{found.__module__}.{found.__qualname__} {text}"
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
        ensure_cache_path=functools.partial(directory.mkdir, parents=True, exist_ok=True),
        get_cache_path=functools.partial(str, directory),
        get_source_stamp=functools.partial(str, key),
        get_disambiguator=functools.partial(str, key),
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
