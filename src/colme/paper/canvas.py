"""Draws figures as PNG and SVG: the only importer of the plotting library.

Lives here: style, sizes and formats.  Must not know what a figure shows.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from colme._extras import load

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


class Drawing(NamedTuple):
    """A figure in both formats.

    Examples
    --------
    >>> Drawing(b"PNG", b"<svg/>").svg
    b'<svg/>'
    """

    png: bytes
    svg: bytes


import_plotting = partial(
    load, "figures need matplotlib", "paper", "matplotlib.figure", "matplotlib"
)
"""Return the plotting library, or say what to install."""


def draw(paint: Callable[[Axes], None]) -> Drawing:
    """Return what `paint` puts onto axes, the same bytes for the same lines.

    Examples
    --------
    >>> draw(lambda axes: None).png[1:4]
    b'PNG'
    """
    library = import_plotting()
    with library.rc_context(_STYLE):
        figure = library.figure.Figure(figsize=_INCHES)
        figure.subplots_adjust(**_MARGINS)
        paint(figure.subplots())
        png, svg = io.BytesIO(), io.BytesIO()
        figure.savefig(png, format="png", dpi=_DPI, metadata={"Software": None})
        figure.savefig(svg, format="svg", dpi=_DPI, metadata={"Date": None})
    # Coordinates to a hundredth of a point make the file a third smaller.
    short = _PATH.sub(lambda path: _DECIMALS.sub(rb"\1", path[0]), svg.getvalue())
    return Drawing(png.getvalue(), short)
