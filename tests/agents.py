"""Single agents and small fleets of them, for the tests of the agent."""

from typing import Any

from colme import Agent, Algorithm, Query
from colme.bounds import (
    Asymptotic,
    Betting,
    Bound,
    Discounted,
    EmpiricalBernstein,
    Laplace,
    NormalMixture,
    Restarted,
    Stitched,
    Student,
    Windowed,
)

BOUNDS: list[Bound] = [
    Asymptotic(50, burn_in=4),
    Student(20),
    Betting(-1, 2, n_grid=20),
    EmpiricalBernstein(-1, 2),
    Laplace(0.2, 0.05),
    NormalMixture(0.2, 100),
    Stitched(0.2),
    Windowed(Laplace(0.2, 0.05), 40),
    Discounted(Laplace(0.2, 0.05), 0.9),
    Restarted(Laplace(0.2, 0.05)),
]


NAMES = "abcdef"
JOINT_SIMPLE = Algorithm("round-robin", "simple", "joint")


def make(name: str = "a", peers: str = "abc", **changes: Any) -> Agent:
    usual: dict[str, Any] = {"sigma": 0.5, "delta": 0.1, "max_agents": 3, "peers": peers}
    return Agent(name, **(usual | changes))


def lone(**changes: Any) -> Agent:
    """Return agent a, which knows five others and may meet three more."""
    usual: dict[str, Any] = {"sigma": 0.2, "delta": 0.1, "max_agents": 9, "peers": NAMES}
    return Agent("a", **(usual | changes))


def fleet(
    n: int, algorithm: str | Algorithm, eta: float | None = None, bounds: list[Bound] | None = None
) -> dict[str, Agent]:
    names = [f"agent {i}" for i in range(n)]
    known = algorithm == "oracle"
    return {
        name: Agent(
            name,
            bound=(bounds or [Laplace(0.1, 0.05)])[i % len(bounds or [0])],
            delta=0.1,
            max_agents=n,
            algorithm=algorithm,
            eta=eta,
            peers=names,
            classmates=names[i % 2 :: 2] if known else None,
        )
        for i, name in enumerate(names)
    }


def step(agents: dict[str, Agent], samples: list[float]) -> list[float]:
    """Let all perceive, then all ask; return the estimates."""
    for agent, sample in zip(agents.values(), samples, strict=True):
        agent.perceive(sample)
    for agent in agents.values():
        peer = agent.choose_peer()
        if peer is not None:
            agent.receive(agents[peer].answer(Query(agent.name, peer)))
    return [agent.estimate for agent in agents.values()]


def readings(agents: dict[str, Agent]) -> list[object]:
    """Return all that can be read of a fleet, to the last bit."""
    return [
        (agent.estimate, agent.optimistic_class, agent.likely_class, agent.interval, agent.count)
        for agent in agents.values()
    ]
