"""Personalised means from a table: who behaves like whom, and what each agent's mean is.

Lives here: the analyst's door.  Must not know simulations, live fleets or the command line.
"""

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
from colme.data.reading import Moments, Reading, read
from colme.data.summaries import Halves, Summaries

__all__ = [
    "MEANINGS",
    "Class",
    "Comparison",
    "Estimates",
    "Halves",
    "LeftOutError",
    "Moments",
    "Noise",
    "Reading",
    "Score",
    "Summaries",
    "compare",
    "compare_rows",
    "default_methods",
    "estimate",
    "read",
    "split",
]
