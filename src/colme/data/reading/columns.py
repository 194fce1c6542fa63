"""Which columns hold agents, values and times: as asked for, or guessed if there is no doubt.

Lives here: kinds of columns, the choice among them and its messages.  Must not know files, rows or
the database.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

__all__ = ["AGENT_NAMES", "VALUE_NAMES", "Columns", "choose", "find_column", "kind_of"]

AGENT_NAMES = frozenset(
    (
        "agent",
        "agents",
        "agent_id",
        "id",
        "group",
        "user",
        "user_id",
        "sensor",
        "sensor_id",
        "device",
        "device_id",
        "store",
        "store_id",
        "subject",
        "client",
        "client_id",
        "customer",
        "site",
        "station",
        "machine",
        "patient",
        "name",
    )
)
"""Names of columns that say whose row it is."""
VALUE_NAMES = frozenset(
    (
        "value",
        "values",
        "y",
        "x",
        "measurement",
        "reading",
        "sample",
        "observation",
        "amount",
        "score",
        "outcome",
        "response",
        "result",
    )
)
"""Names of columns that say what was measured."""
INTEGERS = ("INTEGER", "UINTEGER")
KINDS = {
    "whole numbers": tuple(
        f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")
    )
    + INTEGERS,
    "numbers": ("FLOAT", "DOUBLE", "DECIMAL", "REAL"),
    "true or false": ("BOOLEAN",),
    "times": ("DATE", "TIMESTAMP"),
    "text": ("VARCHAR", "ENUM", "UUID", "JSON"),
}
NUMERIC = ("whole numbers", "numbers", "true or false")


@dataclass(frozen=True)
class Columns:
    """The columns used, and which of them were guessed.

    Examples
    --------
    >>> Columns("store", "sales", None, guessed=("value",)).agent
    'store'
    """

    agent: str
    value: str
    time: str | None
    guessed: tuple[str, ...] = ()


def kind_of(type_name: str) -> str:
    """Return in words what a column of the database's type holds.

    Examples
    --------
    >>> kind_of("DECIMAL(18,3)"), kind_of("TIMESTAMP WITH TIME ZONE"), kind_of("BIGINT[]")
    ('numbers', 'times', 'bigint[]')
    """
    plain = re.split(r"[( _]", type_name)[0]
    nested = type_name.endswith("]") or type_name.startswith(("STRUCT", "MAP", "UNION"))
    for kind, names in KINDS.items():
        if plain in names and not nested:
            return kind
    return type_name.lower()


def find_column(name: str, kinds: Mapping[str, str], flag: str, file: str) -> str:
    """Return the column of that name, capitals or not, or say which there are.

    Examples
    --------
    >>> find_column("store", {"Store": "text", "sales": "numbers"}, "agent", "a.csv")
    'Store'
    """
    if name in kinds:
        return name
    alike = [column for column in kinds if column.casefold() == name.casefold()]
    if len(alike) == 1:
        return alike[0]
    near = get_close_matches(name.casefold(), [column.casefold() for column in kinds], 1)
    meant = [column for column in kinds if near and column.casefold() == near[0]]
    hint = f"did you mean {meant[0]!r}? " if meant else ""
    raise ValueError(
        f"{file} has no column {name!r}; {hint}it has {_described(kinds)}: give one of them with "
        f"--{flag} COL"
    )


def choose(
    kinds: Mapping[str, str], agent: str | None, value: str | None, time: str | None, file: str
) -> Columns:
    """Return the columns to use.

    Parameters
    ----------
    kinds
        What each column of the table holds, in words.
    agent, value, time
        Names asked for; without, agent and value are guessed if only one column can be meant.
    file
        For messages.

    Examples
    --------
    >>> choose({"store": "text", "sales": "numbers"}, None, None, None, "a.csv")
    Columns(agent='store', value='sales', time=None, guessed=('agent', 'value'))
    """
    given = {"agent": agent, "value": value, "time": time}
    asked = {flag: find_column(name, kinds, flag, file) for flag, name in given.items() if name}
    if len(set(asked.values())) < len(asked):
        raise ValueError(f"agent, value and time must be different columns; received {asked}")
    guessed = tuple(flag for flag in ("agent", "value") if flag not in asked)
    used = _guessed(kinds, asked, guessed, file)
    columns = Columns(used["agent"], used["value"], used.get("time"), guessed)
    _check_kinds(columns, kinds, file)
    return columns


def _guessed(
    kinds: Mapping[str, str], asked: Mapping[str, str], missing: tuple[str, ...], file: str
) -> dict[str, str]:
    """Return the columns asked for and those guessed: first by name, then by kind."""
    used = dict(asked)
    if missing:
        _check_header(kinds, file)
    for guess in (_by_name, _by_kind):
        for flag in missing:
            found = None if flag in used else guess(flag, kinds, used)
            if found is not None:
                used[flag] = found
    for flag in missing:
        if flag not in used:
            raise ValueError(
                f"{file}: which column is the {flag}? It has {_described(kinds)}: say so with "
                f"--{flag} COL"
            )
    return used


def _by_name(flag: str, kinds: Mapping[str, str], used: Mapping[str, str]) -> str | None:
    names = AGENT_NAMES if flag == "agent" else VALUE_NAMES
    fitting = [
        name for name in kinds if name.strip().casefold() in names and name not in used.values()
    ]
    return fitting[0] if len(fitting) == 1 else None


def _by_kind(flag: str, kinds: Mapping[str, str], used: Mapping[str, str]) -> str | None:
    free = {name: kind for name, kind in kinds.items() if name not in used.values()}
    texts = [name for name, kind in free.items() if kind == "text"]
    wholes = [name for name, kind in free.items() if kind == "whole numbers"]
    numeric = [name for name, kind in free.items() if kind in NUMERIC]
    fitting = numeric if flag == "value" else texts or wholes
    if flag == "agent" and not texts and "value" not in used and len(numeric) < 2:
        return None
    return fitting[0] if len(fitting) == 1 else None


def _check_header(kinds: Mapping[str, str], file: str) -> None:
    """Raise ValueError if a name is a number: then the first line is a row, not a header."""
    for name in kinds:
        try:
            float(name)
        except ValueError:
            continue
        raise ValueError(
            f"{file} seems to have no header: its first line names a column {name!r}; put names "
            "of columns there, or give --agent COL and --value COL"
        )


def _check_kinds(columns: Columns, kinds: Mapping[str, str], file: str) -> None:
    allowed = {
        "agent": ("text", "times", *NUMERIC),
        "value": ("text", *NUMERIC),
        "time": ("text", "times", "whole numbers", "numbers"),
    }
    for flag, fitting in allowed.items():
        name = getattr(columns, flag)
        if name is not None and kinds[name] not in fitting:
            raise ValueError(
                f"{file}: column {name!r} holds {kinds[name]}, which cannot be the {flag}; allowed "
                f"are {', '.join(fitting)}: choose another with --{flag} COL"
            )


def _described(kinds: Mapping[str, str]) -> str:
    shown = [f"{name!r} ({kind})" for name, kind in list(kinds.items())[:20]]
    more = len(kinds) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
