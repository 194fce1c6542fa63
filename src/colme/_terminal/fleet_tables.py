"""What `colme fleet` and `colme watch` show: tables that change on a terminal, lines elsewhere.

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

_LINE_EVERY = 3.0
"""Seconds from one line to the next where there is no terminal."""
_AROUND = 7
"""Lines of a terminal that a table of agents leaves free."""

Show = Callable[[Callable[[int], RenderableType], Callable[[], str]], None]
"""Shows a table, made to fit a number of lines, or else one line."""


@contextmanager
def showing(console: Console) -> Iterator[Show]:
    """Give a function that shows changes: on a terminal in place, elsewhere a line now and then."""
    due = time.monotonic()

    def show_line(_: Callable[[int], RenderableType], line: Callable[[], str]) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + _LINE_EVERY
            _print_line(console, line())

    if not console.is_terminal:
        yield show_line
        return
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        yield lambda table, _: live.update(table(console.height), refresh=True)


def print_watch_command(console: Console, fleet: str, address: str, keys: Path | None) -> None:
    """Print the command that watches a fleet from elsewhere."""
    with_keys = "" if keys is None else f" --keys {quote(str(keys))}"
    command = f"colme watch --fleet {fleet} --connect {address}{with_keys}"
    _print_line(console, f"watch it from elsewhere: {command}")


def _print_line(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def print_snapshots(snapshots: Iterable[Mapping[str, Any]]) -> None:
    """Print each as a line of JSON, at once."""
    sys.stdout.writelines(json.dumps(snapshot) + "\n" for snapshot in snapshots)
    sys.stdout.flush()


def show_fleet(show: Show, report: Mapping[str, Any]) -> None:
    """Show how well a fleet learns."""
    show(lambda _: fleet_table(report), lambda: _fleet_line(report))


def show_agents(
    show: Show, fleet: str, agents: Sequence[Mapping[str, Any]], where: str | None
) -> None:
    """Show what the agents of a fleet know.

    Each is a snapshot with an `age` in seconds and whether the agent `is_here`; `where` is the
    address that does not answer yet.
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
    """Return how well a fleet learns: a row for each class, and totals below."""
    title = (
        f"{report['fleet']}: {report['present']} of {report['agents']} agents, "
        f"{len(report['alive'])} processes, {report['seconds']:.0f} s"
    )
    table = _table(title, [_class_cells(row) for row in report["classes"]])
    return Group(table, *(Text(line) for line in _totals(report)))


def _table(title: str, rows: Sequence[Mapping[str, str]]) -> Table:
    """Return a table of rows that have the same columns, the name of an agent on the left."""
    table = Table(title=title, title_justify="left")
    for name in rows[0]:
        table.add_column(name, justify="left" if name == "agent" else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row.values())
    return table


def _class_cells(row: Mapping[str, Any]) -> dict[str, str]:
    liars = f" + {row['liars']} lying" if row["liars"] else ""
    return {
        "class": _number(row["true_mean"]),
        "agents": f"{row['agents'] - row['liars']}{liars}",
        "error": _number(row["error"], ".4f"),
        "alone": _number(row["local_error"], ".4f"),
        "identified": _number(row["identified"], ".0%"),
        "class size": _number(row["class_size"]),
        "likely": _number(row["likely_size"]),
    }


def _fleet_line(report: Mapping[str, Any]) -> str:
    """Return the most important figures in one line."""
    rows = [row for row in report["classes"] if row["error"] is not None]
    n_heard = sum(row["heard"] for row in rows) or 1
    error, alone = (
        sum(row[word] * row["heard"] for row in rows) / n_heard if rows else None
        for word in ("error", "local_error")
    )
    return (
        f"{report['seconds']:.0f} s: {report['present']} of {report['agents']} agents, "
        f"{report['samples']} samples, error {_number(error, '.4f')} "
        f"(alone {_number(alone, '.4f')}), {report['messages_per_second']:.0f} messages/s"
    )


def _totals(report: Mapping[str, Any]) -> Iterator[str]:
    messages, delay = report["messages"], report["delay"]
    yield (
        f"{report['samples']} samples, {_number(report['steps'])} of the median agent; "
        f"{messages.get('ticks', 0)} ticks, {messages.get('skipped', 0)} skipped"
    )
    yield (
        f"{report['messages_per_second']:.0f} messages per second; "
        f"{messages.get('asked', 0)} queries, {messages.get('unanswered', 0)} unanswered"
    )
    yield (
        f"replies after {_milliseconds(delay['p50'])}, 99 % within {_milliseconds(delay['p99'])}, "
        f"those of the slowest agent within {_milliseconds(delay['worst'])}"
    )
    yield f"refused: {_reasons(report['refused'])}"


def _agents_table(fleet: str, agents: Sequence[Mapping[str, Any]], height: int) -> RenderableType:
    """Return a row for each agent, as many as fit into `height` lines."""
    fitting = agents[: max(1, height - _AROUND)]
    table = _table(_agents_title(fleet, agents), [_agent_cells(one) for one in fitting])
    for row, one in zip(table.rows, fitting, strict=True):
        row.style = None if one["is_here"] else "dim"
    left = len(agents) - len(fitting)
    return Group(table, Text(f"and {left} more")) if left else table


def _agent_cells(one: Mapping[str, Any]) -> dict[str, str]:
    return {
        "agent": one["agent"],
        "samples": str(one["count"]),
        "alone": _number(one["mean"], ".5g"),
        "estimate": _number(one["estimate"], ".5g"),
        "class": str(one["class_size"]),
        "likely": str(one["likely_size"]),
        "known": str(one["known"]),
        "here": str(one["present"]),
        "age": f"{one['age']:.0f} s",
        "refused": str(sum(one["refused"].values())),
    }


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
