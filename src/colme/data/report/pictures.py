"""Pictures: ranked agents, classes, and how far estimates moved from the agents' own means.

Lives here: which numbers go where.  Must not know how lines are written, nor how numbers are found.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from colme.data.estimator import Class, Estimates
from colme.data.report.selection import ends_and_between, evenly, ranked
from colme.data.report.svg import Scale, area, color, dot, grid, line, picture, word
from colme.data.report.texts import Write, between, name_text
from colme.pages import picture_html

_RANKED, _CLASSES, _LINES = 60, 30, 300
"""At most this many agents, classes and lines are drawn."""
_ROW = 15.0
_TOP = 8.0
_NAMES, _PLOT = 30.0, 66.0
_LONGEST = 40
_FAR = 3.0
"""Intervals widen the scale by at most this many times the range of the means."""


def ranked_picture(estimates: Estimates, write: Write) -> str:
    """Return the figure of agents by estimate, each with its own mean and interval.

    Examples
    --------
    >>> from colme.data import Summaries, estimate
    >>> found = estimate(Summaries.of(["a", "b"], [1.0, 9.0]), sigma=1.0)
    >>> ranked_picture(found, str).count("<circle")
    4
    """
    order = ranked(estimates)
    shown = ends_and_between(len(order), _RANKED)
    places = order[shown]
    scale = _scale(estimates, places)
    bottom = _TOP + _ROW * len(places)
    rows = [
        _row(estimates, a, scale, _TOP + _ROW * (k + 0.5), write)
        for k, a in enumerate(places.tolist())
    ]
    names = [
        word(0, _TOP + _ROW * (k + 0.5) + 4, f"{rank + 1}. {_name(estimates, a)}", "name")
        for k, (rank, a) in enumerate(zip(shown.tolist(), places.tolist(), strict=True))
    ]
    drawn = _beside(names, [grid(scale, _TOP, bottom), *rows])
    svg = picture(bottom + 24, "agents by estimate, with their own means and intervals", drawn)
    return picture_html(svg, _ranked_caption(len(order), len(places)))


def _beside(names: list[str], plot: list[str]) -> list[str]:
    """Return the two parts of a picture with a name for each row."""
    return [area(0, _NAMES - 2, names, clipped=True), area(_NAMES, _PLOT, plot)]


def _ranked_caption(n: int, n_shown: int) -> str:
    some = (
        f"{n_shown} of {n} agents: the highest, the lowest, and some between. "
        if n_shown < n
        else ""
    )
    return (
        f"{some}Agents by estimate (dot, coloured by class), with their own mean (ring) and its "
        "interval (line; one that reaches the edge goes on)."
    )


def _name(estimates: Estimates, a: int) -> str:
    return name_text(estimates.summaries.agents[a], _LONGEST)


def _color(estimates: Estimates, a: int) -> str:
    return color(int(estimates.classes[a]))


def _scale(estimates: Estimates, places: NDArray[np.intp]) -> Scale:
    """Return a scale with room for all means and for usual intervals, but not for giant ones."""
    values = np.concatenate([estimates.estimates[places], estimates.summaries.means[places]])
    radii = (estimates.high - estimates.low)[places] / 2
    radii = radii[np.isfinite(radii)]
    reach = float(np.median(radii)) if len(radii) else 0.0
    apart = float(np.ptp(values))
    return Scale.of(values, min(reach, _FAR * apart) if apart > 0 else reach)


def _row(estimates: Estimates, a: int, scale: Scale, y: float, write: Write) -> str:
    low, high = float(estimates.low[a]), float(estimates.high[a])
    own, best = float(estimates.summaries.means[a]), float(estimates.estimates[a])
    hint = (
        f"{_name(estimates, a)}: estimate {write(best)}, own mean {write(own)} "
        f"({between(low, high, write)}), n = {estimates.summaries.counts[a]}, "
        f"class {estimates.classes[a]}"
    )
    return (
        line(scale.at(low), y, scale.at(high), y, "range", hint)
        + dot(scale.at(own), y, 3, "ring", hint)
        + dot(scale.at(best), y, 3.2, _color(estimates, a), hint)
    )


def classes_picture(estimates: Estimates, write: Write) -> str:
    """Return the figure of classes: where each lies, its interval, and how large it is.

    Examples
    --------
    >>> from colme.data import Summaries, estimate
    >>> found = estimate(Summaries.of(["a", "b"], [1.0, 99.0]), sigma=1.0)
    >>> classes_picture(found, str).count("<circle")
    2
    """
    table = estimates.class_table
    largest = sorted(table, key=lambda one: -one.size)[:_CLASSES]
    shown = sorted(largest, key=lambda one: -one.number)
    ends = [end for one in shown for end in (one.low, one.mean, one.high)]
    scale, most = Scale.of(ends), max(one.size for one in shown)
    pitch = 1.4 * _ROW
    bottom = _TOP + pitch * len(shown)
    rows = [
        _class_row(one, scale, _TOP + pitch * (k + 0.5), most, write) for k, one in enumerate(shown)
    ]
    names = [
        word(0, _TOP + pitch * (k + 0.5) + 4, f"class {one.number}: {one.size}", "name")
        for k, one in enumerate(shown)
    ]
    drawn = _beside(names, [grid(scale, _TOP, bottom), *rows])
    some = f"The {len(shown)} largest of {len(table)} classes. " if len(shown) < len(table) else ""
    caption = (
        f"{some}Classes, with the number of their agents: the mean of all their samples, and the "
        "interval that holds if the class is right."
    )
    return picture_html(picture(bottom + 24, "classes with their intervals", drawn), caption)


def _class_row(one: Class, scale: Scale, y: float, most: int, write: Write) -> str:
    hint = (
        f"class {one.number}: {one.size} agents, {one.samples} samples, mean {write(one.mean)} "
        f"({between(one.low, one.high, write)})"
    )
    radius = 3 + 5 * math.sqrt(one.size / most)
    style = color(one.number)
    return line(scale.at(one.low), y, scale.at(one.high), y, f"wide {style}", hint) + dot(
        scale.at(one.mean), y, radius, style, hint
    )


def shrinkage_picture(estimates: Estimates, write: Write) -> str:
    """Return the figure of what help changed: a line from each own mean to its estimate.

    Examples
    --------
    >>> from colme.data import Summaries, estimate
    >>> found = estimate(Summaries.of(["a", "b"], [1.0, 9.0]), sigma=1.0)
    >>> shrinkage_picture(found, str).count('class="thin')
    2
    """
    top, bottom = 26.0, 210.0
    order = ranked(estimates)
    places = order[evenly(len(order), _LINES)].tolist()
    own, best = estimates.summaries.means, estimates.estimates
    scale = Scale.of(np.concatenate([own[places], best[places]]))
    lines = [
        line(scale.at(own[a]), top, scale.at(best[a]), bottom, f"thin {_color(estimates, a)}", hint)
        for a in places
        for hint in [f"{_name(estimates, a)}: {write(own[a])} → {write(best[a])}"]
    ]
    axes = [line(0, y, 100, y, "axis") for y in (top, bottom)]
    words = [word(0, top - 10, "own means", "soft"), word(0, bottom + 32, "estimates", "soft")]
    drawn = [area(3, 94, [grid(scale, top, bottom), *axes, *lines, *words])]
    some = f"{len(places)} of {len(own)} agents. " if len(places) < len(own) else ""
    caption = (
        f"{some}What help changed: each line leads from an agent's own mean (above) to its "
        "estimate (below), coloured by class."
    )
    return picture_html(picture(bottom + 40, "from own means to estimates", drawn), caption)
