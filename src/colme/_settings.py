"""Settings in files: tables that cannot be changed, have no unknown keys, and tell faults in words.

Lives here: the base of every table, how a file is read, and how faults are told.  Must not know
what any table means.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

__all__ = ["Table", "explain", "read_toml"]

_TAGS = ("one", "each")
"""What tells apart one value from one for each agent: no part of where a fault is."""


class Table(BaseModel):
    """A table of a file: it cannot be changed, and knows all of its keys.

    Examples
    --------
    >>> class Room(Table):
    ...     door: int
    >>> Room.make({"door": "open"})
    Traceback (most recent call last):
    ValueError: door: Input should be a valid integer, unable to parse string as an integer; \
received 'open'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def make(cls, content: dict[str, Any]) -> Self:
        """Return the table that nested plain values describe; report every fault at once."""
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            raise ValueError(explain(error)) from None

    def _given(self, *names: str) -> list[str]:
        """Return those of the keys that have a value other than none and false."""
        values = {name: getattr(self, name) for name in names}
        return [name for name, value in values.items() if value is not None and value is not False]


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return the content of a TOML file, or raise ValueError if it is none.

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
    except (ValueError, RecursionError) as error:  # of syntax, of encoding, of sizes beyond reason
        raise ValueError(f"{path} is not a TOML file: {error}") from None


def explain(error: ValidationError) -> str:
    """Return every fault in one line: where, what is allowed, what was received.

    Examples
    --------
    >>> class Room(Table):
    ...     door: int
    >>> try:
    ...     Room()
    ... except ValidationError as error:
    ...     explain(error)
    'door: Field required'
    """
    return "; ".join(_explain(fault) for fault in error.errors())


def _explain(fault: Any) -> str:
    where = ".".join(str(part) for part in fault["loc"] if part not in _TAGS)
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] in ("value_error", "missing"):
        return f"{where}: {message}" if where else message
    return f"{where}: {message}; received {fault['input']!r}"
