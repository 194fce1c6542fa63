"""Checks shared by every door: each names what was received, what is allowed and what to do.

Lives here: validation of single values.  Must not know agents, problems or files.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Sequence
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "LARGEST_SAMPLE",
    "class_sizes",
    "finite",
    "labels",
    "non_negative",
    "non_negative_int",
    "positive",
    "positive_int",
    "risk",
    "sample",
    "scale",
    "share",
    "threads",
]

LARGEST_SAMPLE = 1e150
"""Numbers beyond this overflow when they are weighed and summed."""

_MOST_THREADS = 1024


def finite(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float, or raise ValueError if it is NaN or infinite.

    Examples
    --------
    >>> finite("sample", 0.5)
    0.5
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a finite number; received {value!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number; received {number}")
    return number


def sample(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float, or raise ValueError if arithmetic with it could overflow.

    Examples
    --------
    >>> sample("sample", 20.5)
    20.5
    """
    number = finite(name, value)
    if abs(number) > LARGEST_SAMPLE:
        raise ValueError(f"{name} must be at most {LARGEST_SAMPLE:g} in size; received {number:g}")
    return number


def positive(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float, or raise ValueError unless 0 < value < inf.

    Examples
    --------
    >>> positive("sigma", 2)
    2.0
    """
    number = finite(name, value)
    if number <= 0:
        raise ValueError(f"{name} must be greater than 0; received {number:g}")
    return number


def scale(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float, or raise ValueError unless samples can scatter that much.

    Examples
    --------
    >>> scale("sigma", 0.5)
    0.5
    """
    return sample(name, positive(name, value))


def non_negative(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float, or raise ValueError unless 0 <= value < inf.

    Examples
    --------
    >>> non_negative("eta", 0)
    0.0
    """
    number = finite(name, value)
    if number < 0:
        raise ValueError(f"{name} must be 0 or greater; received {number:g}")
    return number


def risk(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float, or raise ValueError unless 0 < value < 1.

    Examples
    --------
    >>> risk("delta", 0.001)
    0.001
    """
    number = finite(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name} is a probability of failure in (0, 1); received {number:g}")
    return number


def share(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float, or raise ValueError unless 0 <= value <= 1.

    Examples
    --------
    >>> share("late", 0.25)
    0.25
    """
    number = finite(name, value)
    if not 0 <= number <= 1:
        raise ValueError(f"{name} is a share in [0, 1]; received {number:g}")
    return number


def non_negative_int(name: str, value: SupportsIndex) -> int:
    """Return `value` as an int, or raise ValueError unless it is a whole number >= 0.

    Examples
    --------
    >>> non_negative_int("healing", 0)
    0
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number; received {value!r}") from None
    if number < 0:
        raise ValueError(f"{name} must be 0 or greater; received {number}")
    return number


def positive_int(name: str, value: SupportsIndex) -> int:
    """Return `value` as an int, or raise ValueError unless it is a whole number >= 1.

    Examples
    --------
    >>> positive_int("horizon", 2500)
    2500
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number; received {value!r}") from None
    if number < 1:
        raise ValueError(f"{name} must be at least 1; received {number}")
    return number


def threads(value: SupportsIndex | None) -> int:
    """Return how many threads work, by default one for each core; raise ValueError for too many.

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
