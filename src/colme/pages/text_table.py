"""Tables of text: a title, a header, rows, footnotes; and Markdown.

Lives here: what a table is.  Must not know what stands in one, HTML or terminals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

HOLDS, FAILS, NOTHING = "✓", "✗", "–"


@dataclass(frozen=True)
class TextTable:
    """A title, a header, rows of text and footnotes.

    Examples
    --------
    >>> TextTable("Times", ("algorithm", "time"), (("local", "41"),)).rows[0]
    ('local', '41')
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def markdown(table: TextTable) -> str:
    """Return a table as Markdown.

    Examples
    --------
    >>> print(markdown(TextTable("Times", ("algorithm", "time"), (("local", "41"),))))
    ### Times
    <BLANKLINE>
    | algorithm | time |
    |---|---|
    | local | 41 |
    <BLANKLINE>
    """
    lines = [f"### {table.title}", "", _line(table.header), "|" + "---|" * len(table.header)]
    lines += [_line(row) for row in table.rows]
    lines += [line for note in table.notes for line in ("", note)]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
