"""A grid: which keys take which values, and every combination of them.

Lives here: the tables [grid] and [[points]] of a file.  Must not know what any key means.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from itertools import product
from typing import Any

MOST_POINTS = 100_000
"""More points than this take over a minute to check."""


def combine(grid: Any, points: Any = None) -> list[dict[str, Any]]:
    """Return the values of each point by dotted names: the first key changes slowest.

    Points that are listed change slower than all keys of the grid.

    Parameters
    ----------
    grid
        A list of values for each key; tables inside tables are dotted names.
    points
        Tables that each give one value for the same keys.

    Examples
    --------
    >>> combine({"seed": [1, 2]}, [{"delta": 0.1, "eta": 0}, {"delta": 0.2, "eta": 1}])[1:3]
    [{'delta': 0.1, 'eta': 0, 'seed': 2}, {'delta': 0.2, 'eta': 1, 'seed': 1}]
    >>> combine({"seed": 1})
    Traceback (most recent call last):
    ValueError: grid: seed must be a list of values, each of them once; received 1
    """
    if not grid and points is None:
        raise ValueError(
            "a sweep needs a table [grid] that gives a list of values for some keys, or tables "
            "[[points]]; received neither: add one, or run it with colme simulate"
        )
    lists, listed = _read_grid({} if grid is None else grid), _read_points(points)
    twice = [key for key in lists if key in listed[0]]
    if twice:
        raise ValueError(f"a key stands in [grid] or in [[points]]; in both: {', '.join(twice)}")
    _check_apart([*listed[0], *lists])
    n_points = math.prod(map(len, lists.values())) * len(listed)
    if n_points > MOST_POINTS:
        raise ValueError(
            f"a sweep has at most {MOST_POINTS} points; received {n_points}: split it, or ask for "
            "more runs instead of more seeds"
        )
    return [
        given | dict(zip(lists, values, strict=True))
        for given in listed
        for values in product(*lists.values())
    ]


def replace_keys(content: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content with some keys, named with dots, replaced or added.

    Examples
    --------
    >>> replace_keys({"problem": {"sigma": 1, "bias": 0}}, {"problem.sigma": 2, "seed": 3})
    {'problem': {'sigma': 2, 'bias': 0}, 'seed': 3}
    """
    result = dict(content)
    for key, value in values.items():
        head, _, rest = key.partition(".")
        inside = result.get(head, {})
        if rest and not isinstance(inside, dict):
            raise ValueError(
                f"{head} is a value and no table with a key {rest}; received {inside!r}"
            )
        result[head] = replace_keys(inside, {rest: value}) if rest else value
    return result


def _read_grid(grid: Any) -> dict[str, list[Any]]:
    lists = _flat("grid", grid)
    faults = [
        f"grid: {key} must be a list of values, each of them once; received {values!r}"
        for key, values in lists.items()
        if not isinstance(values, list) or not values or _repeats(values)
    ]
    if faults:
        raise ValueError("; ".join(faults))
    return lists


def _read_points(points: Any) -> list[dict[str, Any]]:
    if points is None:
        return [{}]
    if not isinstance(points, list) or not points:
        raise ValueError(f"points must be tables [[points]]; received {points!r}")
    tables = [_flat(f"points.{place}", table) for place, table in enumerate(points)]
    faults = [
        f"points.{place}: every table must give the same keys, {', '.join(tables[0])}; "
        f"received {', '.join(table) or 'none'}"
        for place, table in enumerate(tables)
        if not table or table.keys() != tables[0].keys()
    ]
    if faults or _repeats(tables):
        raise ValueError("; ".join(faults) or "points: two tables are the same: drop one")
    return [{key: table[key] for key in tables[0]} for table in tables]


def _check_apart(keys: list[str]) -> None:
    """Raise ValueError if a key is part of another one: each would replace what the other says."""
    within = [f"{key} in {table}" for table in keys for key in keys if key.startswith(f"{table}.")]
    if within:
        raise ValueError(
            f"no key of a sweep may lie within another; received {', '.join(within)}: write the "
            "value into the tables, or give the keys of the tables one by one"
        )


def _flat(where: str, table: Any, prefix: str = "") -> dict[str, Any]:
    """Return a table by dotted names; tables inside it are dotted names too."""
    if not isinstance(table, Mapping):
        raise ValueError(  # noqa: TRY004 - an error in the file
            f"{where} must be a table; received {table!r}"
        )
    flat: dict[str, Any] = {}
    for key, value in table.items():
        inside = isinstance(value, Mapping)
        found = _flat(where, value, f"{prefix}{key}.") if inside else {f"{prefix}{key}": value}
        twice = [name for name in found if name in flat]
        if twice:
            raise ValueError(f"{where}: {', '.join(twice)} is given twice: drop one")
        flat |= found
    return flat


def _repeats(values: list[Any]) -> bool:
    words = [json.dumps(value, sort_keys=True, default=str) for value in values]
    return len(set(words)) < len(words)
