"""What a simulation leaves behind: everything, or a digest, under one protocol.

Lives here: Record, Trajectory, Digest, and the sinks that a simulation writes to.  Must not know
algorithms.
"""

from colme.results.digest import Digest, Fold, n_classmates
from colme.results.files import check_path
from colme.results.result import SimulationResult, Times
from colme.results.running_metrics import (
    BYTES_PER_AGENT,
    QUANTILES,
    RunningMetrics,
    default_times,
)
from colme.results.trajectory import DEFAULT_LIMIT, MOST_IN_INT16, Keep, Record, Trajectory

__all__ = [
    "BYTES_PER_AGENT",
    "DEFAULT_LIMIT",
    "MOST_IN_INT16",
    "QUANTILES",
    "Digest",
    "Fold",
    "Keep",
    "Record",
    "RunningMetrics",
    "SimulationResult",
    "Times",
    "Trajectory",
    "check_path",
    "default_times",
    "n_classmates",
]
