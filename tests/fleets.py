"""Small fleets of plain agents that take batches of samples, fed by chance or by the worst case."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest

from colme import Agent, Algorithm, Query, theory
from colme.theory import Situation

Numbers = NDArray[np.float64]


def p_value(n_wrong: int, risk: float, n: int) -> float:
    """Return how surprising so many failures in n are, if each has at most that risk."""
    return float(binomtest(n_wrong, n, risk, "greater").pvalue)


def fleet(situation: Situation) -> list[Agent]:
    """Return agents named by their numbers, as the theorems want them."""
    names = [str(l) for l in range(situation.n_agents)]
    algorithm = Algorithm("restricted-round-robin", "simple", situation.class_test, situation.eta)
    return [
        Agent(
            name,
            bound=situation.bound,
            delta=situation.delta,
            max_agents=len(names),
            algorithm=algorithm,
            peers=names,
        )
        for name in names
    ]


def steps(agents: list[Agent], samples: Numbers, batch: int) -> Iterator[int]:
    """Let agents live through samples [count, agent]; yield the number of each step after it."""
    for first in range(0, len(samples) - batch + 1, batch):
        for row in samples[first : first + batch].tolist():
            for agent, sample in zip(agents, row, strict=True):
                agent.perceive(sample)
        for agent in agents:
            peer = agent.choose_peer()
            if peer is not None:
                agent.receive(agents[int(peer)].answer(Query(agent.name, peer)))
        yield first // batch + 1


def step(agents: dict[str, Agent], samples: list[float]) -> None:
    """Let all perceive, then all ask."""
    for agent, sample in zip(agents.values(), samples, strict=True):
        agent.perceive(sample)
    for agent in agents.values():
        peer = agent.choose_peer()
        if peer is not None:
            agent.receive(agents[peer].answer(Query(agent.name, peer)))


def leaning(situation: Situation, toward: ArrayLike, horizon: int) -> Numbers:
    """Return samples [count, agent] whose means are always off by just less than is allowed.

    Agent l is off by half the threshold of its count on both sides, times toward[l].
    """
    counts = np.arange(1, horizon + 1)
    lean = [theory.threshold(situation, n, n) / 2 * (1 - 1e-9) for n in counts.tolist()]
    running = situation.means + np.multiply.outer(lean, np.asarray(toward, np.float64))
    return np.diff(counts[:, None] * running, axis=0, prepend=0.0)


def identified(situation: Situation, samples: Numbers) -> list[int]:
    """Return the step from which on each agent's optimistic class is its true class."""
    agents, means = fleet(situation), situation.means
    true = [
        {str(l) for l in np.flatnonzero(np.abs(means - mean) <= situation.eta)} for mean in means
    ]
    last = [0] * len(agents)
    for step in steps(agents, samples, situation.batch):
        for a, agent in enumerate(agents):
            if agent.optimistic_class != true[a]:
                last[a] = step
    return [step + 1 for step in last]


def shown(situation: Situation, samples: Numbers, gap: float) -> list[float]:
    """Return the step at which agent 0 first shows each peer to be within the gap; ∞ if never."""
    agents = fleet(situation)
    times = [float("inf")] * len(agents)
    for step in steps(agents, samples, situation.batch):
        own = agents[0]
        for l, reply in enumerate(own.snapshot().replies):
            far = abs(own.local_mean - reply.mean)
            near = far + theory.threshold(situation, own.count, reply.count) <= gap
            times[l] = min(times[l], step) if near else times[l]
    return times[1:]
