"""What a demonstration fleet is told.

Lives here: its settings, what they ask of each other, and what they are by default.  Must not know
processes, networks or files.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from colme import _check
from colme.live.fleet.liars import LIES, Lie
from colme.live.settings import AgentSettings
from colme.live.wire import check_name
from colme.problem import Problem

__all__ = ["FleetSettings", "usual_learning"]

_FEW = 20
"""So many agents connect to each other without a router."""
_MANY = 300
"""Beyond so many agents, each remembers only some of the others."""
_ROOM = 64
"""So many, itself included."""
_SNAPSHOTS = 100
"""About so many snapshots are published in a second: each is as much work as a step."""
_LONGEST = 5.0
"""Seconds from one snapshot of an agent to the next, at most, unless steps are longer."""


def usual_learning(problem: Problem, **chosen: Any) -> AgentSettings:
    """Return how the agents of a problem learn: as chosen, and as fits the problem.

    Unless chosen otherwise they know the scale of their noise and the number of agents, and in a
    large fleet each remembers 64.

    Examples
    --------
    >>> problem = Problem.gaussian([0.2, 0.8], n_agents=12, sigma=0.5)
    >>> learning = usual_learning(problem, delta=0.01)
    >>> learning.sigma, learning.max_agents, learning.room, learning.delta
    (0.5, 12, None, 0.01)
    """
    n_agents = problem.n_agents
    usual: dict[str, Any] = {"max_agents": n_agents, "room": _ROOM if n_agents > _MANY else None}
    if not any(chosen.get(word) for word in ("sigma", "range", "estimated")):
        usual["sigma"] = problem.sigma
    return AgentSettings.make(usual | chosen)


@dataclass(frozen=True)
class FleetSettings:
    """A fleet of agents on this machine, spread over processes.

    Parameters
    ----------
    problem
        The truth: it gives every agent its samples.
    learning
        How agents learn; by default `usual_learning`.
    name
        The fleet's name.
    processes
        How many processes the agents live in.
    mode
        client (through a router, one more process) or peer; by default peer up to 20 agents.
    tls
        Give every agent keys of its own: links are encrypted and answers sealed.
    interval
        Seconds from one step to the next: one sample and one question of each agent.
    every
        Seconds from one snapshot of an agent to the next, 0 for each step; by default so that all
        agents together give about 100 in a second.
    steps
        How many samples each agent takes; None: without end.
    liars, lie, shift
        Share of agents that lie, how, and by how much they move their means.
    state
        Folder in which the fleet is kept, and found again; None: it is kept nowhere.
    sync
        Whether what is stored also survives a loss of power.
    seed
        Seed of the samples, and of who lies.
    in_step
        All agents take each step together, as in lockstep.

    Examples
    --------
    >>> problem = Problem.gaussian([0.2, 0.8], n_agents=12, sigma=0.5)
    >>> settings = FleetSettings(problem, liars=0.1)
    >>> settings.names[:2], settings.is_routed, settings.liars_chosen
    (('00', '01'), False, (4,))
    """

    problem: Problem
    learning: AgentSettings | None = None
    name: str = "demo"
    processes: int = 2
    mode: Literal["client", "peer"] | None = None
    tls: bool = False
    interval: float = 0.1
    every: float | None = None
    steps: int | None = None
    liars: float = 0.0
    lie: Lie = "shifted"
    shift: float = 0.3
    state: Path | None = None
    sync: bool = True
    seed: int = 1
    in_step: bool = False

    def __post_init__(self) -> None:
        check_name("fleet", self.name)
        _check.positive_int("processes", self.processes)
        _check.positive("interval", self.interval)
        _check.share("liars", self.liars)
        _check.finite("shift", self.shift)
        _check.non_negative_int("seed", self.seed)
        if self.steps is not None:
            _check.positive_int("steps", self.steps)
        if self.every is not None:
            _check.non_negative("every", self.every)
        if self.processes > self.problem.n_agents:
            raise ValueError(
                f"each process has an agent: received {self.processes} processes for "
                f"{self.problem.n_agents} agents"
            )
        self._check_words()

    def _check_words(self) -> None:
        if self.mode not in ("client", "peer", None):
            raise ValueError(f"mode is client or peer; received {self.mode!r}")
        if self.lie not in LIES:
            raise ValueError(f"a lie is one of {', '.join(LIES)}; received {self.lie!r}")
        if self.in_step and self.liars and self.lie != "shifted":
            raise ValueError(
                "agents in step ask for the state after so many samples: liars among them tell "
                f"true counts, so lie can only be shifted; received {self.lie}"
            )

    @property
    def told(self) -> AgentSettings:
        """How agents learn."""
        return usual_learning(self.problem) if self.learning is None else self.learning

    @property
    def names(self) -> tuple[str, ...]:
        """What agents are called: their numbers, all of one length."""
        n_agents = self.problem.n_agents
        width = len(str(n_agents - 1))
        return tuple(f"{agent:0{width}d}" for agent in range(n_agents))

    @property
    def is_routed(self) -> bool:
        """Whether agents meet at a router."""
        if self.mode is None:
            return self.problem.n_agents > _FEW
        return self.mode == "client"

    @property
    def snapshot_every(self) -> float:
        """Seconds from one snapshot of an agent to the next; 0: after every step."""
        if self.every is not None:
            return self.every
        if self.in_step:
            return 0.0
        return max(self.interval, min(self.problem.n_agents / _SNAPSHOTS, _LONGEST))

    @property
    def liars_chosen(self) -> tuple[int, ...]:
        """The numbers of the agents that lie."""
        n_agents = self.problem.n_agents
        order = np.random.default_rng([self.seed, n_agents]).permutation(n_agents)
        return tuple(sorted(order[: round(self.liars * n_agents)].tolist()))
