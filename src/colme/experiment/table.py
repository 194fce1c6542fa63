"""What all tables of a file have in common: frozen, no unknown keys, faults in words.

Lives here: the base of every table, numbers that are one or one for each agent, and how faults are
told.  Must not know what any table means.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError

__all__ = ["Table", "explain"]

_TAGS = ("one", "each")


def _which(value: Any) -> str:
    return "each" if isinstance(value, list | tuple) else "one"


Positive = Annotated[float, Field(gt=0)]
Rate = Annotated[float, Field(ge=0)]
Sigmas = Annotated[
    Annotated[Positive, Tag("one")]
    | Annotated[tuple[Positive, ...], Field(min_length=1), Tag("each")],
    Discriminator(_which),
]
"""One number greater than 0, or one for each agent."""
Rates = Annotated[
    Annotated[Rate, Tag("one")] | Annotated[tuple[Rate, ...], Field(min_length=1), Tag("each")],
    Discriminator(_which),
]
"""One number, 0 or greater, or one for each agent."""


class Table(BaseModel):
    """A table of a file: it cannot be changed, and knows all of its keys.

    Examples
    --------
    >>> from colme.experiment import ChangeSpec
    >>> issubclass(ChangeSpec, Table)
    True
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def _given(self, *names: str) -> list[str]:
        """Return those of the keys that have a value other than none and false."""
        values = {name: getattr(self, name) for name in names}
        return [name for name, value in values.items() if value is not None and value is not False]


def explain(error: ValidationError) -> str:
    """Return every fault in one line: where, what is allowed, what was received.

    Examples
    --------
    >>> from colme.experiment import DriftSpec
    >>> try:
    ...     DriftSpec(window=0)
    ... except ValidationError as error:
    ...     explain(error)
    'window: Input should be greater than or equal to 2; received 0'
    """
    return "; ".join(_explain(fault) for fault in error.errors())


def _explain(fault: Any) -> str:
    where = ".".join(str(part) for part in fault["loc"] if part not in _TAGS)
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] in ("value_error", "missing"):
        return f"{where}: {message}" if where else message
    return f"{where}: {message}; received {fault['input']!r}"
