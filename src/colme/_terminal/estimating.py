"""What `colme estimate` prints.

Lives here: its tables and sentences.  Must not know flags or how anything is computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from colme._terminal.console import out
from colme.data.comparing import Comparison
from colme.data.estimating import Estimates
from colme.data.estimating.story import rounding
from colme.data.finding import Finding, Member

if TYPE_CHECKING:
    from colme.data.replaying import Replay

__all__ = ["print_finding"]

_CLASSES, _DRIFTS, _NAMES = 20, 20, 20
"""So many classes, drifts and members are printed."""
_LONGEST = 40
"""Longer names are cut."""
_UNKNOWN = "unknown"
Show = Callable[[float], str]


def print_finding(finding: Finding, top: int, paths: Iterable[Path]) -> None:
    """Print what was read, what was found, and where it is kept."""
    reading, estimates = finding.reading, finding.estimates
    columns = {"agent": reading.agent, "value": reading.value, "time": reading.time}
    used = ", ".join(f"{flag} {name!r}" for flag, name in columns.items() if name is not None)
    _say(f"Read {reading.n_rows} rows of {len(estimates)} agents; columns: {used}.")
    for note in reading.notes:
        _say(f"{note[:1].upper()}{note[1:]}.", style="dim")
    for note in (estimates.noise.meaning, *estimates.notes):
        _say(note, style="dim")
    out.print()
    for line in finding.summary:
        _say(line)
    show = rounding(estimates)
    _print_classes(estimates, show)
    _print_agents(estimates, top, show)
    for member in finding.members:
        _print_member(member, len(estimates))
    if finding.replay is not None:
        _print_replay(finding.replay, show)
    if finding.comparison is not None:
        _print_comparison(finding.comparison, finding.notes)
    for path in paths:
        out.print(f"kept {path}", soft_wrap=True)


def _say(line: str, style: str | None = None) -> None:
    out.print(_printable(line), style=style)


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)


def _name(agent: Any) -> str:
    text = _printable(str(agent))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _table(title: str, names: Iterable[str], rows: Iterable[tuple[str, ...]]) -> None:
    """Print a table whose numbers never break, also if the terminal is narrow."""
    columns = list(zip(names, *rows, strict=True))
    if not columns or len(columns[0]) == 1:
        return
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    width = 4
    for k, (name, *cells) in enumerate(columns):
        least = max(len(word) for text in (name, *cells) for word in text.split() or [""])
        table.add_column(name, justify="right" if k else "left", min_width=least)
        width += least + 1
    for row in zip(*(cells for _, *cells in columns), strict=True):
        table.add_row(*map(Text, row))
    out.print(table, width=max(out.width, width), crop=False)


def _print_classes(estimates: Estimates, show: Show) -> None:
    classes = estimates.class_table
    largest = sorted(classes, key=lambda one: -one.size)[:_CLASSES]
    shown = [one for one in classes if one in largest]
    _table(
        "classes, from the lowest mean on",
        ("class", "agents", "rows", "mean", "low", "high", "also like others"),
        [
            (
                *map(str, (c.number, c.size, c.samples)),
                *map(show, (c.mean, c.low, c.high)),
                str(c.shared),
            )
            for c in shown
        ],
    )
    if len(shown) < len(classes):
        _say(f"These are the largest; there are {len(classes) - len(shown)} more.")
    _say(
        "The interval of a class holds only if the class is right: exactly the agents of one true "
        "mean.",
        style="dim",
    )


def _print_agents(estimates: Estimates, top: int, show: Show) -> None:
    order = np.argsort(-estimates.estimates, kind="stable")[:top]
    columns = {name: column[order].tolist() for name, column in estimates.columns.items()}
    _table(
        "agents, from the highest estimate on",
        ("agent", "n", "mean", "low", "high", "estimate", "class", "gain"),
        [
            (_name(row[0]), str(row[1]), *map(show, row[2:6]), str(row[6]), _gain(row[7]))
            for row in zip(
                *(
                    columns[name]
                    for name in ("agent", "n", "mean", "low", "high", "estimate", "class", "gain")
                ),
                strict=True,
            )
        ],
    )
    more = len(estimates) - len(order)
    if more:
        others = "is 1 more agent" if more == 1 else f"are {more} more agents"
        _say(f"There {others}: print all with --top N, keep all with --out FILE.")
    _say(
        "The interval of an agent, low to high, holds whatever its peers are, if what is said of "
        f"noise does, with probability {1 - estimates.delta:.6g}.  gain: how many times its own "
        "rows the estimate is worth.",
        style="dim",
    )


def _gain(gain: float) -> str:
    return f"{gain:.3g}" if math.isfinite(gain) else _UNKNOWN


def _print_member(member: Member, n_agents: int) -> None:
    others = member.alike[~np.isin(member.alike, member.members)]
    peers = member.members[member.members != member.agent]
    with_whom = _listed(peers) if len(peers) else "nobody else"
    out.print()
    _say(f"{_name(member.agent)} is in class {member.number} with {with_whom}.")
    if len(others):
        _say(f"Not told from it either, in other classes: {_listed(others)}.")
    elif len(member.members) < n_agents:
        _say("It is told from all agents of other classes.")


def _listed(agents: Any) -> str:
    shown = ", ".join(_name(agent) for agent in agents[:_NAMES].tolist())
    more = len(agents) - _NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def _print_replay(replay: Replay, show: Show) -> None:
    out.print()
    for line in replay.story:
        _say(line)
    _table(
        "agents whose mean changed",
        ("agent", "when", "before", "after"),
        [
            (_name(one.agent), str(one.when), show(one.before), show(one.after))
            for one in replay.drifts[:_DRIFTS]
        ],
    )
    if len(replay.drifts) > _DRIFTS:
        _say(f"There are {len(replay.drifts) - _DRIFTS} more.")


def _print_comparison(comparison: Comparison, notes: Iterable[str]) -> None:
    _table(
        f"errors on held-out rows of {comparison.n_agents} agents, {comparison.n_splits} splits",
        ("method", "error (rmse)", "mean square error, local = 1", "closer than local"),
        [
            (
                one.name,
                f"{one.rmse:.4g}",
                _ratio(one.ratio, one.ratio_low, one.ratio_high),
                f"{one.closer:.0%} of agents",
            )
            for one in comparison.scores
        ],
    )
    for note in _comparison_notes(comparison, notes):
        _say(f"{note}.", style="dim")
    _say(f"Verdict: {comparison.verdict}", style="bold")


def _ratio(ratio: float, low: float, high: float) -> str:
    if not all(map(math.isfinite, (ratio, low, high))):
        return _UNKNOWN
    return f"{ratio:.2f} ({low:.2f} to {high:.2f})"


def _comparison_notes(comparison: Comparison, notes: Iterable[str]) -> Iterator[str]:
    yield from notes
    if comparison.n_left_out:
        yield f"{comparison.n_left_out} agents have too few rows to be judged"
    yield from comparison.notes
