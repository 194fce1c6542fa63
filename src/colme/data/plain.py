"""Values as JSON takes them.

Lives here: what becomes of arrays, records and numbers that JSON does not know.  Must not know
what they mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def as_plain(value: Any) -> Any:
    """Return arrays and tuples as lists, records as mappings, None for numbers that are not finite.

    Examples
    --------
    >>> as_plain({"low": np.array([1.5, np.inf]), "names": ("a", "b")})
    {'low': [1.5, None], 'names': ['a', 'b']}
    """
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, np.ndarray):
        return as_plain(value.tolist())
    if isinstance(value, list | tuple):
        return [as_plain(entry) for entry in value]
    entries = value if isinstance(value, Mapping) else vars(value)
    return {key: as_plain(entry) for key, entry in entries.items()}
