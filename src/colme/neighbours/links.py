"""When a link is cut for good, and when it is used.

Lives here: the largest allowed differences of two means, and the decisions of one agent about its
links.  Must not know what goes over a link.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled
from colme.algorithm import ClassTest
from colme.bounds import default_bound, split_risk
from colme.neighbours.graph import Graph
from colme.neighbours.method import Links, LinkWeights, Method

Array = NDArray[np.float64]


class Limits(NamedTuple):
    """The largest allowed differences of two means, by the number of samples heard of.

    Examples
    --------
    >>> limits_of(Method("consensus"), sigma=1.0, delta=0.1, n_links=1, horizon=2).cut[0]
    np.float64(inf)

    Attributes
    ----------
    cut
        float64[count]: a link is cut beyond this.
    likely
        float64[count]: a link is not used for now beyond this; infinite if all uncut links are.
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
        radii = default_bound(ClassTest.OVERLAP, sigma, gamma).radius(
            np.append(counts, horizon + 1)
        )
        radii[1] = math.inf
        cut = radii[1:] + radii[:-1]
    else:
        cut = default_bound(ClassTest.JOINT, math.sqrt(2) * sigma, gamma).radius(counts)
    likely = np.full(counts.size, math.inf)
    if method.links == Links.LIKELY:
        likely[1:] = sigma * np.sqrt(2 * np.log1p(counts[1:]) / counts[1:])
    return Limits(cut, likely)


class GraphSetting(NamedTuple):
    """Everything that stays the same over all steps and runs.

    Attributes
    ----------
    graph, limits
        The links, and when they are cut or used.
    labels
        int64[agent]: the true classes, which no device knows.
    hops
        How far messages travel.
    is_one_sided
        Whether each end of a link decides with its newest mean and degree.
    reset
        One of `Reset`.
    beta
        The weight of each link in a consensus; 0: by degrees.

    Examples
    --------
    >>> from colme.contacts import Contacts
    >>> graph, method = Graph.of(Contacts.everyone(4)), Method("consensus", weights="laplacian")
    >>> limits = limits_of(method, sigma=0.5, delta=0.1, n_links=graph.n_links, horizon=9)
    >>> GraphSetting.of(method, graph, limits, labels=np.zeros(4, np.int64)).beta
    0.25
    """

    graph: Graph
    limits: Limits
    labels: NDArray[np.int64]
    hops: int
    is_one_sided: bool
    reset: int
    beta: float

    @classmethod
    def of(
        cls, method: Method, graph: Graph, limits: Limits, labels: NDArray[np.int64]
    ) -> GraphSetting:
        """Return a method on a graph, with β = 1 / (1 + the largest degree)."""
        beta = 1 / (1 + graph.largest_degree) if method.weights == LinkWeights.LAPLACIAN else 0.0
        one_sided = method.is_one_sided
        return cls(graph, limits, labels, method.hops, one_sided, int(method.reset), beta)


class UncutLinks(NamedTuple):
    """The links that are left.

    Attributes
    ----------
    degrees
        int64[agent]: how many links of each agent are uncut.
    order
        int64[link]: the links of each agent, the uncut ones first, so that loops meet no others.

    Examples
    --------
    >>> from colme.contacts import Contacts
    >>> UncutLinks.start(Graph.of(Contacts.everyone(3))).degrees.tolist()
    [2, 2, 2]
    """

    degrees: NDArray[np.int64]
    order: NDArray[np.int64]

    @classmethod
    def start(cls, graph: Graph) -> UncutLinks:
        """Return all links."""
        return cls(np.diff(graph.starts), np.arange(graph.peers.size))


@compiled
def looks_alike(own: float, heard: float, limit: float) -> bool:
    """Return whether two means differ by at most `limit`.

    Examples
    --------
    >>> looks_alike(0.2, 0.5, 0.4)
    True
    """
    return abs(own - heard) <= limit


@compiled
def cut_links(
    setting: GraphSetting, uncut: UncutLinks, heard: Array, a: int, own: float, s: int
) -> tuple[int, int]:
    """Cut the links of agent a to means too far from its own after `s` steps.

    Returns how many links were cut, and how many of them led to another label.

    Examples
    --------
    >>> from colme.contacts import Contacts
    >>> graph, limits = Graph.of(Contacts.everyone(3)), Limits(*np.full((2, 9), 0.5))
    >>> setting = GraphSetting.of(Method("consensus"), graph, limits, np.array([0, 1, 0]))
    >>> uncut, means = UncutLinks.start(graph), np.array([0.0, 0.9, 0.1])
    >>> cut_links(setting, uncut, means, 0, own=0.0, s=5)
    (1, 1)
    >>> uncut.degrees.tolist()
    [1, 2, 2]
    """
    graph, labels, limit = setting.graph, setting.labels, setting.limits.cut[s]
    n_cut = n_wrong = 0
    first, order = graph.starts[a], uncut.order
    # From the last on: the link that takes the position of a cut one was looked at before.
    for j in range(first + uncut.degrees[a] - 1, first - 1, -1):
        e = order[j]
        b = graph.peers[e]
        if not looks_alike(own, heard[b], limit):
            uncut.degrees[a] -= 1
            last = first + uncut.degrees[a]
            order[j], order[last] = order[last], e
            n_cut += 1
            n_wrong += 1 if labels[a] != labels[b] else 0
    return n_cut, n_wrong
