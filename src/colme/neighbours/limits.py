"""How far apart two means may be: before a link is cut for good, and to look alike.

Lives here: the tests of a link as numbers, one for each count of samples.  Must not know graphs or
how links are used.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme.algorithm import ClassTest
from colme.bounds import split_risk, usual_bound
from colme.neighbours.method import Links, Method

__all__ = ["Limits", "limits_of", "link_risk"]

Array = NDArray[np.float64]


class Limits(NamedTuple):
    """The largest differences of two means that are allowed, by how many samples were heard of.

    Attributes
    ----------
    cut
        float64[count]: beyond this a link is cut.
    likely
        float64[count]: beyond this it is not used for now; infinite if all uncut links are.

    Examples
    --------
    >>> limits_of(Method("consensus"), sigma=1.0, delta=0.1, n_links=1, horizon=2).cut[0]
    np.float64(inf)
    """

    cut: Array
    likely: Array


def link_risk(method: Method, delta: float, n_links: int) -> float:
    """Return γ, the risk of one interval: δ / (4 |E|), as published half of it.

    Examples
    --------
    >>> link_risk(Method("consensus"), delta=0.1, n_links=25_000)
    1e-06

    Notes
    -----
    The paired test makes one decision for each of the |E| links, and cuts a link between equal
    means with probability at most γ: any of them with probability at most |E| γ = δ/4.  The
    published γ = δ / (4 r A) counts both directions of a link, of which a graph of degree r has
    r A = 2 |E|.
    """
    gamma = split_risk(delta, max(1, n_links))
    return gamma if method.is_one_sided else 2 * gamma


def limits_of(method: Method, sigma: float, delta: float, n_links: int, horizon: int) -> Limits:
    """Return the limits of a method for all steps.

    Examples
    --------
    >>> limits = limits_of(Method("consensus", links="likely"), 2.0, 0.1, 50_000, horizon=500)
    >>> limits.cut[[100, 300, 500]].round(2).tolist()
    [1.79, 0.96, 0.74]
    >>> limits.likely[[100, 300, 500]].round(2).tolist()
    [0.61, 0.39, 0.32]

    Notes
    -----
    Paired, after n samples each: the difference of both means is the mean of n differences, each
    of scale σ√2, so the radius is that of the bound which the joint test uses.  Published:
    β(n) + β(n - 1) with the bound of the paper, and no test of a single sample.  Likely: the
    Bayesian information criterion takes two means of n samples for one if
    n (x̄ - x̄')² / (2σ²) <= ln(1 + n).
    """
    gamma = link_risk(method, delta, n_links)
    counts = np.arange(horizon + 1)
    if method.is_one_sided:
        radii = usual_bound(ClassTest.OVERLAP, sigma, gamma).radius(np.append(counts, horizon + 1))
        radii[1] = math.inf
        cut = radii[1:] + radii[:-1]
    else:
        cut = usual_bound(ClassTest.JOINT, math.sqrt(2) * sigma, gamma).radius(counts)
    likely = np.full(counts.size, math.inf)
    if method.links == Links.LIKELY:
        likely[1:] = sigma * np.sqrt(2 * np.log1p(counts[1:]) / counts[1:])
    return Limits(cut, likely)
