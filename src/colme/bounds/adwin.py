"""ADWIN, the adaptive window of River: another detector of changes, for comparison.

Lives here: the only import of river.  Must not know what follows from a change.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["Adwin"]


class Adwin:
    """River's ADWIN with delta = alarm; its memory is not part of a stream's state.

    Examples
    --------
    >>> detector = Adwin(alarm=0.001)
    >>> any([detector.changed(float(t >= 500)) for t in range(1000)])
    True
    """

    def __init__(self, alarm: float) -> None:
        try:
            drift: Any = importlib.import_module("river.drift")
        except ImportError:
            raise ImportError("ADWIN is in river: pip install 'colme[drift]'") from None
        self._adwin = drift.ADWIN(delta=alarm)

    def changed(self, sample: float) -> bool:
        """Return whether ADWIN detects a change with this sample."""
        self._adwin.update(sample)
        return bool(self._adwin.drift_detected)
