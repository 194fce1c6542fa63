"""`colme fleet`: a fleet on this machine, to watch and to disturb.

Lives here: its flags, signals and exit.  Must not know how anything runs or what is shown.
"""

from __future__ import annotations

import asyncio
import math
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from colme import _terminal
from colme._terminal.fleet_tables import fleet_table, print_watch_command, show_fleet, showing
from colme.cli.experiment_flags import ProblemFlags
from colme.cli.schema_flags import flags_of, read_flags
from colme.experiment import ProblemSpec
from colme.live.fleet import FleetSettings, LiarSettings, LocalFleet
from colme.live.settings import AgentSettings

if TYPE_CHECKING:
    FleetFlags = dict[str, Any]
    AgentFlags = dict[str, Any]
    LiarFlags = dict[str, Any]
else:
    FleetFlags = flags_of(FleetSettings, Group("Fleet", sort_key=2), without=("problem", "every"))
    # The problem says how samples scatter.
    AgentFlags = flags_of(AgentSettings, Group("Learning", sort_key=3), without=("sigma",))
    LiarFlags = flags_of(LiarSettings, Group("Liars", sort_key=4))


REFRESH = 0.25
"""Seconds from one look at the fleet to the next."""
_DEFAULTS: dict[str, Any] = {"class_means": (0.2, 0.4, 0.8), "n_agents": 20, "sigma": 0.5}
"""The problem, where flags say nothing else."""
_output = Group("Output", sort_key=5)
_flat = Parameter(name="*")


def fleet(
    *,
    problem: Annotated[ProblemFlags | None, _flat] = None,
    flags: Annotated[FleetFlags | None, _flat] = None,
    learning: Annotated[AgentFlags | None, _flat] = None,
    liars: Annotated[LiarFlags | None, _flat] = None,
    seconds: Annotated[float | None, Parameter(group=_output)] = None,
    json: Annotated[bool, Parameter(group=_output)] = False,
) -> None:
    """Run many agents on this machine, in real processes over a real network, and watch them.

    Shows how far estimates and local means are from the truth, until Ctrl-C.  Without flags: 20
    agents of three classes.  The names of agents are their numbers, with zeros in front.  Examples:

        colme fleet

        colme fleet --class-means 0.2 0.8 --agents 100 --sigma 0.5 --processes 4 --seconds 60

        colme fleet --agents 40 --liars 0.1 --lie inflated --algorithm robust --tls

        colme fleet --agents 12 --steps 500 --state here --json

    Parameters
    ----------
    seconds
        Stop after this many seconds.
    json
        Print how well the fleet learned, at the end, as JSON.
    """
    truth = ProblemSpec.make(_problem_table(read_flags(ProblemSpec, problem))).build()
    given = (flags or {}) | (learning or {}) | (liars or {})
    settings = FleetSettings.make({"problem": truth} | given)
    asyncio.run(_run(settings, seconds, json))


def _problem_table(given: dict[str, Any]) -> dict[str, Any]:
    """Return the problem that flags describe, with defaults for the rest."""
    replaced = set()
    if "class_sizes" in given:
        replaced.add("n_agents")
    if given.get("noise", "gaussian") != "gaussian":
        replaced.add("sigma")
    return {key: value for key, value in _DEFAULTS.items() if key not in replaced} | given


async def _run(settings: FleetSettings, seconds: float | None, as_json: bool) -> None:
    ending = Ending(seconds)
    running = LocalFleet(settings)
    console = _terminal.err if as_json else _terminal.out
    with showing(console) as show:
        async with running:
            print_watch_command(console, settings.fleet, *running.meeting_point)
            while not (ending.has_come or running.is_finished):
                running.check()
                show_fleet(show, running.report())
                await ending.pause(REFRESH)
            last = running.report()
        # Agents report once more while they end; the rest is as it was before they did.
        kept = ("present", "alive", "messages_per_second", "seconds")
        final = running.report() | {word: last[word] for word in kept}
        if console.is_terminal:
            show_fleet(show, final)
    if as_json:
        _terminal.print_json(final)
    elif not console.is_terminal:
        console.print(fleet_table(final))


class Ending:
    """When an endless command ends: on a signal, or after a number of seconds."""

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
