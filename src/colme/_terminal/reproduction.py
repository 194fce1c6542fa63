"""What `colme reproduce` prints.

Lives here: its tables.  Must not know flags or how anything is computed.
"""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table

from colme import paper
from colme._terminal.console import out


def print_reproduction(done: paper.Reproduction) -> None:
    """Print the main tables of a reproduction, with their notes."""
    tables = done.main_tables
    for part in tables:
        table = Table(title=part.title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for k, name in enumerate(part.header):
            table.add_column(name, no_wrap=k == 0)
        for name, *cells in part.rows:
            # On a narrow terminal long names break where they can be read.
            short = name.replace("-round", "-\nround", 1) if out.width < 110 else name
            table.add_row(short, *cells)
        out.print(table)
    for note in dict.fromkeys(note for part in tables for note in part.notes):
        out.print(note, style="dim")
    out.print(f"report: {done.report}", soft_wrap=True)
