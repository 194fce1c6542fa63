"""A demonstration fleet: many agents on this machine, in real processes, over a real network.

Lives here: its settings, its world, its processes, and how it fares.  Must not know the command
line.
"""

try:
    import zenoh as _zenoh  # noqa: F401
except ImportError:
    raise ImportError("fleets talk through eclipse-zenoh: pip install 'colme[live]'") from None

from colme.live.fleet.fleet import Fleet
from colme.live.fleet.settings import FleetSettings, usual_learning
from colme.live.fleet.tally import Tally
from colme.live.fleet.watching import Watcher

__all__ = ["Fleet", "FleetSettings", "Tally", "Watcher", "usual_learning"]
