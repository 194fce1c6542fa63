"""The outline of the report, from ``report.toml``: sections, readings, figures, notes.

Lives here: the words of the report, with the measured numbers put in, and what its figures are.
Must not know how values are measured, how lines are drawn, or HTML.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colme.paper import plots
from colme.paper.table_values import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Content = Mapping[str, Any]

_OUTLINE = tomllib.loads(Path(__file__).with_name("report.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class FigureSpec:
    """A figure: its name, the experiments it needs, what it shows, and the plot that draws it.

    Examples
    --------
    >>> [figure.name for figure in FIGURES if figure.needs == ["gap-sweep"]]
    ['gap-sweep']
    """

    name: str
    needs: list[str]
    caption: str
    plot: str
    options: dict[str, Any] = field(default_factory=dict)

    def draw(self, axes: Axes, results: Results) -> None:
        """Draw it onto axes."""
        getattr(plots, self.plot)(axes, results, **self.options)


@dataclass(frozen=True)
class Section:
    """A part of the report: it appears once `needs` is among the measured values.

    Examples
    --------
    >>> row = {"zeta": 842, "class_estimation_time": {"avg": 280.0}}
    >>> SECTIONS[-1].read({"gap_sweep": [row]})[:62]
    'Halving the gap makes a class about four times as long to iden'
    """

    name: str
    title: str
    needs: str
    reading: list[str]
    figures: list[FigureSpec]

    def read(self, content: Content) -> str:
        """Return what the result means, without pieces that have a number not measured."""
        numbers, pieces = _Numbers(content), []
        for piece in self.reading:
            try:
                pieces.append(piece.format_map(numbers))
            except (KeyError, TypeError):  # no such table, algorithm or epsilon, or None there
                continue
        return "".join(pieces)


SECTIONS = tuple(
    Section(**{**table, "figures": [FigureSpec(**figure) for figure in table["figures"]]})
    for table in _OUTLINE["sections"]
)
"""The sections of the report, in their order."""
FIGURES = tuple(figure for section in SECTIONS for figure in section.figures)
"""Every figure, in the order of the report."""
NOTES: Mapping[str, str] = _OUTLINE["notes"]
"""What one must know to read the tables, by name."""


class _Numbers(dict[str, Any]):
    """Measured numbers, and those derived from them, computed when they are asked for."""

    def __missing__(self, name: str) -> Any:
        return _DERIVED[name](self)


def _averages(cells: Mapping[str, Any]) -> str:
    return ", ".join(f"{cell['avg']:.0f}" for cell in cells.values())


def _saved(content: Content) -> Any:
    times = content["class_estimation_time"]
    return times["round-robin"]["0.8"]["avg"] - times["restricted-round-robin"]["0.8"]["avg"]


def _sizes(content: Content) -> dict[str, Any]:
    """Return the classes of the 3-class problem in words, and the mean of all agents."""
    sizes = content["class_sizes"]["three-class"]
    middle = sum(float(mean) * size for mean, size in sizes.items()) / sum(sizes.values())
    drawn = ", ".join(f"{size} agents with mean {mean}" for mean, size in sizes.items())
    return {"middle": middle, "drawn": drawn}


def _kept(content: Content) -> str:
    cases = content["imperfect_classes"].values()
    shares = [case["within_zeta"] for case in cases]
    shares += [row["within_tau"] for case in cases for row in case["convergence_time"].values()]
    worst = min(shares)
    return "every agent in every run" if worst == 1 else f"{100 * worst:.6g} % of agents, or more"


def _ratios(content: Content) -> tuple[float, float]:
    ratios = [row["zeta"] / row["class_estimation_time"]["avg"] for row in content["gap_sweep"]]
    return min(ratios), max(ratios)


_DERIVED: Mapping[str, Callable[[Content], Any]] = {
    "saved": _saved,
    "sharp_known": lambda content: _averages(content["class_estimation_time"]["sharp"]),
    "sharp_likely": lambda content: _averages(content["likely_class_estimation_time"]["sharp"]),
    "means": lambda content: content["convergence_time"]["all"],
    "sizes": _sizes,
    "kept": _kept,
    "ratios": _ratios,
}
"""What readings name beside the values of ``tables.json``."""
