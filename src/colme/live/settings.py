"""The settings of agents and nodes: one declaration for files, flags and classes.

Holds each setting with its meaning, its default and what is allowed, and what the settings stand
for.  Must not know how a node runs.
"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from colme._settings import Table
from colme.agent import Agent
from colme.algorithm import ClassTest, resolve
from colme.bounds import Bound, KnownNoise, Restarted
from colme.live.addresses import split_address
from colme.live.connection_config import ConnectionConfig, Mode
from colme.live.relays import NO_RELAYS_IN_STEP
from colme.live.reply_checks import ReplyChecks
from colme.live.wire import MOST_RELAYS, check_name

Name = Annotated[str, AfterValidator(partial(check_name, "a name"))]
_SAME = {"algorithm", "eta", "within", "relays", "delta", "max_agents", "room"}
"""Settings that an `Agent` takes under the same name."""
_ANY_RISK = 0.05
"""An agent replaces the risk of its bound by the risk that is left for it."""


class AgentSettings(Table):
    """How the agents of a fleet learn; all agents should have the same.

    Examples
    --------
    >>> AgentSettings(sigma=0.5).agent("kitchen")
    Agent('kitchen', count=0, estimate=nan)
    >>> AgentSettings.make({"sigma": 0.5, "estimated": True})
    Traceback (most recent call last):
    ValueError: say what is known of the noise with one of sigma, range and estimated; received \
sigma, estimated
    """

    model_config = ConfigDict(use_attribute_docstrings=True)

    sigma: float | None = Field(default=None, gt=0)
    """Sub-Gaussian scale of one sample; or give --range or --estimated."""
    range: tuple[float, float] | None = None
    """The least and the greatest possible sample, if only these are known."""
    estimated: bool = False
    """Estimate the scale: the noise is known only to be Gaussian."""
    restart: bool = False
    """The mean may change: restart the stream when it does."""
    delta: float = Field(default=0.001, gt=0, lt=1)
    """Total risk of each agent's guarantees."""
    algorithm: str = "sharp"
    """A name from `colme algorithms`; robust limits what a few liars can do."""
    eta: float | None = Field(default=None, ge=0)
    """Agents whose means differ by at most this much count as one class."""
    within: float | None = Field(default=None, gt=0)
    """Pool a peer only once its mean is shown to be less than this away."""
    relays: int = Field(default=0, ge=0, le=MOST_RELAYS)
    """Summaries of others that a reply may carry, as their owners made and sealed them."""
    max_agents: int | None = Field(default=None, ge=1)
    """Maximum number of agents ever; without it each new peer gets less risk."""
    room: int | None = Field(default=None, ge=2)
    """Number of agents, itself included, that each remembers at a time (all)."""
    cap: float | None = Field(default=100.0, ge=1)
    """A peer weighs at most this many times an agent's own samples."""
    rate: float | None = Field(default=None, gt=0)
    """Maximum samples per second of any agent: replies that claim more are refused."""
    burst: int = Field(default=100, ge=1)
    """Maximum samples at once, beyond --rate."""
    trusting: bool = False
    """Accept every reply."""

    @model_validator(mode="after")
    def _check_agent(self) -> Self:
        noise = {"sigma": self.sigma, "range": self.range, "estimated": self.estimated or None}
        given = [name for name, value in noise.items() if value is not None]
        if len(given) != 1:
            raise ValueError(
                "say what is known of the noise with one of sigma, range and estimated; received "
                f"{', '.join(given) or 'none'}"
            )
        if self.trusting and self.rate is not None:
            raise ValueError("a trusting agent checks no rate: leave out trusting or rate")
        if resolve(self.algorithm, self.eta, self.within).class_test is ClassTest.KNOWN:
            raise ValueError(
                f"no agent on a device knows its class; received algorithm {self.algorithm!r}: "
                "choose another one from 'colme algorithms'"
            )
        _ = self.bound  # checks the noise
        return self

    @property
    def bound(self) -> Bound:
        """The bound that follows from what is known of the noise."""
        class_test = resolve(self.algorithm, self.eta, self.within).class_test
        known = KnownNoise(self.sigma, self.range)
        bound = known.bound(class_test, _ANY_RISK, learn_variance=True)
        return Restarted(bound) if self.restart else bound

    def agent(self, name: str, peers: tuple[str, ...] = ()) -> Agent:
        """Return a new agent without samples."""
        cap = None if self.trusting else self.cap
        return Agent(name, bound=self.bound, peers=peers, cap=cap, **self.model_dump(include=_SAME))

    def reply_checks(self, agent: Agent) -> ReplyChecks | None:
        """Return what replies to an agent must satisfy; None: nothing."""
        if self.trusting:
            return None
        return ReplyChecks(-math.log(agent.bound.gamma), self.rate, self.burst)


class LinkSettings(Table):
    """How a node or a router is connected.

    Examples
    --------
    >>> LinkSettings(connect=("127.0.0.1:7447",)).keys is None
    True
    """

    model_config = ConfigDict(use_attribute_docstrings=True)

    listen: tuple[str, ...] = ("127.0.0.1:0",)
    """Addresses HOST:PORT to listen on."""
    connect: tuple[str, ...] = ()
    """Addresses HOST:PORT of nodes or routers to connect to, better two than one."""
    keys: Path | None = None
    """Folder from `colme keys issue`: links are encrypted, and replies sealed."""
    insecure: bool = False
    """Allow links without keys to other machines, and samples from other machines."""

    def connection_of(self, mode: Mode) -> ConnectionConfig:
        """Return how a node or a router of that mode is connected; a client listens nowhere."""
        listen = () if mode == "client" else self.listen
        return ConnectionConfig(mode, listen, self.connect, self.keys, self.insecure)


class NodeSettings(AgentSettings, LinkSettings):
    """One node: an agent, where its samples come from, where it is stored, and its network.

    Examples
    --------
    >>> settings = NodeSettings(fleet="home", id="kitchen", state=Path("kitchen"), sigma=0.5)
    >>> settings.connection_of("peer").listen
    ('127.0.0.1:0',)
    """

    fleet: Name
    """Name of the fleet."""
    id: Name
    """Name of this agent, unique in the fleet."""
    state: Path
    """Folder in which everything is stored; one for each node."""
    source: str = "-"
    """Where samples come from: - (standard input, a number or JSON per line), file:PATH (followed
    as it grows), tcp:HOST:PORT or unix:PATH (to listen on), mqtt://HOST:PORT/TOPIC."""
    broker_ca: Path | None = None
    """Certificate of the authority that vouches for an mqtts:// broker (the system's)."""
    mode: Literal["peer", "client"] = "peer"
    """peer (every node connects to every other, up to some 50) or client (through a router)."""
    interval: float = Field(default=1.0, gt=0)
    """Seconds from one tick to the next."""
    every: float = Field(default=0.0, ge=0)
    """Seconds from one snapshot to the next (each tick)."""
    in_step: bool = False
    """Tick with every sample, in step with all peers."""
    peers: tuple[Name, ...] = ()
    """Names of peers known from the start, in the order in which they are asked."""
    sync: bool = True
    """Wait for the disk: data survives a loss of power, not only a crash."""
    stop_at_end: bool = False
    """Stop when the source ends."""
    metrics: str | None = None
    """Address HOST:PORT of a page for Prometheus."""

    @model_validator(mode="after")
    def _check_node(self) -> Self:
        if self.mode == "client" and "listen" in self.model_fields_set:
            raise ValueError("a client listens nowhere: leave out listen, or be a peer")
        if self.metrics is not None:
            split_address(self.metrics)
        if self.in_step and not self.peers:
            raise ValueError("agents in step ask in a given order: name the peers, all of them")
        if self.in_step and self.restart:
            raise ValueError("agents in step count from the first sample on: leave out restart")
        if self.in_step and self.relays:
            raise ValueError(NO_RELAYS_IN_STEP)
        self.connection_of(self.mode)  # checks the addresses
        return self
