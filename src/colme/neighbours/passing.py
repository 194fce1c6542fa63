"""B-ColME: sums of local means travel from neighbour to neighbour, hop by hop.

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
from colme.neighbours.testing import Uncut, cut_links, looks_alike

__all__ = ["Passing", "pass_on", "weigh"]

Array = NDArray[np.float64]


class Passing(NamedTuple):
    """The state of a fleet between two steps: of most, the last and the one before it.

    Attributes
    ----------
    means
        float64[2, agent]: the local means.
    totals
        float64[2, agent, 2 × hops]: sum and number of the local means that have come to each agent
        over one hop, over two hops, and so on.
    sent
        float64[2, link, 2 × (hops - 1)]: what each end of a link has sent to the other.
    used
        int64[2, link]: after how many steps an agent last listened over a link.
    uncut
        Which links are left.
    received
        float64[neighbour, 2 × hops]: room for what one agent receives.

    Examples
    --------
    >>> from colme.contacts import Contacts
    >>> from colme.neighbours.graph import graph_of
    >>> Passing.start(graph_of(Contacts.everyone(3)), n_agents=3, hops=4).sent.shape
    (2, 6, 6)
    """

    means: Array
    totals: Array
    sent: Array
    used: NDArray[np.int64]
    uncut: Uncut
    received: Array

    @classmethod
    def start(cls, graph: Graph, n_agents: int, hops: int) -> Passing:
        """Return a fleet that has not said anything yet."""
        n_ends = graph.peers.size
        return cls(
            np.zeros((2, n_agents)),
            np.zeros((2, n_agents, 2 * hops)),
            np.zeros((2, n_ends, 2 * (hops - 1))),
            np.full((2, n_ends), -2),
            Uncut.start(graph),
            np.zeros((graph.largest_degree, 2 * hops)),
        )


@kernel
def pass_on(
    graph: Graph,
    limits: Limits,
    is_one_sided: bool,
    state: Passing,
    labels: NDArray[np.int64],
    samples: Array,
    start: int,
    estimates: Array,
) -> None:
    """Run steps `start` + 1, ... of samples[step, agent]; write estimates[agent, step].

    Everything received was sent after the step before.

    Examples
    --------
    >>> from colme.contacts import Contacts
    >>> from colme.neighbours.graph import graph_of
    >>> graph, labels = graph_of(Contacts.everyone(2)), np.zeros(2, np.int64)
    >>> limits, state = Limits(*np.full((2, 9), np.inf)), Passing.start(graph, 2, hops=1)
    >>> samples, estimates = np.array([[0.0, 1.0]] * 9), np.empty((2, 9))
    >>> pass_on(graph, limits, False, state, labels, samples, 0, estimates)
    >>> estimates[0, [0, 1, 8]].round(2).tolist()  # 0, then 1 sample of 3, then 8 of 17
    [0.0, 0.33, 0.47]

    Notes
    -----
    To b goes the own mean, and one hop further all that came from others than b: the total less
    what came from b, so the work is links × hops and not links × neighbours × hops.  What came from
    a is what a has sent, so a can tell from b's total alone, and memory is read in its order.
    """
    n_steps, n_agents = samples.shape
    for i in range(n_steps):
        s = start + i
        means = state.means[s % 2]
        for a in range(n_agents):
            before = means[a]
            mean = before + (samples[i, a] - before) / (s + 1)
            own = mean if is_one_sided else before
            cut_links(graph, state.uncut, means, a, own, limits.cut[s], labels)
            _receive(graph, state, a, s, own, limits.likely[s], is_one_sided)
            _send(graph, state, a, s, mean)
            state.means[(s + 1) % 2, a] = mean
            estimates[a, i] = weigh(state.totals[(s + 1) % 2, a], mean, s)


@compiled
def weigh(totals: Array, mean: float, s: int) -> float:
    """Return the mean of all samples heard of in the step after `s` steps, one's own among them.

    Local means that have come over h + 1 hops are of s - h samples each.

    Examples
    --------
    >>> float(weigh(np.array([2.0, 2.0, 3.0, 1.0]), 0.0, 3))  # 4 own, twice 3 and once 2
    1.0
    """
    weights = s + 1.0
    total = weights * mean
    for h in range(min(s, totals.size // 2)):
        total += (s - h) * totals[2 * h]
        weights += (s - h) * totals[2 * h + 1]
    return total / weights


@compiled
def _receive(
    graph: Graph,
    state: Passing,
    a: int,
    s: int,
    own: float,
    likely: float,
    is_one_sided: bool,
) -> None:
    """Take what comes over the links in use, and its total; nothing over the others."""
    old, new = s % 2, (s + 1) % 2
    first = graph.starts[a]
    totals, means = state.totals[new, a], state.means[old]
    hops = totals.size // 2
    for k in range(totals.size):
        totals[k] = 0.0
    for j in range(state.uncut.degrees[a]):
        e = state.uncut.order[first + j]
        b, news = graph.peers[e], state.received[j]
        used = s > 0 and looks_alike(own, means[b], likely)
        # The other end listened to what was sent two steps ago: it must not come back.
        back = graph.reverse[e] if is_one_sided else e
        echo = 1.0 if state.used[old, back] == s - 1 else 0.0
        kept = 1.0 if used else 0.0
        if used:
            state.used[new, e] = s
        theirs, mine = state.totals[old, b], state.sent[new, e]
        total, n = kept * means[b], kept
        for h in range(hops):
            news[2 * h], news[2 * h + 1] = total, n
            totals[2 * h] += total
            totals[2 * h + 1] += n
            if h < hops - 1:
                total = kept * (theirs[2 * h] - echo * mine[2 * h])
                n = kept * (theirs[2 * h + 1] - echo * mine[2 * h + 1])


@compiled
def _send(graph: Graph, state: Passing, a: int, s: int, mean: float) -> None:
    """Send the own mean over every link, and what came over the others one hop further."""
    new = (s + 1) % 2
    first, totals = graph.starts[a], state.totals[new, a]
    n_words = totals.size - 2
    if n_words == 0:
        return
    for j in range(state.uncut.degrees[a]):
        letter, news = state.sent[new, state.uncut.order[first + j]], state.received[j]
        letter[0], letter[1] = mean, 1.0
        for k in range(n_words - 2):
            letter[k + 2] = totals[k] - news[k]
