"""Pictures: ranked agents, classes, what help changed, and how estimates moved over time.

Lives here: which numbers go where.  Must not know how lines are written, nor how numbers are found.
"""

from __future__ import annotations

import math
from html import escape
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme.data.estimator import Class, Estimates
from colme.data.estimator.story import short_name
from colme.data.evolution import Replay
from colme.data.report.svg import N_COLORS, Scale, area, color, dot, grid, line, picture, word
from colme.data.report.texts import Write, between, ends_and_between, evenly, ranked
from colme.pages import picture_html

_RANKED, _CLASSES, _LINES = 60, 30, 300
"""At most this many agents, classes and lines are drawn."""
_ROW = 15.0
_TOP = 8.0
_NAMES, _PLOT = 30.0, 66.0
_LONGEST = 40
_DRIFTED = 4
"""At most this many lines are of agents that drifted; the others are spread over the estimates."""
_FAR = 3.0
"""Intervals widen the scale by at most this many times the range of the means."""


class _Row(NamedTuple):
    """One row of a picture: its name, a line, and dots (value, radius, style) on it."""

    name: str
    hint: str
    ends: tuple[float, float]
    style: str
    dots: tuple[tuple[float, float, str], ...]


def _rows_picture(label: str, caption: str, scale: Scale, rows: list[_Row], pitch: float) -> str:
    """Return the figure of some rows, one below the other, with their names beside them."""
    bottom = _TOP + pitch * len(rows)
    names, marks = [], [grid(scale, _TOP, bottom)]
    for k, row in enumerate(rows):
        y = _TOP + pitch * (k + 0.5)
        low, high = map(scale.at, row.ends)
        names.append(word(0, y + 4, row.name, "name"))
        marks.append(line(low, y, high, y, row.style, row.hint))
        marks += [dot(scale.at(x), y, radius, style, row.hint) for x, radius, style in row.dots]
    drawn = [area(0, _NAMES - 2, names, clipped=True), area(_NAMES, _PLOT, marks)]
    return picture_html(picture(bottom + 24, label, drawn), caption)


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
    rows = [
        _agent_row(estimates, a, rank, write)
        for rank, a in zip(shown.tolist(), order[shown].tolist(), strict=True)
    ]
    n, label = len(order), "agents by estimate, with their own means and intervals"
    some = f"{len(rows)} of {n} agents: the highest, the lowest, and some between. "
    caption = (
        f"{some if len(rows) < n else ''}Agents by estimate (dot, coloured by class), with their "
        "own mean (ring) and its interval (line; one that reaches the edge goes on)."
    )
    return _rows_picture(label, caption, _scale(estimates, order[shown]), rows, _ROW)


def _agent_row(estimates: Estimates, a: int, rank: int, write: Write) -> _Row:
    name, low, high = _name(estimates, a), float(estimates.low[a]), float(estimates.high[a])
    own, best = float(estimates.summaries.means[a]), float(estimates.estimates[a])
    hint = (
        f"{name}: estimate {write(best)}, own mean {write(own)} ({between(low, high, write)}), "
        f"n = {estimates.summaries.counts[a]}, class {estimates.classes[a]}"
    )
    dots = ((own, 3, "ring"), (best, 3.2, color(int(estimates.classes[a]))))
    return _Row(f"{rank + 1}. {name}", hint, (low, high), "range", dots)


def _name(estimates: Estimates, a: int) -> str:
    return short_name(estimates.summaries.agents[a], _LONGEST)


def _scale(estimates: Estimates, places: NDArray[np.intp]) -> Scale:
    """Return a scale with room for all means and for usual intervals, but not for giant ones."""
    values = np.concatenate([estimates.estimates[places], estimates.summaries.means[places]])
    radii = (estimates.high - estimates.low)[places] / 2
    radii = radii[np.isfinite(radii)]
    reach = float(np.median(radii)) if len(radii) else 0.0
    apart = float(np.ptp(values))
    return Scale.of(values, min(reach, _FAR * apart) if apart > 0 else reach)


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
    scale = Scale.of([end for one in shown for end in (one.low, one.mean, one.high)])
    rows = [_class_row(one, largest[0].size, write) for one in shown]
    some = f"The {len(shown)} largest of {len(table)} classes. " if len(shown) < len(table) else ""
    caption = (
        f"{some}Classes, with the number of their agents: the mean of all their samples, and the "
        "interval that holds if the class is right."
    )
    return _rows_picture("classes with their intervals", caption, scale, rows, 1.4 * _ROW)


def _class_row(one: Class, most: int, write: Write) -> _Row:
    name, style = f"class {one.number}: {one.size}", color(one.number)
    hint = (
        f"{name} agents, {one.samples} samples, mean {write(one.mean)} "
        f"({between(one.low, one.high, write)})"
    )
    dots = ((one.mean, 3 + 5 * math.sqrt(one.size / most), style),)
    return _Row(name, hint, (one.low, one.high), f"wide {style}", dots)


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
    lines = []
    for a in places:
        hint = f"{_name(estimates, a)}: {write(own[a])} → {write(best[a])}"
        style = f"thin {color(int(estimates.classes[a]))}"
        lines.append(line(scale.at(own[a]), top, scale.at(best[a]), bottom, style, hint))
    axes = [line(0, y, 100, y, "axis") for y in (top, bottom)]
    words = [word(0, top - 10, "own means", "soft"), word(0, bottom + 32, "estimates", "soft")]
    drawn = [area(3, 94, [grid(scale, top, bottom), *axes, *lines, *words])]
    some = f"{len(places)} of {len(own)} agents. " if len(places) < len(own) else ""
    caption = (
        f"{some}What help changed: each line leads from an agent's own mean (above) to its "
        "estimate (below), coloured by class."
    )
    return picture_html(picture(bottom + 40, "from own means to estimates", drawn), caption)


def evolution_picture(replay: Replay, write: Write) -> str:
    """Return the figure of some agents' estimates at each moment.

    Examples
    --------
    >>> values = np.array([[1.0, float("nan")], [2.0, 4.0], [2.5, 3.0]])
    >>> names, ends = np.array(["a", "b"]), np.array([1, 2, 3])
    >>> replay = Replay(names, ends, values, values, np.ones(3, int), (), 0.05, ())
    >>> evolution_picture(replay, str).count("<circle")
    5
    """
    top, bottom, n, chosen = 10.0, 250.0, len(replay), _chosen(replay)
    scale = Scale.of(replay.estimates[:, chosen])

    def down(value: float) -> float:
        return bottom - (bottom - top) * scale.at(value) / 100

    parts, keys = [], ""
    for tick, text in scale.ticks().items():
        parts.append(line(0, down(tick), 100, down(tick), "grid"))
        parts.append(word(-1.5, down(tick) + 4, text, "end soft"))
    first, last = short_name(replay.ends[0], 16), short_name(replay.ends[-1], 16)
    parts += [word(0, bottom + 20, first, "soft")] if n > 1 else []
    parts.append(word(100, bottom + 20, last, "end soft"))
    across = [100.0 * k / (n - 1) for k in range(n)] if n > 1 else [50.0]
    for number, a in enumerate(chosen):  # a dot for each moment, joined by lines
        name, style = short_name(replay.agents[a], _LONGEST), color(number)
        moments = zip(across, replay.ends.tolist(), replay.estimates[:, a].tolist(), strict=True)
        points = [
            (x, down(value), f"{name}, {end}: {write(value)}")
            for x, end, value in moments
            if math.isfinite(value)
        ]
        parts += [line(p[0], p[1], q[0], q[1], f"path {style}") for p, q in pairwise(points)]
        parts += [dot(x, y, 2.6, style, hint) for x, y, hint in points]
        keys += f'<li><span class="key {style}"></span>{escape(name)}</li>'
    caption = (
        f"Estimates of {len(chosen)} of {len(replay.agents)} agents as they would have been at "
        "each moment: some that drifted, if any, and others from the lowest to the highest."
    )
    svg = picture(bottom + 30, "estimates over time", [area(13, 83, parts)])
    return picture_html(f'{svg}<ul class="keys">{keys}</ul>', caption)


def _chosen(replay: Replay) -> list[int]:
    """Return the places of agents that drifted, and of others spread over the last estimates."""
    place = {name: a for a, name in enumerate(replay.agents.tolist())}
    drifted = [place[drift.agent] for drift in replay.drifts[:_DRIFTED]]
    order = np.argsort(replay.estimates[-1], kind="stable")
    order = order[np.isfinite(replay.estimates[-1][order])]
    others = order[~np.isin(order, drifted)]
    more = others[evenly(len(others), N_COLORS - len(drifted))] if len(others) else others
    return [*drifted, *more.tolist()]
