"""What `colme study` prints.

Lives here: its tables and sentences.  Must not know flags or how anything is computed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table

from colme._terminal.console import out
from colme.studies import Study


def print_questions(questions: dict[str, str]) -> None:
    """Print the names of studies and what they answer."""
    table = Table("name", "question", box=None)
    for name, question in questions.items():
        table.add_row(name, question)
    out.print(table)


def print_study(study: Study, paths: Iterable[Path]) -> None:
    """Print what a study has found, and where it is kept."""
    out.print(study.question)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    rows, width = study.to_table(), 4
    for k, column in enumerate(study.columns):
        # On a narrow terminal names break, numbers do not.
        words = [word for text in (column, *(row[k] for row in rows)) for word in text.split()]
        least = max(map(len, words))
        table.add_column(column, justify="right" if k else "left", min_width=least)
        width += least + 1
    for cells in rows:
        table.add_row(*cells)
    out.print(table, width=max(out.width, width), crop=False)
    for note in study.notes:
        out.print(note, style="dim")
    out.print(study.answer, style="bold")
    for path in paths:
        out.print(f"kept {path}", soft_wrap=True)
