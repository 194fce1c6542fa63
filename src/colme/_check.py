"""Checks of single values: an error names the value received and what is allowed.

Lives here: validation of numbers, labels and sizes.  Must not know agents, problems or files.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

LARGEST_SAMPLE = 1e150
"""Numbers beyond this overflow when they are weighted and summed."""

_MOST_THREADS = 1024


class _Rule(NamedTuple):
    """What a number must satisfy: low <= number <= high, or low < number < high if `is_open`."""

    allowed: str
    low: float = -math.inf
    high: float = math.inf
    is_open: bool = False


def _number(rules: tuple[_Rule, ...], name: str, value: SupportsFloat) -> float:
    """Return an argument as a float; raise ValueError if it is not finite or breaks a rule.

    Examples
    --------
    >>> positive("sigma", 2), share("late", 0.25), scale("sigma", 0.5)
    (2.0, 0.25, 0.5)
    >>> risk("delta", 1)
    Traceback (most recent call last):
    ValueError: delta is a probability of failure in (0, 1); received 1
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a finite number; received {value!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number; received {number}")
    for allowed, low, high, is_open in rules:
        if not low <= number <= high or (is_open and number in (low, high)):
            raise ValueError(f"{name} {allowed}; received {number:g}")
    return number


def _whole_number(low: int, allowed: str, name: str, value: SupportsIndex) -> int:
    """Return an argument as an int; raise ValueError if it is not whole, or below `low`.

    Examples
    --------
    >>> positive_int("horizon", 2500), non_negative_int("healing", 0)
    (2500, 0)
    >>> positive_int("horizon", 0)
    Traceback (most recent call last):
    ValueError: horizon must be at least 1; received 0
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number; received {value!r}") from None
    if number < low:
        raise ValueError(f"{name} {allowed}; received {number}")
    return number


_POSITIVE = _Rule("must be greater than 0", low=0, is_open=True)
_SAMPLE = _Rule(
    f"must be at most {LARGEST_SAMPLE:g} in size", low=-LARGEST_SAMPLE, high=LARGEST_SAMPLE
)
_RISK = _Rule("is a probability of failure in (0, 1)", low=0, high=1, is_open=True)

# Each is called with the name and the value of an argument.
finite = partial(_number, ())
positive = partial(_number, (_POSITIVE,))
non_negative = partial(_number, (_Rule("must be 0 or greater", low=0),))
sample = partial(_number, (_SAMPLE,))
scale = partial(_number, (_POSITIVE, _SAMPLE))
risk = partial(_number, (_RISK,))
share = partial(_number, (_Rule("is a share in [0, 1]", low=0, high=1),))
non_negative_int = partial(_whole_number, 0, "must be 0 or greater")
positive_int = partial(_whole_number, 1, "must be at least 1")


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


def labels(values: ArrayLike, n_agents: int, most: float = math.inf) -> NDArray[Any]:
    """Return the labels as an array; raise ValueError unless each agent has one of 0, 1, 2, ...

    Labels are below `most`.

    Examples
    --------
    >>> labels([0, 2, 1], 3).tolist()
    [0, 2, 1]
    """
    array = np.asarray(values)
    if array.shape != (n_agents,):
        raise ValueError(
            f"labels must hold one label for each of the {n_agents} agents; "
            f"received shape {array.shape}"
        )
    bad = array[(array < 0) | (array >= most)] if array.dtype.kind in "iu" else array
    if bad.size:
        limit = "" if most == math.inf else f" below {most}"
        raise ValueError(
            f"labels must be whole numbers 0, 1, 2, ...{limit}; received {bad.tolist()[:5]}: "
            "renumber them with numpy.unique(labels, return_inverse=True)[1]"
        )
    return array


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
