"""Fleets of stations in memory, joined by links that can be bad."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from colme import Agent
from colme.live.membership import Membership
from colme.live.scrutiny import Scrutiny
from colme.live.station import Station


def station(name: str, life: int = 1, **more: object) -> Station:
    """Return a station with an agent that may meet anybody."""
    settings: dict[str, object] = {"sigma": 0.5, "delta": 0.01} | more
    in_step = bool(settings.pop("in_step", False))
    agent = Agent(name, **settings)  # type: ignore[arg-type]
    scrutiny = Scrutiny(log_risk=20.0, rate=2.0, burst=5)
    return Station(agent, "home", life, Membership(1.0), scrutiny, in_step=in_step)


def save(one: Station) -> list[bytes]:
    """Let all that has happened be safe; return it."""
    events = list(one.unsaved)
    one.saved(len(events))
    return events


def fold(one: Station, *samples: float) -> None:
    """Let samples arrive and be safe."""
    one.fold(samples, str(one.n_samples + len(samples)))
    save(one)


def exchange(asker: Station, answerer: Station, now: float) -> bool:
    """Let one ask another, over a perfect link."""
    told = answerer.told(answerer.asked(asker.question(answerer.agent.name)))
    assert told is not None
    return asker.hear(answerer.agent.name, told, now, now)


def fleet_of(names: Sequence[str], **more: object) -> dict[str, Station]:
    """Return stations that all know each other."""
    fleet = {name: station(name, life, **more) for life, name in enumerate(names)}
    for one in fleet.values():
        one.appear(*names)
    return fleet


def live_through(fleet: dict[str, Station], samples: NDArray[np.float64]) -> None:
    """Let a fleet take samples [time, agent] over perfect links, in step."""
    for t, row in enumerate(samples.tolist()):
        for one, sample in zip(fleet.values(), row, strict=True):
            fold(one, sample)
        for one in fleet.values():
            chosen = one.ask(float(t))
            if chosen is not None:
                peer, question = chosen
                told = fleet[peer].told(fleet[peer].asked(question))
                assert told is not None
                assert one.hear(peer, told, float(t), float(t))
                save(one)
