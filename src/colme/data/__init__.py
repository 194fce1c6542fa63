"""Personalised means from a table: who behaves like whom, and what each agent's mean is.

Lives here: the analyst's door.  Must not know simulations, live fleets or the command line.
`ColMEMeans` is offered too, and loaded when it is first used: it needs scikit-learn.
"""

import warnings
from typing import TYPE_CHECKING, Any

from colme._extras import load
from colme.data.comparison import (
    Comparison,
    LeftOutError,
    Score,
    compare,
    compare_rows,
    default_methods,
    split,
)
from colme.data.drifts import Drift
from colme.data.estimator import MEANINGS, Class, Estimates, Noise, estimate
from colme.data.evolution import Replay, replay
from colme.data.export import write
from colme.data.online import OnlineMeans
from colme.data.reader import Reading, read, read_rows
from colme.data.report import write_report
from colme.data.request import EstimateRequest, find_out
from colme.data.result import EstimateResult
from colme.data.summaries import Halves, Moments, Summaries

__all__ = [
    "MEANINGS",
    "Class",
    "Comparison",
    "Drift",
    "EstimateRequest",
    "EstimateResult",
    "Estimates",
    "Halves",
    "LeftOutError",
    "Moments",
    "Noise",
    "OnlineMeans",
    "Reading",
    "Replay",
    "Score",
    "Summaries",
    "compare",
    "compare_rows",
    "default_methods",
    "estimate",
    "find_out",
    "read",
    "read_rows",
    "replay",
    "split",
    "write",
    "write_report",
]

if TYPE_CHECKING:
    from colme.data.learner import ColMEMeans as ColMEMeans

    Question = EstimateRequest
    Finding = EstimateResult
else:
    _RENAMED = {"Question": EstimateRequest, "Finding": EstimateResult}

    def __getattr__(name: str) -> Any:
        if name in _RENAMED:
            now = _RENAMED[name]
            message = f"colme.data.{name} is now colme.data.{now.__name__}"
            warnings.warn(message, DeprecationWarning, stacklevel=2)
            return now
        if name != "ColMEMeans":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        load("ColMEMeans needs scikit-learn", "sklearn", "sklearn")
        from colme.data.learner import ColMEMeans  # noqa: PLC0415

        return ColMEMeans

    def __dir__() -> list[str]:
        return sorted({*globals(), "ColMEMeans"})
