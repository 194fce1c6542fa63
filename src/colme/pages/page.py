"""How a page looks: one style sheet, and HTML for tables and figures.

Lives here: markup that needs neither network nor script, on wide and narrow screens, light and
dark.  Must not know what is shown.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path

from colme.pages.text_table import FAILS, HOLDS, NOTHING, TextTable

_STYLE = "\n" + (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
_KINDS = {HOLDS: "good", FAILS: "bad", NOTHING: "empty", "": "empty"}
"""Classes of cells, by the first character of their text."""


def page_html(title: str, body: str, style: str = "") -> str:
    """Return a whole page, with more style if what it shows needs it.

    Examples
    --------
    >>> page_html("Report", "<p>done</p>").startswith("<!doctype html>")
    True
    """
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def table_html(table: TextTable) -> str:
    """Return a table that turns into a list of cards where the screen is narrow.

    A title that is empty is left out.

    Examples
    --------
    >>> '<td class="good" data-label="holds">✓</td>' in table_html(
    ...     TextTable("Claims", ("holds",), (("✓",),)))
    True
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in table.header)
    rows = "".join(f"<tr>{_cells(table.header, row)}</tr>\n" for row in table.rows)
    title = f"<h3>{escape(table.title)}</h3>\n" if table.title else ""
    return f"{title}<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"


def tables_html(tables: Sequence[TextTable]) -> str:
    """Return tables one after the other, then each of their notes once.

    Examples
    --------
    >>> twice = [TextTable(title, ("a",), (), ("same note",)) for title in ("first", "second")]
    >>> tables_html(twice).count("same note")
    1
    """
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    return "".join(map(table_html, tables)) + "".join(
        f'<p class="note">{escape(note)}</p>\n' for note in notes
    )


def _cells(header: tuple[str, ...], row: tuple[str, ...]) -> str:
    return "".join(
        f'<td{_kind(text)} data-label="{escape(name)}">{escape(text)}</td>'
        for name, text in zip(header, row, strict=True)
    )


def _kind(text: str) -> str:
    kind = _KINDS.get(text[:1])
    return f' class="{kind}"' if kind else ""


def figure_html(svg: bytes, caption: str) -> str:
    """Return a figure with its picture inside the page.

    Examples
    --------
    >>> figure_html(b"<svg/>", "Nothing.").count("data:image/svg+xml;base64,")
    1
    """
    data = base64.b64encode(svg).decode()
    return (
        f'<figure><img alt="{escape(caption)}" src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>\n"
    )


def picture_html(svg: str, caption: str) -> str:
    """Return a figure that is part of the page: it takes on its colours, its text can be selected.

    The caption is text; the picture is markup, already escaped.

    Examples
    --------
    >>> picture_html("<svg></svg>", "1 < 2").strip()
    '<figure class="drawn"><svg></svg><figcaption>1 &lt; 2</figcaption></figure>'
    """
    return f'<figure class="drawn">{svg}<figcaption>{escape(caption)}</figcaption></figure>\n'


def figures_html(figures: Sequence[str]) -> str:
    """Return figures side by side where the screen is wide: three, or else two.

    Examples
    --------
    >>> figures_html(["<figure></figure>"] * 3)[:26]
    '<div class="figures by3"><'
    """
    by_three = " by3" if len(figures) % 3 == 0 else ""
    return f'<div class="figures{by_three}">{"".join(figures)}</div>\n'
