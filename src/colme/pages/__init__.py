"""Pages: tables and pictures as HTML that needs neither network nor script.

Lives here: what a table is, and how a page looks.  Must not know what is shown.
"""

from colme.pages.page import (
    figure_html,
    figures_html,
    page_html,
    picture_html,
    table_html,
    tables_html,
)
from colme.pages.text_table import FAILS, HOLDS, NOTHING, TextTable, markdown

__all__ = [
    "FAILS",
    "HOLDS",
    "NOTHING",
    "TextTable",
    "figure_html",
    "figures_html",
    "markdown",
    "page_html",
    "picture_html",
    "table_html",
    "tables_html",
]
