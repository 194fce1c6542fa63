"""The only importer of numba: marks the rules and compiles the loops that call them.

Without numba everything still runs, as plain Python; nothing here knows what is compiled.
"""

from __future__ import annotations

import functools
import importlib
import math
import threading
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from colme._kernel_cache import cache_directory, kernel_key, use_cache

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
    compiled_function: Callable[P, R] = dispatcher
    return compiled_function


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
