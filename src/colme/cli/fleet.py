"""`colme fleet`: a fleet on this machine, to look at and to hurt.

Lives here: its flags, signals and exit.  Must not know how anything runs or what is shown.
"""

from __future__ import annotations

import asyncio
import math
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from cyclopts import Group, Parameter

from colme import _terminal
from colme._terminal.watching import fleet_table, say_how_to_watch, show_fleet, showing
from colme.cli.flags import Flags, ProblemFlags
from colme.cli.learning import LearningFlags
from colme.experiment import ProblemSpec
from colme.live.fleet import Fleet, FleetSettings, usual_learning

__all__ = ["Ending", "FleetFlags", "LiarFlags", "fleet"]

_REFRESH = 0.25
"""Seconds from one look at the fleet to the next."""
_USUAL: dict[str, Any] = {"class_means": (0.2, 0.4, 0.8), "n_agents": 20, "sigma": 0.5}
"""The problem, as far as nothing else is said."""


@Parameter(name="*", group=Group("Fleet", sort_key=2))
@dataclass(frozen=True)
class FleetFlags(Flags):
    """The fleet.

    Attributes
    ----------
    fleet
        Name of the fleet (demo).
    processes
        Number of processes that the agents live in (2).
    mode
        client (agents meet at a router, one more process) or peer (they connect to each other);
        by default peer up to 20 agents.
    tls
        Give every agent keys of its own: links are encrypted, answers sealed.
    interval
        Seconds from one step to the next: one sample and one question of each agent (0.1).
    steps
        Stop after so many samples of each agent.
    in_step
        All agents take each step together, as in lockstep.
    state
        Folder to keep the fleet in; started again with the same, it goes on (kept nowhere).
    no_sync
        Do not wait for the disk: survives crashes of processes, not a loss of power.
    seed
        Seed for the samples, and for who lies (1).
    """

    fleet: str | None = None
    processes: int | None = None
    mode: Literal["client", "peer"] | None = None
    tls: bool | None = None
    interval: float | None = None
    steps: int | None = None
    in_step: bool | None = None
    state: Path | None = None
    no_sync: bool | None = None
    seed: int | None = None

    called: ClassVar[dict[str, str]] = {"fleet": "name"}

    def given(self) -> dict[str, Any]:
        """Return the keys that flags set."""
        table = super().given()
        if table.pop("no_sync", None):
            table["sync"] = False
        return table


@Parameter(name="*", group=Group("Liars", sort_key=4))
@dataclass(frozen=True)
class LiarFlags(Flags):
    """Agents that lie.

    Attributes
    ----------
    liars
        Share of agents that lie (0).
    lie
        shifted (another mean), inflated (another mean and a hundred times the samples) or random
        (any mean, any count).
    shift
        By how much liars move their means (0.3).
    """

    liars: float | None = None
    lie: Literal["shifted", "inflated", "random"] | None = None
    shift: float | None = None


_output = Group("Output", sort_key=5)


def fleet(
    *,
    problem: ProblemFlags | None = None,
    flags: FleetFlags | None = None,
    learning: LearningFlags | None = None,
    liars: LiarFlags | None = None,
    seconds: Annotated[float | None, Parameter(group=_output)] = None,
    json: Annotated[bool, Parameter(group=_output)] = False,
) -> None:
    """Run many agents on this machine, in real processes over a real network, and watch them.

    Shows how far estimates and local means are from the truth, until Ctrl-C.  Without flags: 20
    agents of three classes.  Agents are called by their numbers, with zeros in front.  Examples:

        colme fleet

        colme fleet --class-means 0.2 0.8 --agents 100 --sigma 0.5 --processes 4 --seconds 60

        colme fleet --agents 40 --liars 0.1 --lie inflated --algorithm robust --tls

        colme fleet --agents 12 --steps 500 --state here --json

    Parameters
    ----------
    seconds
        Stop after so many seconds.
    json
        Print how the fleet fared, at the end, as JSON.
    """
    truth = ProblemSpec.make(_problem_table(problem or ProblemFlags())).build()
    told: dict[str, Any] = {}
    for group in (flags, liars):
        told |= {} if group is None else group.given()
    chosen = {} if learning is None else learning.given()
    settings = FleetSettings(truth, usual_learning(truth, **chosen), **told)
    asyncio.run(_run(settings, seconds, json))


def _problem_table(flags: ProblemFlags) -> dict[str, Any]:
    """Return the problem that flags describe; where they say nothing, the usual one."""
    given = flags.given()
    usual = dict(_USUAL)
    if "class_sizes" in given:
        del usual["n_agents"]
    if given.get("noise", "gaussian") != "gaussian":
        del usual["sigma"]
    return usual | given


async def _run(settings: FleetSettings, seconds: float | None, as_json: bool) -> None:
    ending = Ending(seconds)
    running = Fleet(settings)
    console = _terminal.err if as_json else _terminal.out
    with showing(console) as show:
        async with running:
            say_how_to_watch(console, settings.name, *running.meeting_point)
            while not (ending.has_come or running.is_finished):
                running.check()
                show_fleet(show, running.report())
                await ending.pause(_REFRESH)
            last = running.report()
        # What agents said while they ended, with what held before they did.
        kept = ("present", "alive", "messages_per_second", "seconds")
        final = running.report() | {word: last[word] for word in kept}
        if console.is_terminal:
            show_fleet(show, final)
    if as_json:
        _terminal.print_json(final)
    elif not console.is_terminal:
        console.print(fleet_table(final))


class Ending:
    """When a command that goes on and on ends: on a signal, or after so many seconds."""

    def __init__(self, seconds: float | None) -> None:
        self._end = math.inf if seconds is None else time.monotonic() + seconds
        self._stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._stop.set)

    @property
    def has_come(self) -> bool:
        """Whether it is time to end."""
        return self._stop.is_set() or time.monotonic() >= self._end

    async def pause(self, seconds: float) -> None:
        """Wait, but not longer than until the end."""
        left = max(0.0, self._end - time.monotonic())
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), min(seconds, left))
