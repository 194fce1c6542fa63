"""The two consoles of the command line, and what every command says on them.

Lives here: progress, notes, JSON.  Must not know what any command prints.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

# Names and paths are shown as they are: brackets in them are no markup, colons no emoji.
out = Console(markup=False, highlight=False, emoji=False)
err = Console(stderr=True, markup=False, highlight=False, emoji=False)


@contextmanager
def progress(
    total: int = 1, first: str = "drawing samples", parts: Sequence[str] = ()
) -> Iterator[Callable[[str, float], None]]:
    """Show one bar for all the work, on a terminal only; yield what moves it.

    It is called with what is running and how much of `total` is done.  With `parts`, which run one
    after the other, it is called with the name of the part and the share of it that is done.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=err, transient=True, disable=not err.is_terminal)
    with bar:
        task = bar.add_task(first, total=len(parts) or total)

        def update(what: str, done: float) -> None:
            before = parts.index(what) if parts else 0
            bar.update(task, description=what, completed=before + done)

        yield update


def say_finished(name: str, seconds: float) -> None:
    """Print that an experiment is done."""
    err.print(f"{name}: {seconds:.1f} s")


def say(sentence: str) -> None:
    """Print a sentence, which the terminal may break anywhere."""
    out.print(sentence, soft_wrap=True)


def print_json(value: Any) -> None:
    """Print one line of JSON."""
    sys.stdout.write(json.dumps(value) + "\n")


def print_pieces(pieces: Iterable[str]) -> None:
    """Print text that comes in pieces, and end its line."""
    sys.stdout.writelines(pieces)
    sys.stdout.write("\n")


def note(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as one line."""
    err.print(f"colme: note: {message}", soft_wrap=True)
