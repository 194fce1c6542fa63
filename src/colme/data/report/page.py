"""The page of a report: its sections, and their order.

Lives here: sections, and the file.  Must not know how pictures and tables are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from colme._files import replacing
from colme.data.comparison import Comparison
from colme.data.estimator import Estimates
from colme.data.estimator.story import short_name, story
from colme.data.evolution import Replay
from colme.data.reader import Reading
from colme.data.report import pictures, tables
from colme.data.report.texts import writer
from colme.pages import TextTable as Table
from colme.pages import page_html, table_html, tables_html

_STYLE, _SCRIPT = (
    "\n" + (Path(__file__).parent / f"report.{kind}").read_text("utf-8") for kind in ("css", "js")
)
"""The style of this page, beside that of all pages, and a script that it can do without."""


def write_report(
    path: Path,
    estimates: Estimates,
    *,
    reading: Reading | None = None,
    comparison: Comparison | None = None,
    replay: Replay | None = None,
) -> None:
    """Write the report as one file that needs neither network nor script.

    Parameters
    ----------
    path
        The file; its folder is made if need be.  It is written completely or not at all.
    estimates
        What was found out.
    reading
        What was read, if the table came from files.
    comparison
        Errors on rows held out, if methods were compared.
    replay
        How estimates evolved, if the table has times.

    Examples
    --------
    >>> import tempfile
    >>> from colme.data import Summaries, estimate
    >>> found = estimate(Summaries.of(["a", "b"], [1.0, 9.0]), sigma=1.0)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_report(Path(place, "report.html"), found)
    ...     Path(place, "report.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    if path.is_dir():
        raise ValueError(f"a report is a file, and {str(path)!r} is a folder: name a file in it")
    page = report_html(estimates, reading=reading, comparison=comparison, replay=replay)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as draft:
        draft.write_bytes(page.encode("utf-8", "replace"))


def report_html(
    estimates: Estimates,
    *,
    reading: Reading | None = None,
    comparison: Comparison | None = None,
    replay: Replay | None = None,
) -> str:
    """Return the report as one page.

    Examples
    --------
    >>> from colme.data import Summaries, estimate
    >>> found = estimate(Summaries.of(["a", "b"], [1.0, 9.0]), sigma=1.0)
    >>> "Exactly what is claimed" in report_html(found)
    True
    """
    sections = list(_sections(estimates, reading, comparison, replay))
    links = " ".join(f'<a href="#s{k}">{title}</a>' for k, (title, _) in enumerate(sections))
    title = "Personalised means"
    if reading is not None:
        value, agent = short_name(reading.value, 80), short_name(reading.agent, 80)
        title = f"{value} by {agent}: personalised means"
    body = [
        f"<h1>{escape(title)}</h1>",
        _story_html(story(estimates)),
        f"<nav>{links}</nav>",
        *(f'<h2 id="s{k}">{name}</h2>\n{html}' for k, (name, html) in enumerate(sections)),
        f"<script>{_SCRIPT}</script>",
    ]
    return page_html(title, "\n".join(body), _STYLE)


def _sections(
    estimates: Estimates,
    reading: Reading | None,
    comparison: Comparison | None,
    replay: Replay | None,
) -> Iterator[tuple[str, str]]:
    """Yield titles and markup of what was found, what from, and what it means."""
    write = writer(estimates)
    beside = pictures.classes_picture(estimates, write)
    beside += pictures.shrinkage_picture(estimates, write)
    ranked = pictures.ranked_picture(estimates, write)
    board = f'<div class="board"><div>{ranked}</div><div>{beside}</div></div>\n'
    yield "At a glance", board
    if comparison is not None:
        verdict = f'<p class="verdict">In short: {escape(comparison.verdict)}</p>\n'
        yield "Does help pay here?", verdict + tables_html([tables.comparison_table(comparison)])
    if replay is not None:
        drifts = tables_html([tables.drifts_table(replay, write)] if replay.drifts else [])
        evolution = pictures.evolution_picture(replay, write)
        yield "Over time", _story_html(replay.story) + evolution + drifts
    yield "Classes", _boxed_html(tables.classes_table(estimates, write))
    yield "Agents", _boxed_html(tables.agents_table(estimates, write), " sortable")
    yield "What it is about", tables_html([tables.reading_table(estimates, reading)])
    lead = (
        f"<p>Each statement is about one agent, at the risk delta = {estimates.delta:g}. Samples "
        "of an agent are taken to be independent and of one mean, agents to be independent of each "
        f"other. {escape(estimates.noise.meaning)}</p>\n"
    )
    yield "Exactly what is claimed", lead + tables_html([tables.meanings_table()])


def _boxed_html(table: Table, style: str = "") -> str:
    """Return a long table in a box of its own, and its notes."""
    notes = "".join(f'<p class="note">{escape(note)}</p>\n' for note in table.notes)
    return f'<div class="scroll{style}">{table_html(table)}</div>\n{notes}'


def _story_html(sentences: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f'<ul class="story">{items}</ul>\n'
