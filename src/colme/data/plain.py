"""Values as JSON takes them.

Lives here: what becomes of numbers that JSON does not know.  Must not know what they mean.
"""

from __future__ import annotations

import math
from typing import Any


def finite_or_none(value: Any) -> Any:
    """Return a value as it is, None for a number that is not finite; of lists, each entry.

    Examples
    --------
    >>> finite_or_none([1.5, float("inf"), ["a", float("nan")]])
    [1.5, None, ['a', None]]
    """
    if isinstance(value, list):
        return [finite_or_none(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
