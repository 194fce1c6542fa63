"""What `colme sweep` prints.

Lives here: its progress, its sentences and a first query on the results.  Must not know
flags or how anything is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.table import Table

from colme._terminal.console import err, out, progress, say
from colme.sweep import Outcome

_LINES = 10
"""Lines of progress where there is no terminal to show a bar."""
_SHOWN = 20
"""Points that are listed one by one."""


@contextmanager
def show_points(n_points: int) -> Iterator[Callable[[int, int], None]]:
    """Show how many points are finished: a bar on a terminal, else a line now and then."""
    step = -(-n_points // _LINES)
    last = -1
    with progress(n_points, "starting") as show:

        def update(done: int, n_points: int) -> None:
            nonlocal last
            show(f"{done} of {n_points} points", done)
            if not err.is_terminal and (last < 0 or done // step > last // step):
                last = done
                err.print(f"{done} of {n_points} points")

        yield update


def print_outcome(outcome: Outcome, keys: Sequence[str], seconds: float) -> None:
    """Print what a sweep did, and a first query on its results."""
    if outcome.n_rows is None:
        say(f"{outcome.path} holds all {outcome.n_points} points of this sweep already")
        return
    found = f", {outcome.n_found} of them before" if outcome.n_found else ""
    say(f"{outcome.n_points} points measured{found}: {seconds:.1f} s")
    say(f"{outcome.n_rows} rows in {outcome.path}; for instance:")
    names = ", ".join(f'"{key}"' for key in keys)
    path = str(outcome.path).replace("'", "''")
    say(
        f"  SELECT {names}, algorithm, avg(final_error_mean) FROM '{path}' "
        f"GROUP BY ALL ORDER BY ALL"
    )


def print_points(rows: Sequence[dict[str, Any]]) -> None:
    """Print the values of the points of a sweep, the first and the last of many."""
    say(f"{len(rows)} points")
    table = Table("point", *rows[0], box=None)
    lines = [(str(number), *map(str, row.values())) for number, row in enumerate(rows)]
    if len(lines) > _SHOWN:
        lines = [*lines[: _SHOWN // 2], ("...",), *lines[-_SHOWN // 2 :]]
    for line in lines:
        table.add_row(*line)
    out.print(table)


def say_resumable(target: Path) -> None:
    """Print that nothing of a sweep that was interrupted is lost, if it had begun."""
    journal = target.with_name(target.name + ".journal")
    if journal.exists():
        words = f"finished points are kept in {journal}: the same command continues from there"
        err.print(f"colme: {words}", soft_wrap=True)
