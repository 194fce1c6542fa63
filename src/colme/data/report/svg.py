"""Lines, dots and words of a picture, as SVG that is part of the page.

Lives here: markup and scales.  Horizontal places are percents, so a picture fits any screen while
words keep their size.  Must not know what is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike

N_COLORS = 7
"""Number of colours; after the last, the first is used again."""

# About this many ticks, the first number for which there is room.
_TICKS = (6, 4, 2, 1)
# This many letters fit beside each other, on a narrow screen too.
_ROOM = 28
# Margin at both ends of a scale, as a share of it.
_FILL = 0.04


@dataclass(frozen=True)
class Scale:
    """Where numbers lie across a picture, in percent.

    Parameters
    ----------
    low, high
        The numbers at the two ends.

    Examples
    --------
    >>> Scale(0.0, 2.0).at(0.5), Scale(0.0, 2.0).at(99.0)
    (25.0, 100.0)
    >>> list(Scale(0.0, 1.1).ticks()), Scale(5e6, 5.1e6).ticks()
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], {5000000.0: '5000000', 5050000.0: '5050000', \
5100000.0: '5100000'})
    """

    low: float
    high: float

    @classmethod
    def of(cls, values: ArrayLike, reach: float = 0.0) -> Scale:
        """Return a scale with room for all finite values, and for `reach` beyond them."""
        found = np.asarray(values, dtype=np.float64)
        found = found[np.isfinite(found)]
        low, high = (float(found.min()), float(found.max())) if len(found) else (0.0, 0.0)
        low, high = low - reach, high + reach
        room = (high - low) * _FILL or abs(low) * 0.1 or 1.0
        return cls(low - room, high + room)

    def at(self, value: float) -> float:
        """Return the place of a number; beyond the ends, the end."""
        return 100 * min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def ticks(self) -> dict[float, str]:
        """Return a few round numbers on the scale with their texts, fewer if these are long."""
        for most in _TICKS:
            rough = (self.high - self.low) / most
            power = 10.0 ** math.floor(math.log10(rough))
            step = power * next(s for s in (1, 2, 2.5, 5, 10) if s * power >= rough * (1 - 1e-9))
            decimals = 1 - math.floor(math.log10(power))
            places = range(math.ceil(self.low / step), math.floor(self.high / step) + 1)
            found = {tick: f"{tick:.15g}" for k in places for tick in [round(k * step, decimals)]}
            texts = set(found.values())
            if len(texts) == len(places) and sum(map(len, found.values())) <= _ROOM:
                return found
        return {}


def color(number: int) -> str:
    """Return the style of a colour by number; after the last comes the first again.

    Examples
    --------
    >>> color(1), color(8)
    ('c1', 'c1')
    """
    return f"c{number % N_COLORS}"


def line(x1: float, y1: float, x2: float, y2: float, style: str, hint: str = "") -> str:
    """Return a line: across in percent, down in pixels.

    Examples
    --------
    >>> line(0, 5, 100, 5, "axis")
    '<line x1="0.00%" y1="5.0" x2="100.00%" y2="5.0" class="axis"/>'
    """
    places = f'x1="{x1:.2f}%" y1="{y1:.1f}" x2="{x2:.2f}%" y2="{y2:.1f}"'
    return _element("line", f'{places} class="{style}"', hint)


def dot(x: float, y: float, radius: float, style: str, hint: str = "") -> str:
    """Return a dot.

    Examples
    --------
    >>> dot(50, 9, 3, "c0", "me & you")
    '<circle cx="50.00%" cy="9.0" r="3.0" class="c0"><title>me &amp; you</title></circle>'
    """
    places = f'cx="{x:.2f}%" cy="{y:.1f}" r="{radius:.1f}"'
    return _element("circle", f'{places} class="{style}"', hint)


def _element(kind: str, attributes: str, hint: str) -> str:
    if not hint:
        return f"<{kind} {attributes}/>"
    return f"<{kind} {attributes}><title>{escape(hint)}</title></{kind}>"


def word(x: float, y: float, text: str, style: str = "") -> str:
    """Return a piece of text; `mid` and `end` in the style say what of it lies at x.

    Examples
    --------
    >>> word(0, 12, "a < b", "mid")
    '<text x="0.00%" y="12.0" class="mid">a &lt; b</text>'
    """
    return f'<text x="{x:.2f}%" y="{y:.1f}" class="{style}">{escape(text)}</text>'


def area(left: float, width: float, parts: Iterable[str], clipped: bool = False) -> str:
    """Return a part of the picture with percents of its own.

    Examples
    --------
    >>> area(30, 70, ["<g/>"])
    '<svg x="30.00%" width="70.00%" class="open"><g/></svg>'
    """
    style = "" if clipped else ' class="open"'
    return f'<svg x="{left:.2f}%" width="{width:.2f}%"{style}>{"".join(parts)}</svg>'


def grid(scale: Scale, top: float, bottom: float) -> str:
    """Return a line at each round number, and the numbers below.

    Examples
    --------
    >>> grid(Scale(0.0, 1.0), 0, 50).count("<text")
    6
    """
    return "".join(
        line(scale.at(tick), top, scale.at(tick), bottom, "grid")
        + word(scale.at(tick), bottom + 15, text, "mid soft")
        for tick, text in scale.ticks().items()
    )


def picture(height: float, label: str, parts: Sequence[str]) -> str:
    """Return the whole picture, as wide as there is room.

    Examples
    --------
    >>> picture(80, "nothing", [])
    '<svg role="img" aria-label="nothing" height="80"></svg>'
    """
    head = f'<svg role="img" aria-label="{escape(label)}" height="{height:.0f}">'
    return f"{head}{''.join(parts)}</svg>"
