"""B-ColME: sums of local means travel from neighbour to neighbour, hop by hop.

Lives here: the compiled loop over steps, agents and links.  Must not know files, progress bars or
problems.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled, kernel
from colme.neighbours.links import GraphSetting, UncutLinks, cut_links, looks_alike

Array = NDArray[np.float64]


class MessageState(NamedTuple):
    """The state of a fleet; the first axis of size 2: after the last step and the one before it.

    Attributes
    ----------
    means
        float64[2, agent]: the local means.
    totals
        float64[2, agent, 2 × hops]: sum and number of the local means that have come to each agent
        over one hop, over two hops, and so on: side by side, as they are computed.
    sent
        float64[2, link, 2 × (hops - 1)]: what each end of a link has sent to the other.
    used
        int64[2, link]: after how many steps an agent last listened over a link.
    uncut
        Which links are left.
    received
        float64[neighbour, 2 × hops]: scratch space for what one agent receives.

    Examples
    --------
    >>> from colme import Contacts
    >>> from colme.neighbours import Method, graph, links
    >>> triangle, limits = graph.Graph.of(Contacts.everyone(3)), links.Limits(*np.zeros((2, 9)))
    >>> setting = GraphSetting.of(Method("messages"), triangle, limits, np.zeros(3, np.int64))
    >>> MessageState.start(setting).sent.shape
    (2, 6, 6)
    """

    means: Array
    totals: Array
    sent: Array
    used: NDArray[np.int64]
    uncut: UncutLinks
    received: Array

    @classmethod
    def start(cls, setting: GraphSetting) -> MessageState:
        """Return a fleet that has sent nothing yet."""
        graph, n_agents, hops = setting.graph, setting.labels.size, setting.hops
        n_ends = graph.peers.size
        return cls(
            np.zeros((2, n_agents)),
            np.zeros((2, n_agents, 2 * hops)),
            np.zeros((2, n_ends, 2 * (hops - 1))),
            np.full((2, n_ends), -2),
            UncutLinks.start(graph),
            np.zeros((graph.largest_degree, 2 * hops)),
        )


@kernel
def run_messages(
    setting: GraphSetting, state: MessageState, samples: Array, start: int, estimates: Array
) -> None:
    """Run the steps after `start` on samples[step, agent]; write estimates[agent, step].

    Notes
    -----
    Agents receive what was sent after the step before.  Agent a sends to b its own mean, and one
    hop further all that came from others than b: the total less what came from b.  So the work is
    links × hops, not links × neighbours × hops.  What came from a is what a has sent, so a can
    subtract it from b's total itself, which reads memory in order.

    Examples
    --------
    >>> from colme import Contacts
    >>> from colme.neighbours import Method, graph, links
    >>> pair, limits = graph.Graph.of(Contacts.everyone(2)), links.Limits(*np.full((2, 9), 9.0))
    >>> one_hop = Method("messages", hops=1)
    >>> setting = GraphSetting.of(one_hop, pair, limits, np.zeros(2, np.int64))
    >>> samples, estimates = np.array([[0.0, 1.0]] * 9), np.empty((2, 9))
    >>> run_messages(setting, MessageState.start(setting), samples, 0, estimates)
    >>> estimates[0, [0, 1, 8]].round(2).tolist()  # 0, then 1 sample of 3, then 8 of 17
    [0.0, 0.33, 0.47]
    """
    for i in range(samples.shape[0]):
        s = start + i
        means = state.means[s % 2]
        for a in range(means.size):
            before = means[a]
            mean = before + (samples[i, a] - before) / (s + 1)
            own = mean if setting.is_one_sided else before
            cut_links(setting, state.uncut, means, a, own, s)
            _receive(setting, state, a, s, own)
            _send(setting, state, a, s, mean)
            state.means[(s + 1) % 2, a] = mean
            estimates[a, i] = mean_of_all(state.totals[(s + 1) % 2, a], mean, s)


@compiled
def mean_of_all(totals: Array, mean: float, s: int) -> float:
    """Return the mean of all samples heard of after `s` steps and one more, the own ones included.

    Local means that have come over h + 1 hops are of s - h samples each.

    Examples
    --------
    >>> float(mean_of_all(np.array([2.0, 2.0, 3.0, 1.0]), 0.0, 3))  # 4 own, twice 3 and once 2
    1.0
    """
    weights = s + 1.0
    total = weights * mean
    for h in range(min(s, totals.size // 2)):
        total += (s - h) * totals[2 * h]
        weights += (s - h) * totals[2 * h + 1]
    return total / weights


@compiled
def _receive(setting: GraphSetting, state: MessageState, a: int, s: int, own: float) -> None:
    """Take what comes over the links in use, and its total; nothing over the others."""
    graph, likely = setting.graph, setting.limits.likely[s]
    old, new = s % 2, (s + 1) % 2
    first = graph.starts[a]
    totals, means = state.totals[new, a], state.means[old]
    hops = totals.size // 2
    for k in range(totals.size):
        totals[k] = 0.0
    for j in range(state.uncut.degrees[a]):
        e = state.uncut.order[first + j]
        b, received = graph.peers[e], state.received[j]
        used = s > 0 and looks_alike(own, means[b], likely)
        # The other end listened to what was sent two steps ago: it must not come back.
        back = graph.reverse[e] if setting.is_one_sided else e
        echo = 1.0 if state.used[old, back] == s - 1 else 0.0
        kept = 1.0 if used else 0.0
        if used:
            state.used[new, e] = s
        theirs, mine = state.totals[old, b], state.sent[new, e]
        total, n = kept * means[b], kept
        for h in range(hops):
            received[2 * h], received[2 * h + 1] = total, n
            totals[2 * h] += total
            totals[2 * h + 1] += n
            if h < hops - 1:
                total = kept * (theirs[2 * h] - echo * mine[2 * h])
                n = kept * (theirs[2 * h + 1] - echo * mine[2 * h + 1])


@compiled
def _send(setting: GraphSetting, state: MessageState, a: int, s: int, mean: float) -> None:
    """Send the own mean over every link, and what came over the others one hop further."""
    new = (s + 1) % 2
    first, totals = setting.graph.starts[a], state.totals[new, a]
    n_numbers = totals.size - 2
    if n_numbers == 0:
        return
    for j in range(state.uncut.degrees[a]):
        message, received = state.sent[new, state.uncut.order[first + j]], state.received[j]
        message[0], message[1] = mean, 1.0
        for k in range(n_numbers - 2):
            message[k + 2] = totals[k] - received[k]
