"""One point for a process to measure, and how it can fail.

Lives here: the task that is sent, and the errors that come back.  Must not know what measures it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

MOST_DEATHS = 3
"""After this many processes ended, the point is the cause, not the machine."""


class Task(NamedTuple):
    """One point: its number and its experiment as plain values.

    Examples
    --------
    >>> Task(7, {"seed": 1}).number
    7
    """

    number: int
    content: dict[str, Any]


class PointError(ValueError):
    """A point that cannot be measured.

    Examples
    --------
    >>> PointError(7, "not enough memory").number
    7
    """

    def __init__(self, number: int, why: str) -> None:
        super().__init__(why)
        self.number = number


def explain_failure(error: BaseException) -> str:
    """Return why a point failed, in words.

    Examples
    --------
    >>> explain_failure(KeyError("size"))
    "KeyError: 'size'"
    >>> explain_failure(MemoryError())
    'not enough memory: ask for fewer agents, runs or steps, or for fewer workers'
    """
    if isinstance(error, MemoryError):
        return "not enough memory: ask for fewer agents, runs or steps, or for fewer workers"
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


def explain_deaths(n_deaths: int, how: str = "") -> str:
    """Return why no more processes are started for a point.

    Examples
    --------
    >>> explain_deaths(3, "by signal 9")
    'it ended 3 processes that measured it, by signal 9: most likely the memory does not suffice; \
ask for fewer agents, runs or steps, or for fewer workers'
    >>> explain_deaths(3, "with code 1: no module named numpy")
    'it ended 3 processes that measured it, with code 1: no module named numpy'
    """
    deaths = f"it ended {n_deaths} processes that measured it{', ' if how else ''}{how}"
    if how.startswith("with code"):
        return deaths
    return (
        f"{deaths}: most likely the memory does not suffice; ask for fewer agents, runs or steps, "
        "or for fewer workers"
    )
