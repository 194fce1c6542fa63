"""ADWIN, the adaptive window of River: another detector of changes, for comparison.

Lives here: the only import of river.  Must not know what follows from a change.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


class AdwinDetector:
    """River's ADWIN with delta = alarm; its memory is not part of a stream's state.

    Examples
    --------
    >>> detector = AdwinDetector(scale=0.5, alarm=0.001)
    >>> any(detector.changed(float(t >= 500), t + 1, 0.0, 0.0) for t in range(1000))
    True
    """

    def __init__(self, scale: float, alarm: float) -> None:
        try:
            drift: Any = importlib.import_module("river.drift")
        except ImportError:
            raise ImportError("ADWIN is in river: pip install 'colme[drift]'") from None
        self._scale, self._alarm = scale, alarm
        self._adwin = drift.ADWIN(delta=alarm)

    def changed(self, sample: float, _count: int, _mean: float, _squares: float) -> bool:
        """Return whether ADWIN detects a change with this sample."""
        self._adwin.update(sample)
        return bool(self._adwin.drift_detected)

    def state(self) -> dict[str, list[float]]:
        """Return nothing: ADWIN begins with an empty memory."""
        return {}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Begin with an empty memory."""

    def find_epochs(self, samples: NDArray[np.float64], epochs: NDArray[np.float64]) -> None:
        """Write how often each stream samples[k, agent] has restarted, epochs[agent, k]."""
        for a, column in enumerate(samples.T.tolist()):
            detector, epoch = AdwinDetector(self._scale, self._alarm), 0
            for t, sample in enumerate(column):
                epochs[a, t] = epoch
                if detector.changed(sample, 0, 0.0, 0.0):
                    detector, epoch = AdwinDetector(self._scale, self._alarm), epoch + 1
