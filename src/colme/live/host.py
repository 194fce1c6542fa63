"""A host: the nodes of one process, which share its store and its link.

Holds how a node is put together from an agent and its saved state, and how several run.  Must not
know the command line.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from colme.agent import Agent
from colme.algorithm import Algorithm, ClassTest, QueryStrategy
from colme.live.connection_config import ConnectionConfig
from colme.live.membership import Membership
from colme.live.network import Link
from colme.live.node import Node
from colme.live.node_core import NodeCore
from colme.live.reply_checks import ReplyChecks
from colme.live.schedule import Schedule, running_clock
from colme.live.session_renewal import SessionRenewal
from colme.live.sources import SampleSource
from colme.live.store import Store
from colme.live.wire import Refused, Seal, check_name
from colme.messages import Reply

log = logging.getLogger("colme.live")

_LOOK = 1.0
"""Seconds from one look at who is absent to the next."""

Emit = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class HostedAgent:
    """An agent on a host.

    Parameters
    ----------
    agent
        The agent, new, with the peers it knows from the start.
    source
        Where its samples come from.
    checks
        What replies to it must satisfy; None: every reply is accepted.
    refused
        Counts what is refused, by reason; shared with the source.
    reply_filter
        Changes what it says of itself, for fleets that try out liars; None: the truth.

    Examples
    --------
    >>> from colme.live.sources import make_source
    >>> HostedAgent(Agent("kitchen", sigma=0.5, delta=0.01), make_source("-")).agent.name
    'kitchen'
    """

    agent: Agent
    source: SampleSource
    checks: ReplyChecks | None = None
    refused: Counter[str] = field(default_factory=Counter)
    reply_filter: Callable[[Reply], Reply] | None = None


@dataclass(eq=False)
class Host:
    """Nodes that share one store and one link.

    Parameters
    ----------
    fleet
        The fleet's name.
    state
        The folder of the store.
    connection
        How the host is connected.
    schedule
        When its nodes act.
    identity
        Its keys: the host then seals its replies, and accepts only sealed ones.
    sync
        Whether what is stored also survives a loss of power.

    Examples
    --------
    >>> import tempfile
    >>> from colme.live.sources import make_source
    >>> async def main(folder: str) -> list[str]:
    ...     connection = ConnectionConfig("peer", listen=("127.0.0.1:0",))
    ...     host = Host("home", Path(folder), connection, Schedule(interval=0.01))
    ...     agent = Agent("kitchen", sigma=0.5, delta=0.01)
    ...     host.stop()
    ...     await host.run([HostedAgent(agent, make_source("-"))])
    ...     return list(host.nodes)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(main(folder))
    ['kitchen']
    """

    fleet: str
    state: Path
    connection: ConnectionConfig
    schedule: Schedule
    _: KW_ONLY
    identity: Seal | None = None
    sync: bool = True

    def __post_init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self._link = Link(self.connection, self.fleet)
        self._is_peer = self.connection.mode == "peer"
        self._renewal = SessionRenewal()
        self._is_stopped = False
        self._failure: BaseException | None = None
        self._store = Store(self.state, self.fleet, sync=self.sync)

    async def run(
        self,
        agents: Sequence[HostedAgent],
        emit: Emit | None = None,
        started: Callable[[Host], None] | None = None,
    ) -> None:
        """Run a node for each agent until all have ended; see `stop`.

        First call `started`, if given; whatever it raises closes the host.
        """
        background: list[asyncio.Task[None]] = []
        try:
            if started is not None:
                started(self)
            # Refuse agents before a session is being opened: a program that ends while one opens
            # may be aborted by its threads.
            nodes = await asyncio.gather(*(self._create_node(hosted, emit) for hosted in agents))
            self.nodes = {node.name: node for node in nodes}
            opening = asyncio.create_task(self._link.open())
            background.append(opening)
            self._link.watch(partial(self._note, True), partial(self._note, False))
            if self._is_peer:  # an address in use ends everything before a sample is taken
                await opening
            running = [asyncio.create_task(node.run()) for node in self.nodes.values()]
            if self._is_stopped:
                self.stop()
            if self._is_peer:
                background.append(asyncio.create_task(self._renew_sessions()))
            else:
                opening.add_done_callback(self._opened)
            await asyncio.gather(*running)
        finally:
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            await self._link.close()
            await self._store.close()
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Let all nodes end soon."""
        self._is_stopped = True
        for node in self.nodes.values():
            node.stop()

    def reports(self) -> list[dict[str, Any]]:
        """Return the last snapshot of each node that has made one."""
        return [node.last_report for node in self.nodes.values() if node.last_report]

    def count_stranger(self, reason: str) -> None:
        """Count a link that was refused for want of a valid certificate, with every node."""
        log.warning("a link without a valid certificate was refused: %s", reason)
        for node in self.nodes.values():
            node.core.refused["stranger"] += 1

    async def _create_node(self, hosted: HostedAgent, emit: Emit | None) -> Node:
        """Return the node of an agent, with its saved state if there is one."""
        agent, name = hosted.agent, hosted.agent.name
        saved = self._store.register(name)
        core = NodeCore(
            agent,
            self.fleet,
            saved.life,
            Membership(self.schedule.interval),
            hosted.checks,
            seal=self.identity,
            in_step=self.schedule.in_step,
            refused=hosted.refused,
            reply_filter=hosted.reply_filter,
        )
        if saved.checkpoint is None:
            await self._store.checkpoint(name, core.checkpoint())
        else:
            core.resume(saved.checkpoint, saved.events)
            lived, wanted = core.agent.algorithm, agent.algorithm
            if lived.relays and wanted.relays:  # how many does not matter to any test
                core.agent.algorithm = replace(lived, relays=wanted.relays)
            _check_same(core.agent, agent)
            if lived.class_test != wanted.class_test:
                log.info("%s goes on with its earlier test, %s", name, lived.class_test.word)
        return Node(core, self._store, hosted.source, self._link, self.schedule, emit)

    async def _renew_sessions(self) -> None:
        """Open a new session now and then while a peer that was present is absent."""
        while True:
            await asyncio.sleep(_LOOK)
            if self._renewal.is_due(running_clock()):
                log.info("opening a new session: not all peers that were present are")
                for peer in tuple(self._renewal.present):
                    self._note(False, peer)
                await self._link.renew()
                self._renewal.renewed(running_clock())

    def _note(self, is_present: bool, peer: str) -> None:
        try:
            check_name("a name", peer)
        except ValueError as error:  # it could not be asked
            for node in self.nodes.values():
                node.core.refuse(Refused("name", str(error)))
            return
        self._renewal.note(peer, is_present, running_clock())
        for node in self.nodes.values():
            if node.name != peer:
                node.note(peer, is_present)

    def _opened(self, opening: asyncio.Task[None]) -> None:
        """End everything if the network cannot be opened at all."""
        if not opening.cancelled() and opening.exception() is not None:
            self._failure = opening.exception()
            self.stop()


def _check_same(before: Agent, now: Agent) -> None:
    """Refuse settings under which the saved state would mean something else.

    A state that was begun with an earlier definition of a named algorithm goes on with that: what
    was promised then holds.
    """
    for word in ("algorithm", "bound", "delta", "max_agents", "room", "cap"):
        was, wanted = getattr(before, word), getattr(now, word)
        same = [wanted, _earlier(wanted)] if isinstance(wanted, Algorithm) else [wanted]
        if was not in same:
            raise ValueError(
                f"{now.name!r} has lived with {word} = {was}; received {wanted}: give what it had, "
                "or start with an empty state folder, as a new life"
            )


def _earlier(algorithm: Algorithm) -> Algorithm:
    """Return what earlier versions meant by `sharp` and `robust`; others are what they were.

    The earlier test promises nothing where somebody chooses what an agent hears of.
    """
    if algorithm.class_test is not ClassTest.PAIRED or algorithm.relays:
        return algorithm
    query, test = QueryStrategy.RESTRICTED_ROUND_ROBIN, ClassTest.JOINT
    return replace(algorithm, query=query, class_test=test)
