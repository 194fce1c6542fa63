"""Which columns hold agents, values and times: as given, or guessed if there is no doubt.

Lives here: kinds of columns, the choice among them and its messages.  Must not know files, rows or
the database.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import NamedTuple

_USUAL_NAMES = {
    "agent": "agent agents agent_id id group user user_id sensor sensor_id device device_id store "
    "store_id subject client client_id customer site station machine patient name",
    "value": "value values y x measurement reading sample observation amount score outcome "
    "response result",
}
"""Names of columns that say whose row it is, and what was measured."""
_KINDS = {
    "whole numbers": "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT "
    "UHUGEINT",
    "numbers": "FLOAT DOUBLE DECIMAL REAL",
    "true or false": "BOOLEAN",
    "times": "DATE TIMESTAMP",
    "text": "VARCHAR ENUM UUID JSON",
}
KIND_OF_TYPE = {name: kind for kind, names in _KINDS.items() for name in names.split(" ")}
"""What a column holds, in words, by the database's name of its type."""
_NUMERIC = ("whole numbers", "numbers", "true or false")
_ALLOWED = {
    "agent": ("text", "times", *_NUMERIC),
    "value": ("text", *_NUMERIC),
    "time": ("text", "times", "whole numbers", "numbers"),
}


class Columns(NamedTuple):
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


def choose_columns(
    kinds: Mapping[str, str], agent: str | None, value: str | None, time: str | None, file: str
) -> Columns:
    """Return the columns to use.

    Parameters
    ----------
    kinds
        What each column of the table holds, in words.
    agent, value, time
        Names given; without, agent and value are guessed if only one column can be meant.
    file
        For messages.

    Examples
    --------
    >>> choose_columns({"store": "text", "sales": "numbers"}, None, None, None, "a.csv")
    Columns(agent='store', value='sales', time=None, guessed=('agent', 'value'))
    """
    given = {"agent": agent, "value": value, "time": time}
    used = {flag: find_column(name, kinds, flag, file) for flag, name in given.items() if name}
    if len(set(used.values())) < len(used):
        raise ValueError(f"agent, value and time must be different columns; received {used}")
    guessed = tuple(flag for flag in ("agent", "value") if flag not in used)
    if guessed:
        _guess(kinds, guessed, used, file)
    for flag, name in used.items():
        if kinds[name] not in _ALLOWED[flag]:
            raise ValueError(
                f"{file}: column {name!r} holds {kinds[name]}, which cannot be the {flag}; allowed "
                f"are {', '.join(_ALLOWED[flag])}: choose another with --{flag} COL"
            )
    return Columns(used["agent"], used["value"], used.get("time"), guessed)


def _guess(
    kinds: Mapping[str, str], missing: tuple[str, ...], used: dict[str, str], file: str
) -> None:
    """Write the columns that are guessed: first by name, then by kind."""
    for name in kinds:
        try:
            float(name)
        except ValueError:
            continue
        raise ValueError(
            f"{file} seems to have no header: its first line names a column {name!r}; put names of "
            "columns there, or give --agent COL and --value COL"
        )
    for flag in missing:
        usual, free = _USUAL_NAMES[flag].split(), [n for n in kinds if n not in used.values()]
        fitting = [name for name in free if name.strip().casefold() in usual]
        if len(fitting) == 1:
            used[flag] = fitting[0]
    for flag in (flag for flag in missing if flag not in used):
        free_kinds = {name: kind for name, kind in kinds.items() if name not in used.values()}
        fitting = [name for name, kind in free_kinds.items() if kind in _NUMERIC]
        if flag == "agent":
            texts = [name for name, kind in free_kinds.items() if kind == "text"]
            wholes = [name for name, kind in free_kinds.items() if kind == "whole numbers"]
            # The only column of numbers is the value's.
            sole = not texts and "value" not in used and len(fitting) < 2
            fitting = [] if sole else texts or wholes
        if len(fitting) != 1:
            raise ValueError(
                f"{file}: which column is the {flag}? It has {_described(kinds)}: say so with "
                f"--{flag} COL"
            )
        used[flag] = fitting[0]


def _described(kinds: Mapping[str, str]) -> str:
    shown = [f"{name!r} ({kind})" for name, kind in list(kinds.items())[:20]]
    more = len(kinds) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
