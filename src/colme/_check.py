"""Checks of single values: an error names the value received and what is allowed.

Lives here: validation of numbers, labels and sizes.  Must not know agents, problems or files.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Sequence
from typing import Any, NamedTuple, SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import NDArray

LARGEST_SAMPLE = 1e150
"""Numbers beyond this overflow when they are weighted and summed."""

_MOST_THREADS = 1024


class _Rule(NamedTuple):
    """What a number must satisfy: low <= number <= high, or low < number < high if `is_open`."""

    allowed: str
    low: float = -math.inf
    high: float = math.inf
    is_open: bool = False


class _Number:
    """A check of real numbers.

    Called with the name and the value of an argument, it returns the value as a float, or raises
    ValueError if it is not finite or breaks a rule.

    Examples
    --------
    >>> positive("sigma", 2), share("late", 0.25), scale("sigma", 0.5)
    (2.0, 0.25, 0.5)
    >>> risk("delta", 1)
    Traceback (most recent call last):
    ValueError: delta is a probability of failure in (0, 1); received 1
    """

    def __init__(self, *rules: _Rule) -> None:
        self._rules = rules

    def __call__(self, name: str, value: SupportsFloat) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must be a finite number; received {value!r}") from None
        if not math.isfinite(number):
            raise ValueError(f"{name} must be a finite number; received {number}")
        for allowed, low, high, is_open in self._rules:
            if not low <= number <= high or (is_open and number in (low, high)):
                raise ValueError(f"{name} {allowed}; received {number:g}")
        return number


_POSITIVE = _Rule("must be greater than 0", low=0, is_open=True)
_SAMPLE = _Rule(
    f"must be at most {LARGEST_SAMPLE:g} in size", low=-LARGEST_SAMPLE, high=LARGEST_SAMPLE
)
finite = _Number()
positive = _Number(_POSITIVE)
non_negative = _Number(_Rule("must be 0 or greater", low=0))
sample = _Number(_SAMPLE)
scale = _Number(_POSITIVE, _SAMPLE)
risk = _Number(_Rule("is a probability of failure in (0, 1)", low=0, high=1, is_open=True))
share = _Number(_Rule("is a share in [0, 1]", low=0, high=1))


class _WholeNumber:
    """A check of whole numbers, like `_Number`.

    Examples
    --------
    >>> positive_int("horizon", 2500), non_negative_int("healing", 0)
    (2500, 0)
    >>> positive_int("horizon", 0)
    Traceback (most recent call last):
    ValueError: horizon must be at least 1; received 0
    """

    def __init__(self, rule: _Rule) -> None:
        self._rule = rule

    def __call__(self, name: str, value: SupportsIndex) -> int:
        try:
            number = operator.index(value)
        except TypeError:
            raise ValueError(f"{name} must be a whole number; received {value!r}") from None
        if number < self._rule.low:
            raise ValueError(f"{name} {self._rule.allowed}; received {number}")
        return number


non_negative_int = _WholeNumber(_Rule("must be 0 or greater", low=0))
positive_int = _WholeNumber(_Rule("must be at least 1", low=1))


def threads(value: SupportsIndex | None) -> int:
    """Return the number of threads, by default one for each core; raise ValueError for too many.

    Examples
    --------
    >>> threads(2), threads(None) >= 1
    (2, True)
    """
    number = (os.cpu_count() or 1) if value is None else positive_int("threads", value)
    if number > _MOST_THREADS:
        raise ValueError(f"threads must be at most {_MOST_THREADS}; received {number}")
    return number


def labels(values: NDArray[Any], most: int | None = None) -> None:
    """Raise ValueError unless all `values` are whole numbers 0, 1, 2, ... (below `most`).

    Examples
    --------
    >>> labels(np.array([0, 2, 1]))
    """
    whole = values.dtype.kind in "iu"
    bad = values[(values < 0) | (values >= (np.inf if most is None else most))] if whole else values
    if bad.size:
        limit = "" if most is None else f" below {most}"
        raise ValueError(
            f"labels must be whole numbers 0, 1, 2, ...{limit}; received {bad.tolist()[:5]}: "
            "renumber them with numpy.unique(labels, return_inverse=True)[1]"
        )


def class_sizes(values: Sequence[int] | None, n_classes: int) -> NDArray[np.int64]:
    """Return the sizes as an array, or raise ValueError unless each class has a whole one >= 0.

    Examples
    --------
    >>> class_sizes([2, 0], 2).tolist()
    [2, 0]
    """
    sizes = np.asarray(values)
    if sizes.shape != (n_classes,) or sizes.dtype.kind not in "iu" or sizes.min() < 0:
        raise ValueError(
            f"class_sizes must hold one whole number >= 0 for each of the {n_classes} classes; "
            f"received {values!r}"
        )
    return sizes.astype(np.int64)
