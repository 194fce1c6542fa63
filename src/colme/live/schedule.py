"""When a node acts, and by which clock.

Holds intervals and time limits.  Must not know what is done when.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


running_clock = partial(time.clock_gettime, _CLOCK)
"""Returns seconds by a clock that runs while a device sleeps and never jumps when it is set."""


@dataclass(frozen=True)
class Schedule:
    """When a node acts.

    Attributes
    ----------
    interval, every
        Seconds from one tick to the next, and from one snapshot to the next (0: every tick).
    in_step
        Tick when a sample arrives and wait for every reply, as agents in lockstep do.
    stop_at_end
        End when the source ends.

    Examples
    --------
    >>> Schedule(interval=0.1).timeout
    0.1
    """

    interval: float = 1.0
    every: float = 0.0
    in_step: bool = False
    stop_at_end: bool = False

    @property
    def timeout(self) -> float:
        """Seconds to wait for a reply."""
        return min(2.0, max(0.1, 0.9 * self.interval))
