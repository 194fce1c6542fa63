"""The report of a table: one page with the story, pictures, tables and what is claimed.

Lives here: what the page shows, and how its pictures are drawn.  Must not know how anything is
computed.
"""

from colme.data.report.page import report_html, write_report

__all__ = ["report_html", "write_report"]
