"""What a simulation leaves behind: everything, or a digest, under one protocol.

Lives here: Record, Trajectory, Digest, and the sinks that a simulation writes to.  Must not know
algorithms.
"""

from colme.results.digest import Digest
from colme.results.files import check_path
from colme.results.record import DEFAULT_LIMIT, Record, count_type
from colme.results.result import SimulationResult, Times
from colme.results.running_metrics import (
    BYTES_PER_AGENT,
    QUANTILES,
    RunningMetrics,
    default_times,
)
from colme.results.sinks import Fold, Keep, n_classmates
from colme.results.trajectory import Trajectory

__all__ = [
    "BYTES_PER_AGENT",
    "DEFAULT_LIMIT",
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
    "count_type",
    "default_times",
    "n_classmates",
]
