"""When a node acts, and by which clock.

Lives here: intervals and limits of waiting.  Must not know what is done when.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

__all__ = ["Pace", "running_clock"]


def running_clock() -> float:
    """Return seconds that go on while a device sleeps, and do not jump when its clock is set.

    Examples
    --------
    >>> running_clock() <= running_clock()
    True
    """
    boot = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(boot)


@dataclass(frozen=True)
class Pace:
    """When a node acts.

    Parameters
    ----------
    interval
        Seconds from one tick to the next.
    every
        Seconds from one snapshot to the next; 0: after every tick.
    in_step
        Tick when a sample has come, and wait for every answer: as agents in lockstep do.
    stop_at_end
        End when the source has ended, and not when told to.

    Examples
    --------
    >>> Pace(interval=0.1).timeout
    0.1
    """

    interval: float = 1.0
    every: float = 0.0
    in_step: bool = False
    stop_at_end: bool = False

    @property
    def timeout(self) -> float:
        """How long an answer is waited for, in seconds."""
        return min(2.0, max(0.1, 0.9 * self.interval))
