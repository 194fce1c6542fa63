"""Checks shared by every door: each names what was received, what is allowed and what to do.

Lives here: validation of single values.  Must not know agents, problems or files.
"""

from __future__ import annotations

import math
import operator
from typing import SupportsFloat, SupportsIndex

__all__ = ["finite", "non_negative", "positive", "positive_int", "risk"]


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
