"""What `colme estimate` prints.

Lives here: its tables and sentences.  Must not know flags or how anything is computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from colme._terminal.console import out
from colme.data.estimator import Estimates
from colme.data.estimator.story import rounding, short_name, story
from colme.data.result import EstimateResult, Member

if TYPE_CHECKING:
    from colme.data.comparison import Comparison
    from colme.data.evolution import Replay


_MAX_CLASSES, _MAX_DRIFTS, _MAX_NAMES = 20, 20, 20
"""At most this many classes, drifts and members are printed."""
Show = Callable[[float], str]


def print_result(result: EstimateResult, top: int, paths: Iterable[Path]) -> None:
    """Print what was read, what was found, and where it is kept."""
    reading, estimates, show = result.reading, result.estimates, rounding(result.estimates)
    columns = {"agent": reading.agent, "value": reading.value, "time": reading.time}
    used = ", ".join([f"{flag} {name!r}" for flag, name in columns.items() if name is not None])
    out.print(f"Read {reading.n_rows} rows of {len(estimates)} agents; columns: {used}.")
    notes = [f"{note[:1].upper()}{note[1:]}." for note in reading.notes]
    for note in (*notes, estimates.noise.meaning, *estimates.notes):
        out.print(note, style="dim")
    out.print()
    for line in story(estimates):
        out.print(line)
    _print_classes(estimates, show)
    _print_agents(estimates, top, show)
    for member in result.members:
        _print_member(member, len(estimates))
    if result.replay is not None:
        _print_replay(result.replay, show)
    if result.comparison is not None:
        _print_comparison(result.comparison, result.notes)
    for path in paths:
        out.print(f"kept {path}", soft_wrap=True)


def _print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table whose numbers never break, also if the terminal is narrow."""
    if not rows:
        return
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    width = 4
    for k, column in enumerate(zip(header, *rows, strict=True)):
        least = max(map(len, " ".join(column).split()))
        table.add_column(column[0], justify="right" if k else "left", min_width=least)
        width += least + 1
    for row in rows:
        table.add_row(*map(Text, row))
    out.print(table, width=max(out.width, width), crop=False)


def _print_classes(estimates: Estimates, show: Show) -> None:
    classes = estimates.class_table
    largest = np.argsort([-one.size for one in classes], kind="stable")[:_MAX_CLASSES]
    shown = [classes[k] for k in sorted(largest.tolist())]
    rows = []
    for one in shown:
        ends = map(show, (one.mean, one.low, one.high))
        rows.append((str(one.number), str(one.size), str(one.samples), *ends, str(one.shared)))
    header = ("class", "agents", "rows", "mean", "low", "high", "also like others")
    _print_table("classes, from the lowest mean on", header, rows)
    if len(shown) < len(classes):
        out.print(f"These are the largest; there are {len(classes) - len(shown)} more.")
    out.print(
        "The interval of a class holds only if the class is right: exactly the agents of one true "
        "mean.",
        style="dim",
    )


def _print_agents(estimates: Estimates, top: int, show: Show) -> None:
    order = np.argsort(-estimates.estimates, kind="stable")[:top]
    header = ("agent", "n", "mean", "low", "high", "estimate", "class", "gain")
    cells = zip(*[estimates.columns[name][order].tolist() for name in header], strict=True)
    rows = []
    for agent, n, *numbers, number, gain in cells:
        worth = f"{gain:.3g}" if math.isfinite(gain) else "unknown"
        name = short_name(agent)
        rows.append((name, str(n), *map(show, numbers), str(number), worth))
    _print_table("agents, from the highest estimate on", header, rows)
    more = len(estimates) - len(order)
    if more:
        others = "is 1 more agent" if more == 1 else f"are {more} more agents"
        out.print(f"There {others}: print all with --top N, keep all with --out FILE.")
    out.print(
        "With probability "
        f"{1 - estimates.delta:.6g} an agent's true mean is between low and high, whatever its "
        "peers are, if what is assumed of noise holds.  gain: how many times its own rows the "
        "estimate is worth.",
        style="dim",
    )


def _print_member(member: Member, n_agents: int) -> None:
    others = member.alike[~np.isin(member.alike, member.members)]
    peers = member.members[member.members != member.agent]
    with_whom = _listed(peers) if len(peers) else "nobody else"
    out.print()
    out.print(f"{short_name(member.agent)} is in class {member.number} with {with_whom}.")
    if len(others):
        out.print(f"Indistinguishable from it too, in other classes: {_listed(others)}.")
    elif len(member.members) < n_agents:
        out.print("It is shown to differ from all agents of other classes.")


def _listed(agents: Any) -> str:
    shown = ", ".join(short_name(agent) for agent in agents[:_MAX_NAMES].tolist())
    more = len(agents) - _MAX_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def _print_replay(replay: Replay, show: Show) -> None:
    out.print()
    for line in replay.story:
        out.print(line)
    rows = [
        (short_name(one.agent), str(one.when), show(one.before), show(one.after))
        for one in replay.drifts[:_MAX_DRIFTS]
    ]
    _print_table("agents whose mean changed", ("agent", "when", "before", "after"), rows)
    if len(replay.drifts) > _MAX_DRIFTS:
        out.print(f"There are {len(replay.drifts) - _MAX_DRIFTS} more.")


def _print_comparison(comparison: Comparison, notes: Iterable[str]) -> None:
    rows = []
    for one in comparison.scores:
        ratio = f"{one.ratio:.2f} ({one.ratio_low:.2f} to {one.ratio_high:.2f})"
        if not all(map(math.isfinite, (one.ratio, one.ratio_low, one.ratio_high))):
            ratio = "unknown"
        rows.append((one.name, f"{one.rmse:.4g}", ratio, f"{one.closer:.0%} of agents"))
    _print_table(
        f"errors on held-out rows of {comparison.n_agents} agents, {comparison.n_splits} splits",
        ("method", "error (rmse)", "mean square error, local = 1", "closer than local"),
        rows,
    )
    left = f"{comparison.n_left_out} agents have too few rows to be judged"
    for note in (*notes, *([left] if comparison.n_left_out else []), *comparison.notes):
        out.print(f"{note}.", style="dim")
    out.print(f"Verdict: {comparison.verdict}", style="bold")
