"""What `colme fleet` and `colme watch` show: tables that live on a terminal, lines elsewhere.

Lives here: their tables, lines and sentences.  Must not know flags, networks or how anything is
computed.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

__all__ = [
    "fleet_table",
    "print_snapshots",
    "say_how_to_watch",
    "show_agents",
    "show_fleet",
    "showing",
]

_LINE_EVERY = 3.0
"""Seconds from one line to the next where there is no terminal."""
_AROUND = 7
"""Lines of a terminal that a table of agents leaves for all else."""

Show = Callable[[Callable[[int], RenderableType], Callable[[], str]], None]
"""Shows a table, made for a number of lines, or else a line."""


@contextmanager
def showing(console: Console) -> Iterator[Show]:
    """Give a way to show what changes: on a terminal in place, elsewhere as a line now and then."""
    if not console.is_terminal:
        yield _lines(console)
        return
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        yield lambda table, _: live.update(table(console.height), refresh=True)


def _lines(console: Console) -> Show:
    due = [time.monotonic()]

    def show(_: Callable[[int], RenderableType], line: Callable[[], str]) -> None:
        if time.monotonic() >= due[0]:
            due[0] = time.monotonic() + _LINE_EVERY
            console.print(line(), markup=False, highlight=False, soft_wrap=True)

    return show


def say_how_to_watch(console: Console, fleet: str, address: str, keys: Path | None) -> None:
    """Print with which command others can look at a fleet."""
    trusted = "" if keys is None else f" --keys {quote(str(keys))}"
    console.print(
        f"look at it elsewhere: colme watch --fleet {fleet} --connect {address}{trusted}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def print_snapshots(snapshots: Iterable[Mapping[str, Any]]) -> None:
    """Print each as a line of JSON, at once."""
    sys.stdout.writelines(json.dumps(snapshot) + "\n" for snapshot in snapshots)
    sys.stdout.flush()


def show_fleet(show: Show, report: Mapping[str, Any]) -> None:
    """Show how a fleet fares."""
    show(lambda _: fleet_table(report), lambda: _fleet_line(report))


def show_agents(
    show: Show, fleet: str, agents: Sequence[Mapping[str, Any]], where: str | None
) -> None:
    """Show what the agents of a fleet know.

    Each is a snapshot with an `age` in seconds and whether the agent `is_here`; `where` is what
    is not connected yet.
    """
    if agents:
        show(
            lambda height: _agents_table(fleet, agents, height),
            lambda: _agents_title(fleet, agents),
        )
    else:
        waiting = f"waiting for agents of {fleet}" + (f": nobody at {where}" if where else "")
        show(lambda _: Text(waiting), lambda: waiting)


def fleet_table(report: Mapping[str, Any]) -> RenderableType:
    """Return how a fleet fares against the truth: a row for each class, and sums below."""
    table = Table(title=_title(report), title_justify="left")
    names = ("class", "agents", "error", "alone", "identified", "class size", "likely")
    for name in names:
        table.add_column(name, justify="right")
    for row in report["classes"]:
        honest = row["agents"] - row["liars"]
        table.add_row(
            _number(row["true_mean"]),
            f"{honest}" + (f" + {row['liars']} lying" if row["liars"] else ""),
            _number(row["error"], ".4f"),
            _number(row["local_error"], ".4f"),
            _number(row["identified"], ".0%"),
            _number(row["class_size"]),
            _number(row["likely_size"]),
        )
    return Group(table, *(Text(line) for line in _sums(report)))


def _fleet_line(report: Mapping[str, Any]) -> str:
    """Return the same in one line."""
    rows = [row for row in report["classes"] if row["error"] is not None]
    n_heard = sum(row["heard"] for row in rows) or 1
    error = sum(row["error"] * row["heard"] for row in rows) / n_heard if rows else None
    alone = sum(row["local_error"] * row["heard"] for row in rows) / n_heard if rows else None
    return (
        f"{report['seconds']:.0f} s: {report['present']} of {report['agents']} agents, "
        f"{report['samples']} samples, error {_number(error, '.4f')} "
        f"(alone {_number(alone, '.4f')}), {report['messages_per_second']:.0f} messages/s"
    )


def _title(report: Mapping[str, Any]) -> str:
    return (
        f"{report['fleet']}: {report['present']} of {report['agents']} agents, "
        f"{len(report['alive'])} processes, {report['seconds']:.0f} s"
    )


def _sums(report: Mapping[str, Any]) -> Iterator[str]:
    messages, delay = report["messages"], report["delay"]
    yield (
        f"{report['samples']} samples, half of the agents {_number(report['steps'])} or more; "
        f"{messages.get('ticks', 0)} ticks, {messages.get('skipped', 0)} skipped"
    )
    yield (
        f"{report['messages_per_second']:.0f} messages per second; "
        f"{messages.get('asked', 0)} questions, {messages.get('unanswered', 0)} unanswered"
    )
    yield (
        f"answers after {_milliseconds(delay['p50'])}, 99 % within {_milliseconds(delay['p99'])}, "
        f"those of the slowest agent within {_milliseconds(delay['worst'])}"
    )
    yield f"refused: {_reasons(report['refused'])}"


def _agents_table(fleet: str, agents: Sequence[Mapping[str, Any]], height: int) -> RenderableType:
    """Return a row for each agent, as many as fit into so many lines."""
    table = Table(title=_agents_title(fleet, agents), title_justify="left")
    table.add_column("agent", no_wrap=True)
    names = ("samples", "alone", "estimate", "class", "likely", "known", "here", "age", "refused")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    fitting = max(1, height - _AROUND)
    for one in agents[:fitting]:
        table.add_row(*_agent_cells(one), style=None if one["is_here"] else "dim")
    left = len(agents) - fitting
    return Group(table, Text(f"and {left} more")) if left > 0 else table


def _agent_cells(one: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        one["agent"],
        str(one["count"]),
        _number(one["mean"], ".5g"),
        _number(one["estimate"], ".5g"),
        str(one["class_size"]),
        str(one["likely_size"]),
        str(one["known"]),
        str(one["present"]),
        f"{one['age']:.0f} s",
        str(sum(one["refused"].values())),
    )


def _agents_title(fleet: str, agents: Sequence[Mapping[str, Any]]) -> str:
    here = sum(one["is_here"] for one in agents)
    samples = sum(one["samples"] for one in agents)
    return f"{fleet}: {here} agents here, {len(agents)} seen, {samples} samples"


def _number(value: float | None, form: str = "g") -> str:
    return "-" if value is None else format(value, form)


def _milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1000 * seconds:.0f} ms"


def _reasons(refused: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(refused.items())) or "nothing"
