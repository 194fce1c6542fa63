"""Personalised means from a table: who behaves like whom, and what each agent's mean is.

Lives here: the analyst's door.  Must not know simulations, live fleets or the command line.
`ColMEMeans` is offered too, and loaded when it is first asked for: it needs scikit-learn.
"""

from typing import TYPE_CHECKING, Any

from colme.data.asking import Question, find_out
from colme.data.comparing import (
    Comparison,
    LeftOutError,
    Score,
    compare,
    compare_rows,
    default_methods,
    split,
)
from colme.data.estimating import MEANINGS, Class, Estimates, Noise, estimate
from colme.data.finding import Finding
from colme.data.online import OnlineMeans
from colme.data.reading import Moments, Reading, read, read_rows
from colme.data.replaying import Drift, Replay, replay
from colme.data.report import write_report
from colme.data.summaries import Halves, Summaries
from colme.data.writing import write

__all__ = [
    "MEANINGS",
    "Class",
    "Comparison",
    "Drift",
    "Estimates",
    "Finding",
    "Halves",
    "LeftOutError",
    "Moments",
    "Noise",
    "OnlineMeans",
    "Question",
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
else:

    def __getattr__(name: str) -> Any:
        if name != "ColMEMeans":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            from colme.data.learner import ColMEMeans  # noqa: PLC0415
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] != "sklearn":
                raise
            raise ImportError(
                "ColMEMeans needs scikit-learn: pip install 'colme[sklearn]'"
            ) from None
        return ColMEMeans

    def __dir__() -> list[str]:
        return sorted({*globals(), "ColMEMeans"})
