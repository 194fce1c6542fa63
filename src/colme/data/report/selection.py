"""Which agents are shown where there is no room for all.

Lives here: the highest, the lowest, and some between.  Must not know markup.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colme.data.estimator import Estimates


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
    return np.concatenate(
        [np.arange(third), inner.round().astype(np.intp), np.arange(n - third, n)]
    )
