"""C-ColME and CL-ColME: neighbours keep averaging one number.

Lives here: the compiled loop over steps, agents and links.  Must not know files, progress bars or
problems.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled, kernel
from colme.neighbours.links import GraphSetting, UncutLinks, cut_links, looks_alike
from colme.neighbours.method import Reset

Array = NDArray[np.float64]

FADING = 1 / 16
"""The share of the past that fading remembers: the longest that never hurt beside local means."""
MEAN, VALUE, DEGREE, LAST_CUT = range(4)
"""What an agent sends to its neighbours: x̄, y, its uncut links, the step of the last cut known."""


class ConsensusState(NamedTuple):
    """The state of a fleet between two steps.

    Attributes
    ----------
    sent
        float64[2, agent, 4]: what all agents sent after the last step and the one before it, by
        `MEAN`, `VALUE`, `DEGREE` and `LAST_CUT`.
    uncut
        Which links are left.
    fleet_cut, n_wrong
        int64[1], known to no device: the step of the last cut anywhere, and how many links join
        different labels.

    Examples
    --------
    >>> from colme.contacts import Contacts
    >>> from colme.neighbours import METHODS, graph, links
    >>> all_three, limits = graph.Graph.of(Contacts.everyone(3)), links.Limits(*np.ones((2, 9)))
    >>> setting = GraphSetting.of(METHODS["c-colme"], all_three, limits, np.array([0, 0, 1]))
    >>> ConsensusState.start(setting).n_wrong.tolist()
    [4]
    """

    sent: Array
    uncut: UncutLinks
    fleet_cut: NDArray[np.int64]
    n_wrong: NDArray[np.int64]

    @classmethod
    def start(cls, setting: GraphSetting) -> ConsensusState:
        """Return a fleet that has sent nothing yet but its degrees."""
        graph, labels = setting.graph, setting.labels
        sent = np.zeros((2, labels.size, 4))
        sent[:, :, DEGREE] = np.diff(graph.starts)
        n_wrong = np.count_nonzero(labels[graph.owners] != labels[graph.peers])
        return cls(sent, UncutLinks.start(graph), np.array([0]), np.array([n_wrong]))


@kernel
def run_consensus(
    setting: GraphSetting, state: ConsensusState, samples: Array, start: int, estimates: Array
) -> None:
    """Run steps `start` + 1, ... of samples[step, agent]; write estimates[agent, step].

    Agents hear what was sent after the step before.

    Examples
    --------
    >>> from colme.contacts import Contacts
    >>> from colme.neighbours import METHODS
    >>> from colme.neighbours.graph import Graph
    >>> from colme.neighbours.links import Limits
    >>> graph, limits = Graph.of(Contacts.everyone(2)), Limits(*np.full((2, 9), np.inf))
    >>> setting = GraphSetting.of(METHODS["c-colme"], graph, limits, np.zeros(2, np.int64))
    >>> samples, estimates = np.array([[0.0, 1.0]] * 9), np.empty((2, 9))
    >>> run_consensus(setting, ConsensusState.start(setting), samples, 0, estimates)
    >>> estimates[:, [0, 1, 8]].round(2).tolist()
    [[0.0, 0.25, 0.44], [1.0, 0.75, 0.56]]

    Notes
    -----
    y(t) = (1 - α) x̄(t) + α (y(t-1) + Σ_b W_ab (y_b(t-1) - y(t-1))), over links in use, with
    α = k / (1 + k) for a memory of k steps; W_ab = β, or 1 / (1 + the larger degree of both ends).
    An agent whose links are all cut keeps x̄; as published it keeps a mean of its past means.
    """
    is_one_sided, n_agents = setting.is_one_sided, setting.labels.size
    for i in range(samples.shape[0]):
        s = start + i
        old, new = state.sent[s % 2], state.sent[(s + 1) % 2]
        fleet_cut = fleet_wrong = 0
        for a in range(n_agents):
            before = old[a, MEAN]
            mean = before + (samples[i, a] - before) / (s + 1)
            own = mean if is_one_sided else before
            n_cut, n_wrong = cut_links(setting, state.uncut, old[:, MEAN], a, own, s)
            fleet_cut += n_cut
            fleet_wrong += n_wrong
            degree = old[a, DEGREE] - n_cut
            # As published an end knows its own cuts before the other does; else weights agree.
            shown = degree if is_one_sided else old[a, DEGREE]
            pull, last = _listen(setting, state.uncut, old, a, own, shown, s)
            last = float(s) if n_cut > 0 else last
            memory = remembered_steps(setting.reset, s, last, float(state.fleet_cut[0]))
            if degree == 0.0 and not is_one_sided:
                memory = 0.0  # nobody is left: its own past would only hold it back
            alpha = memory / (1.0 + memory)
            value = (1.0 - alpha) * mean + alpha * (old[a, VALUE] + pull)
            new[a, MEAN], new[a, VALUE] = mean, value
            new[a, DEGREE], new[a, LAST_CUT] = degree, last
            estimates[a, i] = value
        if fleet_cut > 0 and state.n_wrong[0] > 0:
            state.fleet_cut[0] = s
        state.n_wrong[0] -= fleet_wrong


@compiled
def remembered_steps(reset: int, s: int, last: float, fleet_last: float) -> float:
    """Return how many steps are remembered after `s` steps.

    The agent knows of cuts up to step `last`; the last one anywhere was at step `fleet_last`.

    Examples
    --------
    >>> [remembered_steps(reset, 32, 30.0, 31.0) for reset in Reset]
    [2.0, 1.0, 2.0]
    """
    if reset == Reset.FADING:
        return s * FADING
    return s - (fleet_last if reset == Reset.GLOBAL_PUBLISHED else last)


@compiled
def _listen(
    setting: GraphSetting, uncut: UncutLinks, old: Array, a: int, own: float, degree: float, s: int
) -> tuple[float, float]:
    """Return Σ_b W_ab (y_b - y_a) over the links in use, and the last cut known to any end."""
    graph, likely = setting.graph, setting.limits.likely[s]
    pull, value, last = 0.0, old[a, VALUE], old[a, LAST_CUT]
    first = graph.starts[a]
    for j in range(first, first + uncut.degrees[a]):
        b = graph.peers[uncut.order[j]]
        last = max(last, old[b, LAST_CUT])
        if looks_alike(own, old[b, MEAN], likely):
            weight = setting.beta
            if weight == 0.0:
                weight = 1.0 / (1.0 + max(degree, old[b, DEGREE]))
            pull += weight * (old[b, VALUE] - value)
    return pull, last
