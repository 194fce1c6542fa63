"""Node cores in memory, joined by links that can be bad."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme import Agent
from colme.live.membership import Membership
from colme.live.node_core import NodeCore
from colme.live.reply_checks import ReplyChecks
from colme.live.wire import WireReply, decode, encode


def core(name: str, life: int = 1, **more: object) -> NodeCore:
    """Return a core with an agent that may meet anybody."""
    settings: dict[str, object] = {"sigma": 0.5, "delta": 0.01} | more
    surroundings: dict[str, Any] = {
        word: settings.pop(word)
        for word in ("in_step", "seal", "relay_filter", "reply_filter")
        if word in settings
    }
    agent = Agent(name, **settings)  # type: ignore[arg-type]
    checks = ReplyChecks(log_risk=20.0, rate=2.0, burst=5)
    return NodeCore(agent, "home", life, Membership(1.0), checks, **surroundings)


def save(one: NodeCore) -> list[bytes]:
    """Let all that has happened be safe; return it."""
    events = list(one.unsaved)
    one.saved(len(events))
    return events


def fold(one: NodeCore, *samples: float) -> None:
    """Let samples arrive and be safe."""
    one.fold(samples, str(one.n_samples + len(samples)))
    save(one)


def exchange(asker: NodeCore, answerer: NodeCore, now: float) -> bool:
    """Let one ask another, over a perfect link."""
    reply = answerer.answer(answerer.read_query(asker.query_to(answerer.agent.name)))
    assert reply is not None
    return asker.receive(answerer.agent.name, reply, now, now)


def fleet_of(names: Sequence[str], **more: object) -> dict[str, NodeCore]:
    """Return cores that all know each other."""
    fleet = {name: core(name, life, **more) for life, name in enumerate(names)}
    for one in fleet.values():
        one.appear(*(name for name in names if name != one.agent.name))
    return fleet


def live_through(fleet: dict[str, NodeCore], samples: NDArray[np.float64]) -> None:
    """Let a fleet take samples [time, agent] over perfect links, in step."""
    for t, row in enumerate(samples.tolist()):
        for one, sample in zip(fleet.values(), row, strict=True):
            fold(one, sample)
        for one in fleet.values():
            chosen = one.next_query(float(t))
            if chosen is not None:
                peer, query = chosen
                reply = fleet[peer].answer(fleet[peer].read_query(query))
                assert reply is not None
                assert one.receive(peer, reply, float(t), float(t))
                save(one)


def lie(told: bytes, **changes: object) -> bytes:
    """Return a reply with some of its fields changed."""
    message = decode(told)
    assert isinstance(message, WireReply)
    return encode(replace(message, reply=replace(message.reply, **changes)))  # type: ignore[arg-type]
