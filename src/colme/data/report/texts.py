"""What fits on the page: which agents, and how numbers are written.

Lives here: the highest, the lowest and some between, and as many decimals as matter.  Must not know
markup or tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme.data.estimator import Estimates

Write: TypeAlias = Callable[[float], str]
"""From a number to its text."""

_NOTHING = "–"
_MOST_DECIMALS = 12
_LARGE = 1e9


def number_text(value: float, decimals: int) -> str:
    """Return a number with that many decimals, a dash if it is not finite.

    Examples
    --------
    >>> [number_text(x, 2) for x in (1234.5678, -0.001, float("inf"), 1.2e12)]
    ['1234.57', '0.00', '–', '1.2e+12']
    """
    if not math.isfinite(value):
        return _NOTHING
    if abs(value) >= _LARGE or decimals > _MOST_DECIMALS:
        return f"{value:.6g}"
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def between(low: float, high: float, write: Write) -> str:
    """Return the two ends of an interval, a dash if there is none.

    Examples
    --------
    >>> between(0.5, 1.0, str), between(float("-inf"), float("inf"), str)
    ('0.5 to 1.0', '–')
    """
    known = math.isfinite(low) and math.isfinite(high)
    return f"{write(low)} to {write(high)}" if known else _NOTHING


def writer(estimates: Estimates) -> Write:
    """Return how to write means: the usual half-width of an interval has two digits or three.

    Examples
    --------
    >>> from colme.data import Summaries, estimate
    >>> table = Summaries.of(["a", "a", "b", "b"], [1.0, 3.0, 2.0, 9.0])
    >>> writer(estimate(table, sigma=1.0))(2.0)
    '2.00'
    """
    radii = (estimates.high - estimates.low) / 2
    radii = radii[np.isfinite(radii) & (radii > 0)]
    width = float(np.median(radii)) if len(radii) else float(np.std(estimates.summaries.means))
    decimals = 2 if width <= 0 else max(0, 2 - math.floor(math.log10(width)))
    return lambda value: number_text(value, decimals)


def ranked(estimates: Estimates) -> NDArray[np.intp]:
    """Return the places of all agents, the highest estimate first.

    Examples
    --------
    >>> from colme.data import Summaries, estimate
    >>> ranked(estimate(Summaries.of(["a", "b", "c"], [1.0, 9.0, 5.0]), sigma=0.1)).tolist()
    [1, 2, 0]
    """
    return np.argsort(-estimates.estimates, kind="stable")


def evenly(n: int, most: int) -> NDArray[np.intp]:
    """Return at most `most` of n places, evenly spread; the first and the last are among them.

    Examples
    --------
    >>> evenly(9, 3).tolist(), evenly(2, 3).tolist()
    ([0, 4, 8], [0, 1])
    """
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.intp)


def ends_and_between(n: int, most: int) -> NDArray[np.intp]:
    """Return at most `most` of n places: a third first, a third last, the rest evenly between.

    Examples
    --------
    >>> ends_and_between(100, 9).tolist()
    [0, 1, 2, 26, 50, 73, 97, 98, 99]
    >>> ends_and_between(4, 9).tolist()
    [0, 1, 2, 3]
    """
    if n <= most:
        return np.arange(n)
    third = most // 3
    inner = np.linspace(third - 1, n - third, most - 2 * third + 2)[1:-1]
    between = inner.round().astype(np.intp)
    return np.concatenate([np.arange(third), between, np.arange(n - third, n)])
