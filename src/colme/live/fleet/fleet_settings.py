"""The settings of a demonstration fleet.

Lives here: each setting with its meaning, its default and what is allowed, and what follows from
them.  Must not know processes, networks or files.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from pydantic import ConfigDict, Field, model_validator

from colme._settings import Table
from colme.live.fleet.fleet_problem import ProblemField
from colme.live.relays import NO_RELAYS_IN_STEP
from colme.live.schedule import Schedule
from colme.live.settings import AgentSettings, Name
from colme.problem import Problem

Lie = Literal["shifted", "inflated", "random"]


class LiarSettings(Table):
    """Agents that lie.

    Examples
    --------
    >>> LiarSettings(liars=0.1).lie
    'shifted'
    """

    model_config = ConfigDict(use_attribute_docstrings=True)

    liars: float = Field(default=0.0, ge=0, le=1)
    """Share of agents that lie."""
    lie: Lie = "shifted"
    """shifted (another mean), inflated (another mean and a hundred times the samples) or random
    (any mean, any count)."""
    shift: float = 0.3
    """By how much liars move their means."""


_FEW = 20
"""Up to this many agents connect to each other without a router."""
_MANY = 300
"""Beyond this many agents, each remembers only some of the others."""
_ROOM = 64
"""Agents, itself included, that each remembers in such a fleet."""
_SNAPSHOTS = 100
"""Snapshots per second that all agents publish together: each costs as much as a step."""
_LONGEST = 5.0
"""Maximum seconds from one snapshot of an agent to the next, unless steps are longer."""


class FleetSettings(AgentSettings, LiarSettings):
    """A fleet of agents on this machine, spread over processes.

    Unless chosen otherwise, agents know the scale of their noise and the number of agents, and in a
    large fleet each remembers 64.

    Examples
    --------
    >>> problem = Problem.gaussian([0.2, 0.8], n_agents=12, sigma=0.5)
    >>> settings = FleetSettings(problem=problem, liars=0.1)
    >>> settings.names[:2], settings.mode_of_agents, settings.liar_numbers
    (('00', '01'), 'peer', (4,))
    >>> settings.sigma, settings.max_agents, settings.room
    (0.5, 12, None)
    """

    problem: ProblemField
    """The truth: it gives every agent its samples."""
    fleet: Name = "demo"
    """Name of the fleet."""
    processes: int = Field(default=2, ge=1)
    """Number of processes that the agents run in."""
    mode: Literal["client", "peer"] | None = None
    """client (agents meet at a router, one more process) or peer (they connect to each other); by
    default peer up to 20 agents."""
    tls: bool = False
    """Give every agent its own keys: links are encrypted, replies sealed."""
    interval: float = Field(default=0.1, gt=0)
    """Seconds from one step to the next: one sample and one query of each agent."""
    every: float | None = Field(default=None, ge=0)
    """Seconds from one snapshot of an agent to the next, 0 for each step; by default such that all
    agents together publish about 100 per second."""
    steps: int | None = Field(default=None, ge=1)
    """Stop after this many samples of each agent."""
    in_step: bool = False
    """All agents take each step together, as in lockstep."""
    state: Path | None = None
    """Folder to store the fleet in; started with the same one, it continues (stored nowhere)."""
    sync: bool = True
    """Wait for the disk: data survives a loss of power, not only a crash."""
    seed: int = Field(default=1, ge=0)
    """Seed for the samples, and for who lies."""

    @model_validator(mode="before")
    @classmethod
    def _fit_problem(cls, content: Any) -> Any:
        """Add what agents know of the problem, unless something else is chosen."""
        problem = content.get("problem") if isinstance(content, dict) else None
        if not isinstance(problem, Problem):
            return content
        room = _ROOM if problem.n_agents > _MANY else None
        is_noise_known = any(content.get(word) for word in ("sigma", "range", "estimated"))
        noise = {} if is_noise_known else {"sigma": problem.sigma}
        return {"max_agents": problem.n_agents, "room": room} | noise | content

    @model_validator(mode="after")
    def _check_fleet(self) -> Self:
        if self.processes > self.problem.n_agents:
            raise ValueError(
                f"each process needs an agent: received {self.processes} processes for "
                f"{self.problem.n_agents} agents"
            )
        if self.in_step and self.relays:
            raise ValueError(NO_RELAYS_IN_STEP)
        if self.in_step and self.liars and self.lie != "shifted":
            raise ValueError(
                "agents in step ask for the state after a number of samples, so liars among them "
                f"tell true counts and lie can only be shifted; received {self.lie}"
            )
        return self

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the agents: their numbers, all of one length."""
        n_agents = self.problem.n_agents
        width = len(str(n_agents - 1))
        return tuple(f"{agent:0{width}d}" for agent in range(n_agents))

    @property
    def mode_of_agents(self) -> Literal["client", "peer"]:
        """The mode: the one chosen, or the one that fits the number of agents."""
        return self.mode or ("client" if self.problem.n_agents > _FEW else "peer")

    @property
    def schedule(self) -> Schedule:
        """When each node acts."""
        every = self.every
        if every is None:
            fitting = max(self.interval, min(self.problem.n_agents / _SNAPSHOTS, _LONGEST))
            every = 0.0 if self.in_step else fitting
        return Schedule(self.interval, every, self.in_step)

    @cached_property
    def liar_numbers(self) -> tuple[int, ...]:
        """The numbers of the agents that lie."""
        n_agents = self.problem.n_agents
        order = np.random.default_rng([self.seed, n_agents]).permutation(n_agents)
        return tuple(sorted(order[: round(self.liars * n_agents)].tolist()))
