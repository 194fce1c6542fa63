"""Every bound by its name, and as plain values that can be written down.

Lives here: the list of bounds, and the way to JSON and back.  Must not know files or agents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from operator import attrgetter
from types import MappingProxyType
from typing import Any, cast

from colme.bounds.asymptotic import Asymptotic
from colme.bounds.base import Bound
from colme.bounds.bernstein import EmpiricalBernstein
from colme.bounds.betting import Betting
from colme.bounds.discounted import Discounted
from colme.bounds.mixture import Laplace, NormalMixture
from colme.bounds.restarted import Restarted
from colme.bounds.stitched import Stitched
from colme.bounds.student import Student
from colme.bounds.windowed import Windowed

_SIMPLE = (Asymptotic, Betting, EmpiricalBernstein, Laplace, NormalMixture, Stitched, Student)
_WRAPPERS = (Discounted, Restarted, Windowed)
KINDS: Mapping[str, Callable[..., Bound]] = MappingProxyType(
    {kind.__name__: kind for kind in sorted(_SIMPLE + _WRAPPERS, key=attrgetter("__name__"))}
)
"""Every bound by its name."""


def to_plain(bound: Bound) -> dict[str, Any]:
    """Return the bound's kind and fields, ready for JSON; a bound within is written the same way.

    Examples
    --------
    >>> to_plain(Laplace(sigma=0.5, gamma=0.05))
    {'kind': 'Laplace', 'sigma': 0.5, 'gamma': 0.05}
    """
    values = {field.name: getattr(bound, field.name) for field in fields(bound)}  # type: ignore[arg-type]
    return {"kind": type(bound).__name__} | {
        name: to_plain(cast("Bound", value)) if is_dataclass(value) else value
        for name, value in values.items()
    }


def from_plain(plain: Mapping[str, Any]) -> Bound:
    """Return the bound that `to_plain` wrote down.

    Examples
    --------
    >>> bound = Windowed(Laplace(sigma=0.5, gamma=0.05), length=100)
    >>> from_plain(to_plain(bound)) == bound
    True
    """
    if not isinstance(plain, Mapping) or plain.get("kind") not in KINDS:
        raise ValueError(f"a bound has a kind, one of {sorted(KINDS)}; received {plain!r}")
    values = {
        name: from_plain(value) if isinstance(value, Mapping) else value
        for name, value in plain.items()
        if name != "kind"
    }
    try:
        return KINDS[plain["kind"]](**values)
    except TypeError as error:
        raise ValueError(f"not the fields of a bound, {error}; received {plain!r}") from None
