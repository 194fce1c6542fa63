"""Fleets on a graph for tests, and B-, C- and CL-ColME written once more from the formulas.

The second writing uses sets of neighbours and one loop, without regard to speed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import lambertw

from colme import Contacts, Problem
from colme.neighbours.consensus import ConsensusState, run_consensus
from colme.neighbours.graph import Graph
from colme.neighbours.hops import MessageState, run_messages
from colme.neighbours.links import GraphSetting, UncutLinks, limits_of
from colme.neighbours.method import (
    Links,
    LinkTest,
    LinkWeights,
    Method,
    Reset,
    Sharing,
    method_of,
)

Array = NDArray[np.float64]


def paired_cut(n: int, distance: float, sigma: float, gamma: float) -> bool:
    """Return whether n²D² > (v + ρ)(ln(1 + v/ρ) + 2 ln(1/γ)), v = 2nσ², ρ best at n = 1000."""
    v = 2 * n * sigma**2
    rho = 2 * 1000 * sigma**2 / (-lambertw(-(gamma**2) / math.e, -1).real - 1)
    limit: float = (v + rho) * (math.log(1 + v / rho) + 2 * math.log(1 / gamma))
    return bool((n * distance) ** 2 > limit)


def published_radius(n: int, sigma: float, gamma: float) -> float:
    if n < 2:
        return math.inf
    return sigma * math.sqrt(2 / n * (1 + 1 / n) * math.log(math.sqrt(n + 1) / gamma))


@dataclass
class Graphs:
    """A fleet of a few agents: `links[a]` are those whom a has not cut."""

    links: list[set[int]]
    labels: NDArray[np.int64]
    method: Method
    sigma: float
    delta: float
    n_one_sided: int = 0
    values: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.n_links = sum(len(links) for links in self.links) // 2
        self.degree = max(len(links) for links in self.links)
        n = len(self.links)
        self.known_cut = [0] * n
        self.fleet_cut = 0
        self.inbox: dict[tuple[int, int], list[tuple[float, int]]] = {}
        self.listening: list[set[int]] = [set() for _ in range(n)]

    def run(self, samples: Array) -> Array:
        """Return estimates[time, agent]."""
        counts = np.arange(1, len(samples) + 1)[:, np.newaxis]
        means = samples.cumsum(axis=0) / counts
        return np.array([self._step(t, means) for t in range(len(samples))])

    def _step(self, t: int, means: Array) -> list[float]:
        agents = range(len(self.links))
        if t == 0:
            self.values = dict(enumerate(means[0].tolist()))
            return means[0].tolist()  # type: ignore[no-any-return]
        before = [set(links) for links in self.links]
        n_wrong = sum(self.labels[a] != self.labels[b] for a in agents for b in before[a])
        for a in agents:
            self.links[a] = {b for b in before[a] if not self._is_cut(t, means, a, b)}
        self.n_one_sided += sum(a not in self.links[b] for a in agents for b in self.links[a])
        used = [{b for b in self.links[a] if self._is_used(t, means, a, b)} for a in agents]
        if self.method.sharing == Sharing.MESSAGES:
            return self._pass_on(t, means, used)
        estimates = self._agree(t, means, before, used)
        if self.links != before and n_wrong:
            self.fleet_cut = t
        return estimates

    def _ends(self, t: int, means: Array, a: int, b: int) -> tuple[float, float]:
        paired = self.method.test == LinkTest.PAIRED
        return means[t - 1 if paired else t, a], means[t - 1, b]

    def _is_cut(self, t: int, means: Array, a: int, b: int) -> bool:
        own, heard = self._ends(t, means, a, b)
        if self.method.test == LinkTest.PAIRED:
            return paired_cut(t, own - heard, self.sigma, self.delta / (4 * self.n_links))
        gamma = self.delta / (8 * self.n_links)
        radii = [published_radius(n, self.sigma, gamma) for n in (t + 1, t)]
        return abs(own - heard) - sum(radii) > 0

    def _is_used(self, t: int, means: Array, a: int, b: int) -> bool:
        own, heard = self._ends(t, means, a, b)
        z2 = t * (own - heard) ** 2 / (2 * self.sigma**2)
        return bool(self.method.links == Links.UNCUT or z2 <= math.log(1 + t))

    def _pass_on(self, t: int, means: Array, used: list[set[int]]) -> list[float]:
        inbox: dict[tuple[int, int], list[tuple[float, int]]] = {}
        estimates = []
        for a in range(len(self.links)):
            total, weights = (t + 1) * means[t, a], t + 1
            for b in used[a]:
                letters = [(means[t - 1, b], 1)]
                for h in range(1, self.method.hops):
                    others = [self.inbox[e, b] for e in self.listening[b] if e != a]
                    came = [letter[h - 1] for letter in others]
                    letters.append((sum(c[0] for c in came), sum(c[1] for c in came)))
                inbox[b, a] = letters
                for h, (mean, n) in enumerate(letters):
                    total += (t - h) * mean
                    weights += (t - h) * n
            estimates.append(total / weights)
        self.inbox, self.listening = inbox, used
        return estimates

    def _agree(
        self, t: int, means: Array, before: list[set[int]], used: list[set[int]]
    ) -> list[float]:
        values, known_cut = {}, []
        for a in range(len(self.links)):
            heard = [self.known_cut[b] for b in self.links[a]]
            last = t if self.links[a] != before[a] else max([self.known_cut[a], *heard])
            known_cut.append(last)
            memory = t / 16.0
            if self.method.reset != Reset.FADING:
                is_global = self.method.reset == Reset.GLOBAL_PUBLISHED
                memory = t - (self.fleet_cut if is_global else last)
            if not self.links[a] and self.method.test == LinkTest.PAIRED:
                memory = 0
            alpha = memory / (1 + memory)
            weights = {b: self._weight(a, b, before) for b in used[a]}
            mixed = (1 - sum(weights.values())) * self.values[a]
            mixed += sum(weight * self.values[b] for b, weight in weights.items())
            values[a] = (1 - alpha) * means[t, a] + alpha * mixed
        self.values, self.known_cut = values, known_cut
        return list(values.values())

    def _weight(self, a: int, b: int, before: list[set[int]]) -> float:
        if self.method.weights == LinkWeights.LAPLACIAN:
            return 1 / (1 + self.degree)
        own = before if self.method.test == LinkTest.PAIRED else self.links
        return 1 / (1 + max(len(own[a]), len(before[b])))


SIGMA, DELTA = 0.5, 0.5


def two_classes(n_agents: int, gap: float = 1.0) -> Problem:
    """Return a problem with two classes drawn at random."""
    return Problem.gaussian([0.0, gap], n_agents, sigma=SIGMA, seed=4)


def one_class(n_agents: int) -> Problem:
    """Return a problem in which all means are equal."""
    return Problem.gaussian([0.3], n_agents, sigma=SIGMA)


def estimates_of(
    problem: Problem, method: str | Method, contacts: Contacts, samples: Array, plain: bool = False
) -> tuple[Array, Graph, NDArray[np.bool_]]:
    """Return estimates[time, agent] of given samples, the graph, and which links are alive."""
    chosen, graph = method_of(method), Graph.of(contacts)
    labels = problem.labels.astype(np.int64)
    limits = limits_of(chosen, SIGMA, DELTA, graph.n_links, len(samples))
    setting = GraphSetting.of(chosen, graph, limits, labels)
    messages = chosen.sharing == Sharing.MESSAGES
    state: Any = (MessageState if messages else ConsensusState).start(setting)
    loop: Any = run_messages if messages else run_consensus
    estimates = np.empty(samples.T.shape)
    (loop.function if plain else loop)(setting, state, samples, 0, estimates)
    return estimates.T, graph, alive(graph, state.uncut)


def alive(graph: Graph, uncut: UncutLinks) -> NDArray[np.bool_]:
    """Return whether each link is uncut."""
    positions = np.arange(graph.peers.size) - graph.starts[graph.owners]
    found = np.empty(graph.peers.size, np.bool_)
    found[uncut.order] = positions < uncut.degrees[graph.owners]
    return found
