"""Lines of a study on axes.

Lives here: colours, scales and labels.  Must not know how axes are made or saved, nor any study.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from colme.paper import canvas
from colme.studies.finding import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


# Okabe and Ito's colours, which colour-blind readers tell apart.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_FEW = 8
"""Up to this many places get a dot each; whole ones are named on a logarithmic axis."""

_WIDE = 60
"""Letters that fit beside each other in a line above the axes."""


def draw(study: Study) -> bytes:
    """Return the figure of a study as SVG, the same bytes for the same study.

    Examples
    --------
    >>> from colme.studies.finding import Curve
    >>> study = Study("demo", "", "", (), (), (Curve("line", (1.0, 9.0), (1.0, 2.0)),), log="x")
    >>> draw(study)[:5]
    b'<?xml'
    """
    return canvas.draw(partial(_lines, study=study)).svg


def _lines(ax: Axes, study: Study) -> None:
    # What theory says has the colour of what was measured under the same name.
    colors: dict[str, str] = {}
    for curve in study.curves:
        key = curve.name.removesuffix(" (theory)")
        color = colors.setdefault(key, _COLORS[len(colors) % len(_COLORS)])
        style: Any = (0, (4, 2)) if curve.theory or len(colors) > len(_COLORS) else "-"
        few = len(curve.x) <= _FEW
        look = {"color": color, "linestyle": style, "marker": "o" if few else ""}
        ax.plot(curve.x, curve.y, label=curve.name, **look)
    ax.set(xlabel=study.x_label, ylabel=study.y_label)
    if "x" in study.log:
        ax.set_xscale("log")
        _plain(ax.xaxis, {x for curve in study.curves for x in curve.x})
    if "y" in study.log:
        ax.set_yscale("log")
        _plain(ax.yaxis, set())
    if study.curves:
        _name(ax, [curve.name for curve in study.curves])


def _name(ax: Axes, names: list[str]) -> None:
    """Name the lines above the axes if there is room, else where they hide least."""
    n_lines = -(-len(names) // 3)
    columns = [names[first : first + n_lines] for first in range(0, len(names), n_lines)]
    if n_lines <= 2 and sum(max(map(len, column)) for column in columns) <= _WIDE:
        ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=3)
    else:
        ax.legend(loc="best", fontsize=7)


def _plain(axis: Axis, places: set[float]) -> None:
    """Write 1000, not 10³, on a logarithmic axis; name the places if they are few and whole."""
    low, high = axis.get_view_interval()
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    if 0 < len(places) <= _FEW and all(place % 1 == 0 for place in places):
        ticks = sorted(places)
    elif high / low < 100:
        ticks = [step * power for power in powers.tolist() for step in (1, 2, 5)]
    else:
        ticks = powers.tolist()
    inside = [tick for tick in ticks if low <= tick <= high]
    axis.set_ticks(inside, [f"{tick:g}" for tick in inside])
    axis.set_ticks([], minor=True)
