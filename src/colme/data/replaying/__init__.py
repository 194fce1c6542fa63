"""Replay: a table in order of time, estimated as if it were then.

Lives here: how estimates evolved, and which agents' means changed.  Must not know files, or how
anything is shown.
"""

from colme.data.replaying.drifts import Drift, find_drifts
from colme.data.replaying.front import Replay, replay

__all__ = ["Drift", "Replay", "find_drifts", "replay"]
