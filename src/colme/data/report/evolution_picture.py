"""The picture of how the estimates of some agents moved over time.

Lives here: which agents, and their lines.  Must not know markup, nor how numbers are found.
"""

from __future__ import annotations

import math
from html import escape
from itertools import pairwise

import numpy as np

from colme.data.evolution import Replay
from colme.data.report.selection import evenly
from colme.data.report.svg import N_COLORS, Scale, area, color, dot, line, picture, word
from colme.data.report.texts import Write, name_text
from colme.pages import picture_html

_DRIFTED = 4
"""At most this many lines are of agents that drifted; the others are spread over the estimates."""
_TOP, _BOTTOM = 10.0, 250.0
_LONGEST = 40


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
    chosen = _chosen(replay)
    scale = Scale.of(replay.estimates[:, chosen])
    lines = [_path(replay, a, number, scale, write) for number, a in enumerate(chosen)]
    drawn = [area(13, 83, [_levels(scale), _times(replay), *lines])]
    keys = "".join(
        f'<li><span class="key {color(number)}"></span>{escape(_name(replay, a))}</li>'
        for number, a in enumerate(chosen)
    )
    caption = (
        f"Estimates of {len(chosen)} of {len(replay.agents)} agents as they would have been at "
        "each moment: some that drifted, if any, and others from the lowest to the highest."
    )
    svg = picture(_BOTTOM + 30, "estimates over time", drawn)
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


def _name(replay: Replay, a: int) -> str:
    return name_text(replay.agents[a], _LONGEST)


def _down(value: float, scale: Scale) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * scale.at(value) / 100


def _across(k: int, n: int) -> float:
    return 50.0 if n == 1 else 100.0 * k / (n - 1)


def _path(replay: Replay, a: int, number: int, scale: Scale, write: Write) -> str:
    """Return a dot for each moment at which the agent was there, joined by lines."""
    n = len(replay)
    points = [
        (_across(k, n), _down(value, scale), f"{_name(replay, a)}, {end}: {write(value)}")
        for k, (end, value) in enumerate(
            zip(replay.ends.tolist(), replay.estimates[:, a].tolist(), strict=True)
        )
        if math.isfinite(value)
    ]
    style = color(number)
    joined = [line(p[0], p[1], q[0], q[1], f"path {style}") for p, q in pairwise(points)]
    return "".join(joined) + "".join(dot(x, y, 2.6, style, hint) for x, y, hint in points)


def _levels(scale: Scale) -> str:
    return "".join(
        line(0, _down(tick, scale), 100, _down(tick, scale), "grid")
        + word(-1.5, _down(tick, scale) + 4, text, "end soft")
        for tick, text in scale.ticks().items()
    )


def _times(replay: Replay) -> str:
    """Return the first and the last moment in words."""
    first, last = name_text(replay.ends[0], 16), name_text(replay.ends[-1], 16)
    words = word(100, _BOTTOM + 20, last, "end soft")
    return words if len(replay) == 1 else word(0, _BOTTOM + 20, first, "soft") + words
