"""Names of agents from arrays, lists and tables of pandas, polars or Arrow.

Lives here: what is a column, and names as text or as numbers.  Must not know values or estimates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Name: TypeAlias = str | int | float


def as_table(data: Any) -> Any:
    """Return a Series, an Arrow array or a list of names with one column; all else as it is.

    Examples
    --------
    >>> as_table(["north", "south"]).shape
    (2, 1)
    """
    if hasattr(data, "to_frame"):
        return data.to_frame()
    if hasattr(data, "to_pylist") and not hasattr(data, "schema"):
        return np.asarray(data).reshape(-1, 1)
    if isinstance(data, list | tuple) and len(data) and np.ndim(data[0]) == 0:
        return np.array(data, dtype=object).reshape(-1, 1)
    return data


def is_frame(table: Any) -> bool:
    """Return whether columns have types of their own: a table of pandas, polars or Arrow.

    Examples
    --------
    >>> is_frame(np.zeros((2, 1)))
    False
    """
    return any(hasattr(table, name) for name in ("iloc", "get_columns", "schema"))


def names_of(table: Any, position: int) -> NDArray[Any]:
    """Return a column as an array of text or of numbers; refuse names missing or of both kinds.

    Examples
    --------
    >>> names_of(np.array([["north", 1], ["south", 2]], dtype=object), 0)
    array(['north', 'south'], dtype='<U5')
    >>> names_of(np.array([["north", 1], ["south", 2]], dtype=object), 1)
    array([1, 2])
    """
    names = np.asarray(_column(table, position))
    if names.dtype.kind in "OT":
        names = _unboxed(names.astype(object))
    missing = ~np.isfinite(names) if names.dtype.kind in "fM" else np.zeros(0, np.bool_)
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(
            f"every row needs an agent, and none is named NaN or infinity; received {names[row]} "
            f"in row {row}: drop such rows first"
        )
    return names.astype("M8[us]").astype(str) if names.dtype.kind == "M" else names


def name_of(value: Any) -> Name:
    """Return one name as plain text or a plain number; refuse what is neither.

    Examples
    --------
    >>> name_of(np.int64(3)), name_of("north")
    (3, 'north')
    """
    name = value.item() if hasattr(value, "item") else value
    if isinstance(name, float) and not math.isfinite(name):
        raise ValueError(f"no agent is named NaN or infinity; received {name}: drop such rows")
    if not isinstance(name, str | int | float):
        raise ValueError(f"an agent is named by text or a number; received {name!r}")  # noqa: TRY004
    return name


def listed(column: Any) -> Iterable[Any]:
    """Return the entries of a column; those of Arrow as plain values.

    Examples
    --------
    >>> list(listed((1, 2)))
    [1, 2]
    """
    entries: Iterable[Any] = column.to_pylist() if hasattr(column, "to_pylist") else column
    return entries


def _column(table: Any, position: int) -> Any:
    if hasattr(table, "iloc"):
        return table.iloc[:, position]
    if hasattr(table, "get_columns"):
        return table.get_columns()[position]
    return table.column(position) if hasattr(table, "schema") else table[:, position]


def _unboxed(names: NDArray[Any]) -> NDArray[Any]:
    """Return objects as text if all are text, as numbers if none is."""
    plain = names.tolist()
    text = [isinstance(name, str) for name in plain]
    if all(text):
        return names.astype(str)
    if any(text):
        strange = plain[text.index(False)]
        raise ValueError(
            f"agents are named all by text or all by numbers; received {strange!r} among text: "
            "drop such rows, or turn all names into text"
        )
    try:
        numbers = np.array(plain)
        return numbers if numbers.dtype.kind in "iufb" else names.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"agents are named by text or by numbers; received {plain[0]!r}: turn names into text"
        ) from None
