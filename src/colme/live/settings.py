"""What a node is told: everything that a file or flags can say about one.

Lives here: the settings, what they ask of each other, and what they stand for.  Must not know how a
node runs.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from colme._settings import Table
from colme.agent import Agent
from colme.algorithm import ClassTest, resolve
from colme.bounds import Bound, EmpiricalBernstein, Restarted, Student, usual_bound
from colme.live.addresses import split_address
from colme.live.scrutiny import Scrutiny
from colme.live.wire import check_name
from colme.live.wiring import Certificates, Wiring

__all__ = ["AgentSettings", "NodeSettings"]

Name = Annotated[str, AfterValidator(lambda value: check_name("a name", value))]
_N_OPT = 1000.0
"""Intervals are about narrowest after so many samples, as with a known scale."""
_ANY_RISK = 0.05
"""An agent puts its bound at the risk that is left for it."""


class AgentSettings(Table):
    """How the agents of a fleet learn; all should be told the same.

    Examples
    --------
    >>> AgentSettings(sigma=0.5).agent("kitchen")
    Agent('kitchen', count=0, estimate=nan)
    >>> AgentSettings.make({"sigma": 0.5, "estimated": True})
    Traceback (most recent call last):
    ValueError: say what is known of the noise with one of sigma, range and estimated; received \
sigma, estimated
    """

    sigma: float | None = Field(default=None, gt=0)
    range: tuple[float, float] | None = None
    estimated: bool = False
    restart: bool = False
    delta: float = Field(default=0.001, gt=0, lt=1)
    algorithm: str = "sharp"
    eta: float | None = Field(default=None, ge=0)
    within: float | None = Field(default=None, gt=0)
    max_agents: int | None = Field(default=None, ge=1)
    room: int | None = Field(default=None, ge=2)
    cap: float | None = Field(default=100.0, ge=1)
    trusting: bool = False
    rate: float | None = Field(default=None, gt=0)
    burst: int = Field(default=100, ge=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = self._given("sigma", "range", "estimated")
        if len(given) != 1:
            raise ValueError(
                "say what is known of the noise with one of sigma, range and estimated; received "
                f"{', '.join(given) or 'none'}"
            )
        if self.trusting and self.rate is not None:
            raise ValueError("who is trusting judges no rate: leave out trusting or rate")
        if resolve(self.algorithm, self.eta, self.within).class_test is ClassTest.KNOWN:
            raise ValueError(
                f"no agent on a device is told its class; received algorithm {self.algorithm!r}: "
                "choose another one from 'colme algorithms'"
            )
        self.agent("somebody")
        return self

    @property
    def bound(self) -> Bound:
        """What is known of the noise, as a bound."""
        algorithm = resolve(self.algorithm, self.eta, self.within)
        if self.sigma is not None:
            bound: Bound = usual_bound(algorithm.class_test, self.sigma, _ANY_RISK)
        elif self.range is not None:
            bound = EmpiricalBernstein(*self.range, gamma=_ANY_RISK)
        else:
            bound = Student(_N_OPT, gamma=_ANY_RISK)
        return Restarted(bound) if self.restart else bound

    def agent(self, name: str, peers: tuple[str, ...] = ()) -> Agent:
        """Return an agent that has seen nothing yet."""
        return Agent(
            name,
            bound=self.bound,
            delta=self.delta,
            max_agents=self.max_agents,
            algorithm=self.algorithm,
            eta=self.eta,
            within=self.within,
            peers=peers,
            room=self.room,
            cap=None if self.trusting else self.cap,
        )

    def scrutiny(self) -> Scrutiny | None:
        """Return what is demanded of replies; None: nothing."""
        if self.trusting:
            return None
        gamma = self.agent("somebody").bound.gamma
        return Scrutiny(-math.log(gamma), self.rate, self.burst)


class NodeSettings(AgentSettings):
    """One node: an agent, where its samples come from, where it keeps them, and its network.

    Examples
    --------
    >>> settings = NodeSettings(fleet="home", id="kitchen", state=Path("kitchen"), sigma=0.5)
    >>> settings.wiring().listen
    ('127.0.0.1:0',)
    """

    fleet: Name
    id: Name
    state: Path
    source: str = "-"
    broker_ca: Path | None = None
    mode: Literal["peer", "client"] = "peer"
    listen: tuple[str, ...] = ("127.0.0.1:0",)
    connect: tuple[str, ...] = ()
    keys: Path | None = None
    insecure: bool = False
    interval: float = Field(default=1.0, gt=0)
    every: float = Field(default=0.0, ge=0)
    in_step: bool = False
    peers: tuple[Name, ...] = ()
    sync: bool = True
    stop_at_end: bool = False
    metrics: str | None = None

    @model_validator(mode="after")
    def _check_node(self) -> Self:
        self.wiring()
        self.agent(self.id, self.peers)
        if self.mode == "client" and "listen" in self.model_fields_set:
            raise ValueError("a client listens nowhere: leave out listen, or be a peer")
        if self.metrics is not None:
            split_address(self.metrics)
        if self.in_step and not self.peers:
            raise ValueError("agents in step ask in a given order: name the peers, all of them")
        if self.in_step and self.restart:
            raise ValueError("agents in step count from the first sample on: leave out restart")
        return self

    def wiring(self, keys: Certificates | None = None) -> Wiring:
        """Return how the node is connected, with its keys once they are loaded."""
        if keys is None and self.keys is not None:
            keys = _Promised()
        listen = () if self.mode == "client" else self.listen
        return Wiring(self.mode, listen, self.connect, keys, self.insecure)


class _Promised:
    """Keys that are not loaded yet: enough to judge addresses."""

    ca_path = certificate_path = key_path = Path()
