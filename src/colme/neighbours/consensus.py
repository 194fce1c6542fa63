"""C-ColME and CL-ColME: neighbours keep averaging one number.

Lives here: the compiled loop over steps, agents and links.  Must not know files, progress bars or
problems.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled, kernel
from colme.neighbours.graph import Graph
from colme.neighbours.limits import Limits
from colme.neighbours.method import Method, Reset, Weights
from colme.neighbours.testing import Uncut, cut_links, looks_alike

__all__ = ["Agreeing", "Manner", "agree", "memory_of"]

Array = NDArray[np.float64]

MEAN, VALUE, DEGREE, LAST_CUT = range(4)
"""What an agent says of itself: x̄, y, its number of uncut links, the last cut it knows of."""
FADING = 1 / 16
"""The share of the past that fading remembers: the longest that never hurt beside local means."""


class Manner(NamedTuple):
    """A method, as the loop reads it.

    Attributes
    ----------
    reset
        One of `Reset`.
    is_one_sided
        Whether each end of a link decides with its newest mean and degree.
    beta
        The weight of each link; 0: by degrees.

    Examples
    --------
    >>> Manner.of(Method("consensus", weights="laplacian"), largest_degree=3).beta
    0.25
    """

    reset: int
    is_one_sided: bool
    beta: float

    @classmethod
    def of(cls, method: Method, largest_degree: int) -> Manner:
        """Return the manner of a method on a graph, β = 1 / (1 + its largest degree)."""
        beta = 1 / (1 + largest_degree) if method.weights == Weights.LAPLACIAN else 0.0
        return cls(int(method.reset), method.is_one_sided, beta)


class Agreeing(NamedTuple):
    """The state of a fleet between two steps.

    Attributes
    ----------
    said
        float64[2, agent, word]: what all said after the last step and the one before it, the
        mean, the value, the degree and the last cut of each.
    uncut
        Which links are left.
    fleet
        int64[2]: the step after the last cut anywhere, and how many links are wrong; which no
        device knows.

    Examples
    --------
    >>> from colme.contacts import Contacts
    >>> from colme.neighbours.graph import graph_of
    >>> Agreeing.start(graph_of(Contacts.everyone(3)), np.array([0, 0, 1])).fleet.tolist()
    [0, 4]
    """

    said: Array
    uncut: Uncut
    fleet: NDArray[np.int64]

    @classmethod
    def start(cls, graph: Graph, labels: NDArray[np.int64]) -> Agreeing:
        """Return a fleet that has not said anything yet but its degrees."""
        said = np.zeros((2, labels.size, 4))
        said[:, :, DEGREE] = np.diff(graph.starts)
        n_wrong = np.count_nonzero(labels[graph.owners] != labels[graph.peers])
        return cls(said, Uncut.start(graph), np.array([0, n_wrong]))


@kernel
def agree(
    graph: Graph,
    limits: Limits,
    manner: Manner,
    state: Agreeing,
    labels: NDArray[np.int64],
    samples: Array,
    start: int,
    estimates: Array,
) -> None:
    """Run steps `start` + 1, ... of samples[step, agent]; write estimates[agent, step].

    Everything heard was said after the step before.

    Examples
    --------
    >>> from colme.contacts import Contacts
    >>> from colme.neighbours.graph import graph_of
    >>> graph, labels = graph_of(Contacts.everyone(2)), np.zeros(2, np.int64)
    >>> limits, manner = Limits(*np.full((2, 9), np.inf)), Manner(0, False, 0.0)
    >>> samples, estimates = np.array([[0.0, 1.0]] * 9), np.empty((2, 9))
    >>> agree(graph, limits, manner, Agreeing.start(graph, labels), labels, samples, 0, estimates)
    >>> estimates[:, [0, 1, 8]].round(2).tolist()
    [[0.0, 0.25, 0.44], [1.0, 0.75, 0.56]]

    Notes
    -----
    y(t) = (1 - α) x̄(t) + α (y(t-1) + Σ_b W_ab (y_b(t-1) - y(t-1))), over links in use, with
    α = k / (1 + k) for a memory of k steps; W_ab = β, or 1 / (1 + the larger degree of both ends).
    Whose links are all cut is left with x̄; as published it is left with a mean of its past means.
    """
    n_steps, n_agents = samples.shape
    for i in range(n_steps):
        s = start + i
        old, new = state.said[s % 2], state.said[(s + 1) % 2]
        fleet_cut = fleet_wrong = 0
        for a in range(n_agents):
            before = old[a, MEAN]
            mean = before + (samples[i, a] - before) / (s + 1)
            own = mean if manner.is_one_sided else before
            n_cut, n_wrong = cut_links(
                graph, state.uncut, old[:, MEAN], a, own, limits.cut[s], labels
            )
            fleet_cut += n_cut
            fleet_wrong += n_wrong
            degree = old[a, DEGREE] - n_cut
            # As published an end knows its own cuts before the other does; else weights agree.
            judged = degree if manner.is_one_sided else old[a, DEGREE]
            pull, last = _listen(graph, state.uncut, old, a, own, limits.likely[s], judged, manner)
            last = float(s) if n_cut > 0 else last
            memory = memory_of(manner.reset, s, last, float(state.fleet[0]))
            if degree == 0.0 and not manner.is_one_sided:
                memory = 0.0  # nobody is left: its own past would only hold it back
            alpha = memory / (1.0 + memory)
            value = (1.0 - alpha) * mean + alpha * (old[a, VALUE] + pull)
            new[a, MEAN], new[a, VALUE] = mean, value
            new[a, DEGREE], new[a, LAST_CUT] = degree, last
            estimates[a, i] = value
        if fleet_cut > 0 and state.fleet[1] > 0:
            state.fleet[0] = s
        state.fleet[1] -= fleet_wrong


@compiled
def memory_of(reset: int, s: int, last: float, fleet_last: float) -> float:
    """Return how many steps are remembered after `s` steps, `last` being the last cut known of.

    Examples
    --------
    >>> [memory_of(reset, 32, 30.0, 31.0) for reset in Reset]
    [2.0, 1.0, 2.0]
    """
    if reset == Reset.FADING:
        return s * FADING
    return s - (fleet_last if reset == Reset.GLOBAL_PUBLISHED else last)


@compiled
def _listen(
    graph: Graph,
    uncut: Uncut,
    old: Array,
    a: int,
    own: float,
    likely: float,
    degree: float,
    manner: Manner,
) -> tuple[float, float]:
    """Return Σ_b W_ab (y_b - y_a) over the links in use, and the last cut known to any end."""
    pull, value, last = 0.0, old[a, VALUE], old[a, LAST_CUT]
    first = graph.starts[a]
    for j in range(first, first + uncut.degrees[a]):
        b = graph.peers[uncut.order[j]]
        last = max(last, old[b, LAST_CUT])
        if looks_alike(own, old[b, MEAN], likely):
            weight = manner.beta
            if weight == 0.0:
                weight = 1.0 / (1.0 + max(degree, old[b, DEGREE]))
            pull += weight * (old[b, VALUE] - value)
    return pull, last
