"""Settings in files: immutable tables that know all of their keys and explain what is wrong.

Lives here: the base of every table, the types that several tables share, reading a file, and
errors in words.  Must not know what any table means.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, get_args

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError

_TAGS = ("one", "each")
"""These distinguish one value from one for each agent; a reader need not see them in an error."""


def _one_or_each(value: Any) -> str:
    return _TAGS[isinstance(value, list | tuple)]


Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
PositiveOrEach = Annotated[
    Annotated[Positive, Tag("one")]
    | Annotated[tuple[Positive, ...], Field(min_length=1), Tag("each")],
    Discriminator(_one_or_each),
]
"""One number greater than 0, or one for each agent."""
NonNegativeOrEach = Annotated[
    Annotated[NonNegative, Tag("one")]
    | Annotated[tuple[NonNegative, ...], Field(min_length=1), Tag("each")],
    Discriminator(_one_or_each),
]
"""One number, 0 or greater, or one for each agent."""


class Table(BaseModel):
    """A table of a file: immutable, without unknown keys.

    Examples
    --------
    >>> class Door(Table):
    ...     width: int
    >>> Door.make({"width": "wide"})
    Traceback (most recent call last):
    ValueError: width: Input should be a valid integer, unable to parse string as an integer; \
received 'wide'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    alternatives: ClassVar[tuple[str, ...]] = ()
    """Keys that exclude each other."""

    @classmethod
    def override(cls, table: Any, flags: Mapping[str, Any]) -> Any:
        """Return a table of a file, overridden by flags: a flag can only give a list of values.

        A flag that chooses another alternative than the file, or another kind, replaces the whole
        table.

        Examples
        --------
        >>> from colme.experiment import ArrivalsSpec
        >>> ArrivalsSpec.override({"rates": 0.5, "pattern": "poisson"}, {"batch": 10})
        {'batch': 10}
        >>> ArrivalsSpec.override({"rates": 0.5, "pattern": "poisson"}, {"rates": (2.0,)})
        {'rates': 2.0, 'pattern': 'poisson'}
        """
        if not flags or not isinstance(table, dict | None):
            return table  # the schema says what is wrong with it
        given, table = dict(flags), table or {}
        for key, value in flags.items():
            kinds = get_args(cls.model_fields[key].annotation)
            if not {PositiveOrEach, NonNegativeOrEach}.isdisjoint(kinds):
                given[key] = value[0] if len(value) == 1 else value
            elif kinds and isinstance(kinds[0], type) and issubclass(kinds[0], Table):
                keys = [field.alias or name for name, field in kinds[0].model_fields.items()]
                given[key] = [dict(zip(keys, row, strict=True)) for row in value]
        chosen, before = given.keys() & cls.alternatives, table.keys() & cls.alternatives
        kind = table.get("kind")
        is_other = (chosen and chosen != before) or given.get("kind", kind) != kind
        return given if is_other else table | given

    @classmethod
    def make(cls, content: dict[str, Any]) -> Self:
        """Return the table that nested plain values describe; report all errors at once."""
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            raise ValueError(explain(error)) from None


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return the content of a TOML file; raise ValueError if it cannot be read.

    Examples
    --------
    >>> read_toml("nowhere.toml")
    Traceback (most recent call last):
    ValueError: cannot read 'nowhere.toml': No such file or directory
    """
    try:
        with Path(path).open("rb") as stream:
            return tomllib.load(stream)
    except OSError as error:
        raise ValueError(f"cannot read {str(path)!r}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # wrong syntax, encoding, or nested too deeply
        raise ValueError(f"{path} is not a TOML file: {error}") from None


def explain(error: ValidationError) -> str:
    """Return all errors in one line: where, what is allowed, what was received.

    Examples
    --------
    >>> class Door(Table):
    ...     width: int
    >>> try:
    ...     Door()
    ... except ValidationError as error:
    ...     explain(error)
    'width: Field required'
    """
    return "; ".join(_explain(fault) for fault in error.errors())


def _explain(fault: Any) -> str:
    where = ".".join(str(part) for part in fault["loc"] if part not in _TAGS)
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] in ("value_error", "missing"):
        return f"{where}: {message}" if where else message
    return f"{where}: {message}; received {fault['input']!r}"
