"""A demonstration fleet: many agents on this machine, in real processes, over a real network.

Lives here: its settings, its problem, its processes, and how well it learns.  Must not know the
command line.
"""

try:
    import zenoh as _zenoh  # noqa: F401
except ImportError:
    raise ImportError("fleets talk through eclipse-zenoh: pip install 'colme[live]'") from None

from colme.live.fleet.fleet_progress import FleetProgress
from colme.live.fleet.fleet_settings import FleetSettings, LiarSettings
from colme.live.fleet.local_fleet import LocalFleet
from colme.live.fleet.watcher import Watcher

__all__ = ["FleetProgress", "FleetSettings", "LiarSettings", "LocalFleet", "Watcher"]
