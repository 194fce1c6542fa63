"""What a reproduction has measured so far, and how it is written down.

Lives here: results on their way into files.  Must not know the order of work.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colme.pages import TextTable as Table
from colme.pages import markdown
from colme.paper.checks import Check, compare
from colme.paper.claims import Claim, claims
from colme.paper.environment import environment
from colme.paper.figure_list import figures_for
from colme.paper.files import write
from colme.paper.more_tables import more_tables, sizes_table
from colme.paper.paper_tables import paper_tables
from colme.paper.report import report_html
from colme.paper.results import Result
from colme.paper.table_values import tables
from colme.paper.tables import claim_table, summary

if TYPE_CHECKING:
    from colme.paper.figures import Drawing


_WRITING = "tables, figures and report"


@dataclass
class Reproduction:
    """What has been measured so far, and where it is written.

    Attributes
    ----------
    folder
        Where everything goes.
    results
        What ran, by the name of the experiment.
    durations
        Seconds, by experiment.
    content
        What ``tables.json`` holds.
    checks
        Measured averages beside published ones.
    claims
        What the paper states, and whether it holds.
    drawings
        Figures, by name.

    Examples
    --------
    >>> Reproduction(Path("reproduction")).report.name
    'report.html'
    """

    folder: Path
    results: dict[str, tuple[Result, ...]] = field(default_factory=dict)
    durations: dict[str, float] = field(default_factory=dict)
    content: dict[str, Any] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    claims: tuple[Claim, ...] = ()
    drawings: dict[str, Drawing] = field(default_factory=dict)

    @property
    def report(self) -> Path:
        """Where the report is."""
        return self.folder / "report.html"

    @property
    def tables(self) -> tuple[Table, ...]:
        """Every table, the verdict first."""
        return (
            summary(self.checks, self.claims),
            sizes_table(self.content),
            claim_table(self.claims),
            *paper_tables(self.content),
            *more_tables(self.content),
        )

    @property
    def main_tables(self) -> tuple[Table, ...]:
        """The tables to look at first, the verdict last."""
        return (
            sizes_table(self.content),
            *paper_tables(self.content)[:3],  # class estimation, and convergence of all agents
            *more_tables(self.content),
            summary(self.checks, self.claims),
        )

    def add(self, name: str, results: tuple[Result, ...], seconds: float) -> None:
        """Take in a finished experiment."""
        self.results[name] = results
        self.durations[name] = seconds
        self.content = tables(self.results)
        self.checks = compare(self.content)
        self.claims = claims(self.content, self.results)

    def write(self, new: str, figures: Any) -> None:
        """Write all that is finished: tables, the figures that `new` makes possible, the report."""
        start = time.perf_counter()
        self._write_tables()
        for figure in figures_for(set(self.results), new):
            drawing: Drawing = figures.draw(figure, self.results)
            self.drawings[figure.name] = drawing
            write(self.folder / "figures" / f"{figure.name}.png", drawing.png)
            write(self.folder / "figures" / f"{figure.name}.svg", drawing.svg)
        spent = self.durations.pop(_WRITING, 0.0)
        self.durations[_WRITING] = spent + time.perf_counter() - start
        self._write_report()

    def _write_tables(self) -> None:
        write(self.folder / "tables.json", json.dumps(self.content, indent=1) + "\n")
        parts = ["# Published and measured\n", *map(markdown, self.tables)]
        write(self.folder / "tables.md", "\n".join(parts))

    def _write_report(self) -> None:
        page = report_html(self.content, self.claims, self.drawings, self.durations, environment())
        write(self.report, page)
