"""What a study found: a table, curves, and one sentence made of its numbers.

Lives here: the result, as plain values and as Markdown.  Must not know how it was measured or is
drawn.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

Cell: TypeAlias = str | int | float | None
Row: TypeAlias = Mapping[str, Any]
"""A row of a table by its columns, the first of which names it."""


@dataclass(frozen=True)
class Curve:
    """A line of a figure; what theory says is dashed.

    Examples
    --------
    >>> Curve("measured", (1.0, 2.0), (0.5, 0.25)).theory
    False
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    theory: bool = False


@dataclass(frozen=True)
class Study:
    """A question, its answer in one sentence, and the numbers behind it.

    Attributes
    ----------
    name, question, answer
        What was asked, and what the numbers say.
    columns, rows
        The table; the first cell of a row names it, None stands for nothing measured.
    curves, x_label, y_label, log
        The figure; `log` names its logarithmic axes: "", "x", "y" or "xy".
    notes
        What one must know to read the numbers.
    runs, seed
        How often it was run, and the seed of the samples.

    Examples
    --------
    >>> study = Study("demo", "How many?", "Two.", ("case", "n"), (("all", 2.0),))
    >>> study.value("all", "n")
    2.0
    """

    name: str
    question: str
    answer: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    curves: tuple[Curve, ...] = ()
    x_label: str = ""
    y_label: str = ""
    log: str = ""
    notes: tuple[str, ...] = ()
    runs: int = 1
    seed: int = 0

    def value(self, row: str, column: str) -> Any:
        """Return one cell of the table.

        Examples
        --------
        >>> Study("demo", "", "", ("case", "n"), (("all", 2.0),)).value("some", "n")
        Traceback (most recent call last):
        ...
        ValueError: unknown row 'some'; known: all
        """
        names = [str(cells[0]) for cells in self.rows]
        for kind, name, known in (("row", row, names), ("column", column, self.columns)):
            if name not in known:
                raise ValueError(f"unknown {kind} {name!r}; known: {', '.join(known)}")
        return self.rows[names.index(row)][self.columns.index(column)]

    def to_plain(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON.

        Examples
        --------
        >>> Study("demo", "", "", ("case", "n"), (("all", 2.0),)).to_plain()["rows"]
        [['all', 2.0]]
        """
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    def to_table(self) -> list[list[str]]:
        """Return the cells of the table as people read them, without its header.

        Examples
        --------
        >>> Study("demo", "", "", ("case", "n"), (("all", None), ("some", 0.25))).to_table()
        [['all', ''], ['some', '0.25']]
        """
        return [[text_of(cell) for cell in cells] for cells in self.rows]

    def to_markdown(self) -> str:
        """Return the study as a page, its figure beside it.

        Examples
        --------
        >>> print(Study("demo", "How many?", "Two.", ("n",), ((2,),), runs=3).to_markdown())
        # demo
        <BLANKLINE>
        How many?
        <BLANKLINE>
        **Two.**
        <BLANKLINE>
        | n |
        |---|
        | 2 |
        <BLANKLINE>
        3 runs, seed 0.
        <BLANKLINE>
        ![demo](demo.svg)
        <BLANKLINE>
        """
        lines = [self.columns, ["---"] * len(self.columns), *self.to_table()]
        table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
        table = table.replace("| --- ", "|---").replace("--- |", "---|")
        runs = "1 run" if self.runs == 1 else f"{self.runs} runs"
        details = " ".join((f"{runs}, seed {self.seed}.", *self.notes))
        parts = [f"# {self.name}", self.question, f"**{self.answer}**", table, details]
        return "\n\n".join([*parts, f"![{self.name}]({self.name}.svg)"]) + "\n"


def text_of(cell: Cell) -> str:
    """Return a cell as people read it: three digits, but whole numbers whole.

    Examples
    --------
    >>> [text_of(cell) for cell in ("m = 1", 12, 1234.5, 3.14159, 0.000123, 0.0, None)]
    ['m = 1', '12', '1234', '3.14', '0.000123', '0', '']
    """
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.0f}" if abs(cell) >= 100 else f"{cell:.3g}"
    return str(cell)
