"""Draws figures as PNG and SVG: the only importer of the plotting library.

Lives here: style, sizes and formats.  Must not know what a figure shows.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from colme.paper.figure_list import FigureSpec
from colme.paper.table_values import Results

_INCHES = (4.6, 3.3)
"""A column and a bit of a paper; also the width of a narrow screen."""
_MARGINS = {"left": 0.15, "right": 0.96, "bottom": 0.135, "top": 0.86}
_DPI = 160
_PATH, _DECIMALS = re.compile(rb' d="[^"]*"'), re.compile(rb"(\.\d\d)\d+")
_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "legend.handletextpad": 0.5,
    "legend.columnspacing": 0.9,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "path.simplify_threshold": 0.5,
    "svg.hashsalt": "colme",  # names inside the file are then the same every time
    "svg.fonttype": "path",
}


@dataclass(frozen=True)
class Drawing:
    """A figure in both formats.

    Examples
    --------
    >>> Drawing("empty", b"", b"").name
    'empty'
    """

    name: str
    png: bytes
    svg: bytes


def draw(spec: FigureSpec, results: Results) -> Drawing:
    """Return a figure, the same bytes for the same results.

    Examples
    --------
    >>> blank = FigureSpec("blank", (), "Nothing.", lambda axes, results: None)
    >>> draw(blank, {}).png[1:4]
    b'PNG'
    """
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=_INCHES)
        figure.subplots_adjust(**_MARGINS)
        FigureCanvasAgg(figure)
        spec.draw(figure.subplots(), results)
        return Drawing(spec.name, _saved(figure, "png"), _saved(figure, "svg"))


def _saved(figure: Figure, kind: str) -> bytes:
    stream = io.BytesIO()
    dated = {"Date": None} if kind == "svg" else {"Software": None}
    figure.savefig(stream, format=kind, dpi=_DPI, metadata=dated)
    return _shortened(stream.getvalue()) if kind == "svg" else stream.getvalue()


def _shortened(svg: bytes) -> bytes:
    """Return the figure with coordinates to a hundredth of a point: a third smaller."""
    return _PATH.sub(lambda path: _DECIMALS.sub(rb"\1", path[0]), svg)
