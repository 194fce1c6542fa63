"""Bounds around a bound: for streams whose mean may change.

Lives here: what all such bounds hand on to the one within.  Must not know how change is met.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self, cast

from colme import _check
from colme.bounds.protocol import Bound
from colme.bounds.running import Recipe

__all__ = ["Wrapper", "checked_revisit", "checked_within"]


def checked_within(bound: Any) -> Bound:
    """Return the bound to be wrapped, or raise ValueError unless it is one for a constant mean.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> checked_within(Laplace(0.5, 0.05))
    Laplace(sigma=0.5, gamma=0.05)
    """
    if not hasattr(bound, "at_risk") or isinstance(bound, Wrapper):
        raise ValueError(
            "bound must be one from colme.bounds for a mean that does not change; "
            f"received {bound!r}: wrap a bound once"
        )
    return cast("Bound", bound)


def checked_revisit(value: Any) -> int:
    """Return a whole number >= 0, or raise ValueError.

    Examples
    --------
    >>> checked_revisit(10)
    10
    """
    return 0 if value == 0 else _check.positive_int("revisit", value)


class Wrapper(Recipe):
    """A bound for a mean that may change, around one for a mean that does not.

    Examples
    --------
    >>> from colme.bounds import Laplace, Windowed
    >>> bound = Windowed(Laplace(sigma=0.5, gamma=0.05), length=100)
    >>> bound.gamma, bound.scale, bound.at_risk(0.01).bound
    (0.05, 0.5, Laplace(sigma=0.5, gamma=0.01))
    """

    bound: Bound

    @property
    def gamma(self) -> float:  # type: ignore[override]
        """The risk of the bound within."""
        return self.bound.gamma

    @property
    def scale(self) -> float:
        """The scale of the bound within."""
        return self.bound.scale

    def at_risk(self, gamma: float) -> Self:
        """Return the same bound at another risk."""
        changed: Self = replace(cast("Any", self), bound=self.bound.at_risk(gamma))
        return changed
