"""How a page looks: one style sheet, and HTML for tables and figures.

Lives here: markup that needs neither network nor script, on wide and narrow screens, light and
dark.  Must not know what is shown.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

from colme.pages.table import FAILS, HOLDS, Table

__all__ = [
    "figure_html",
    "figures_html",
    "page_html",
    "picture_html",
    "table_html",
    "tables_html",
]

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --line: #d9dee3;
  --back: #ffffff; --panel: #f5f7f9; --good: #1a7f4b; --bad: #b3261e; --link: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ec; --soft: #9aa5b1; --line: #333b44;
  --back: #14181c; --panel: #1c2127; --good: #5fce93; --bad: #ff8a80; --link: #7db8f5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .6rem; padding-top: .8rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
p { max-width: 46rem; margin: .5rem 0 1rem; }
.lead, .note, figcaption { color: var(--soft); }
.note { font-size: .85rem; margin: .35rem 0; max-width: 60rem; }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1rem; font-size: .95rem; }
a { color: var(--link); }
table { border-collapse: collapse; width: 100%; font-size: .92rem;
  font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .38rem .7rem; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 600; font-size: .82rem; background: var(--panel);
  overflow-wrap: normal; }
td:first-child { min-width: 10rem; }
td.good { color: var(--good); font-weight: 600; white-space: nowrap; }
td.bad { color: var(--bad); font-weight: 700; white-space: nowrap; }
.figures { display: grid; gap: 1rem; margin: 1rem 0; grid-template-columns: 1fr; }
@media (min-width: 48rem) { .figures { grid-template-columns: 1fr 1fr; } }
@media (min-width: 64rem) { .figures.by3 { grid-template-columns: 1fr 1fr 1fr; } }
figure { margin: 0; padding: .6rem; border: 1px solid var(--line); border-radius: .5rem;
  background: #fff; }
figure img { width: 100%; height: auto; display: block; }
figcaption { font-size: .85rem; padding: .4rem .3rem 0; color: #59636e; }
figure.drawn { background: var(--back); min-width: 0; }
figure.drawn figcaption { color: var(--soft); }
figure.drawn svg { display: block; width: 100%; }
@media (prefers-color-scheme: dark) {
  figure:not(.drawn) { filter: invert(.92) hue-rotate(180deg) saturate(1.4) brightness(1.15);
    border-color: #d0d0d0; } }
@media (max-width: 40rem) {
  main { padding: 1rem .8rem 3rem; }
  thead { display: none; } /* each cell carries its own label here */
  tr { display: block; padding: .45rem 0; border-bottom: 1px solid var(--line); }
  td, td.good, td.bad { display: flex; gap: .8rem; border: 0; padding: .1rem .2rem;
    white-space: normal; }
  td::before { content: attr(data-label); color: var(--soft); font-weight: 400;
    font-size: .82rem; line-height: 1.8; flex: 0 0 34%; }
  td:first-child { font-weight: 600; }
  td:first-child::before { display: none; }
  td.empty { display: none; }
}
@media print { figure { break-inside: avoid; } }
"""


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


def table_html(table: Table) -> str:
    """Return a table that turns into a list of cards where the screen is narrow.

    A title that is empty is left out.

    Examples
    --------
    >>> '<td class="good" data-label="holds">✓</td>' in table_html(
    ...     Table("Claims", ("holds",), (("✓",),)))
    True
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in table.header)
    rows = "".join(f"<tr>{_cells(table.header, row)}</tr>\n" for row in table.rows)
    title = f"<h3>{escape(table.title)}</h3>\n" if table.title else ""
    return f"{title}<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"


def tables_html(tables: Sequence[Table]) -> str:
    """Return tables one after the other, then each of their notes once.

    Examples
    --------
    >>> twice = [Table(title, ("a",), (), ("same note",)) for title in ("first", "second")]
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
    kinds = {HOLDS: "good", FAILS: "bad", "–": "empty"}
    kind = kinds.get(text[:1]) if text else "empty"
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

    The caption is text; the picture is markup, and whoever drew it has escaped what is in it.

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
