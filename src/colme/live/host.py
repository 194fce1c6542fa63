"""A host: the nodes of one process, which share its store and its link.

Lives here: putting a node together from settings and its past, and running several.  Must not know
the command line.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from colme.agent import Agent
from colme.live.absence import Absence
from colme.live.keys import Identity
from colme.live.membership import Membership
from colme.live.network import Link
from colme.live.node import Node
from colme.live.pace import Pace, running_clock
from colme.live.settings import AgentSettings
from colme.live.sources import Source
from colme.live.station import Station
from colme.live.store import Store
from colme.live.wire import Refused, check_name
from colme.live.wiring import Wiring
from colme.messages import Reply

__all__ = ["Host", "Resident"]

log = logging.getLogger("colme.live")

_LOOK = 1.0
"""Seconds from one look at who is away to the next."""

Emit = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Resident:
    """An agent that lives on a host.

    Parameters
    ----------
    name, source
        Its name, and where its samples come from.
    peers
        Whom it knows beforehand, in the order in which they are asked.
    refused
        What was refused, by reason: shared with the source.
    tongue
        What it says of itself, given the truth; None: the truth.  For fleets that try out liars.

    Examples
    --------
    >>> from colme.live.sources import source_of
    >>> Resident("kitchen", source_of("-")).peers
    ()
    """

    name: str
    source: Source
    peers: tuple[str, ...] = ()
    refused: Counter[str] = field(default_factory=Counter)
    tongue: Callable[[Reply], Reply] | None = None


class Host:
    """Nodes that share one store and one link.

    Parameters
    ----------
    fleet
        The fleet's name.
    settings
        How its agents learn.
    state
        The folder of the store.
    wiring
        How the host is connected.
    pace
        When its nodes act.
    identity
        Its keys: it then seals what it says, and wants answers sealed.
    sync
        Whether what is stored also survives a loss of power.

    Examples
    --------
    >>> Host.__name__
    'Host'
    """

    def __init__(
        self,
        fleet: str,
        settings: AgentSettings,
        state: Path,
        wiring: Wiring,
        pace: Pace,
        *,
        identity: Identity | None = None,
        sync: bool = True,
    ) -> None:
        self.nodes: dict[str, Node] = {}
        self._last: dict[str, dict[str, Any]] = {}
        self._fleet, self._settings, self._pace = fleet, settings, pace
        self._identity = identity
        self._link, self._is_peer = Link(wiring, fleet), wiring.mode == "peer"
        self._absence = Absence()
        self._store = Store.open(state, fleet, sync=sync)

    async def run(self, residents: Sequence[Resident], emit: Emit | None = None) -> None:
        """Run a node for each resident until all have ended; see `stop`."""
        background = []
        try:
            # Who is refused leaves before a session is being opened: a program that ends in the
            # middle of that may be aborted by its threads.
            nodes = await asyncio.gather(*(self._settle(one, emit) for one in residents))
            self.nodes = {node.name: node for node in nodes}
            opening = asyncio.create_task(self._link.open())
            background.append(opening)
            self._link.watch(
                lambda peer: self._note(peer, True), lambda peer: self._note(peer, False)
            )
            if self._is_peer:  # an address that cannot be had ends all before a sample is taken
                await opening
            lives = [asyncio.create_task(node.run()) for node in self.nodes.values()]
            if self._stopped:
                self.stop()
            opening.add_done_callback(self._opened)
            if self._is_peer:
                background.append(asyncio.create_task(self._reunite()))
            await asyncio.gather(*lives)
        finally:
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            await self.close()
        if self._failure is not None:
            raise self._failure

    _stopped = False
    _failure: BaseException | None = None

    def stop(self) -> None:
        """Let all nodes end soon."""
        self._stopped = True
        for node in self.nodes.values():
            node.stop()

    async def close(self) -> None:
        """Let go of the network and of the store; `run` does so when it ends."""
        await self._link.close()
        await self._store.close()

    def turn_away(self, reason: str) -> None:
        """Count somebody who had no valid certificate, with every node."""
        log.warning("a stranger was turned away: %s", reason)
        for node in self.nodes.values():
            node.station.refused["stranger"] += 1

    def reports(self) -> list[dict[str, Any]]:
        """Return the last snapshot of each node."""
        return list(self._last.values())

    async def _reunite(self) -> None:
        """Open a new session now and then while somebody who was here is away."""
        while True:
            await asyncio.sleep(_LOOK)
            if self._absence.is_due(running_clock()):
                log.info("a new session is opened: not all who were here are")
                for peer in self._absence.here:
                    self._note(peer, False)
                await self._link.renew()
                self._absence.renewed(running_clock())

    def _note(self, peer: str, here: bool) -> None:
        try:
            check_name("a name", peer)
        except ValueError as error:  # it could not be asked
            for node in self.nodes.values():
                node.station.refuse(Refused("name", str(error)))
            return
        self._absence.note(peer, here, running_clock())
        for node in self.nodes.values():
            node.note(peer, here)

    def _opened(self, opening: asyncio.Task[None]) -> None:
        """End everything if the network cannot be had at all."""
        if not opening.cancelled() and opening.exception() is not None:
            self._failure = opening.exception()
            self.stop()

    async def _settle(self, resident: Resident, emit: Emit | None) -> Node:
        """Return the node of a resident, with its past if it has one."""
        past = self._store.adopt(resident.name)
        agent = self._settings.agent(resident.name, resident.peers)
        station = Station(
            agent,
            self._fleet,
            past.life,
            Membership(self._pace.interval),
            self._settings.scrutiny(),
            seal=self._identity,
            in_step=self._pace.in_step,
            refused=resident.refused,
            tongue=resident.tongue,
        )
        if past.checkpoint is None:
            await self._store.checkpoint(resident.name, station.checkpoint())
        else:
            station.resume(past.checkpoint, past.events)
            _check_same(station.agent, agent)

        def tell(report: dict[str, Any]) -> None:
            self._last[resident.name] = report
            self._link.publish(resident.name, json.dumps(report).encode())
            if emit is not None:
                emit(report)

        return Node(station, self._store, resident.source, self._link, self._pace, tell)


def _check_same(before: Agent, now: Agent) -> None:
    """Refuse settings under which what was learnt would mean something else."""
    for word in ("algorithm", "bound", "delta", "max_agents", "room", "cap"):
        was, wanted = getattr(before, word), getattr(now, word)
        if was != wanted:
            raise ValueError(
                f"{now.name!r} has lived with {word} = {was}; received {wanted}: give what it had, "
                "or start with an empty state folder, as a new life"
            )
