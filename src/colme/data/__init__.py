"""Personalised means from a table: who behaves like whom, and what each agent's mean is.

Lives here: the analyst's door.  Must not know simulations, live fleets or the command line.
"""

from colme.data.baselines import LeftOutError
from colme.data.comparing import compare, compare_rows, default_methods
from colme.data.comparison import Comparison, Score
from colme.data.estimates import MEANINGS, Class, Estimates
from colme.data.estimating import estimate
from colme.data.noise import Noise
from colme.data.splitting import split
from colme.data.summaries import Halves, Summaries

__all__ = [
    "MEANINGS",
    "Class",
    "Comparison",
    "Estimates",
    "Halves",
    "LeftOutError",
    "Noise",
    "Score",
    "Summaries",
    "compare",
    "compare_rows",
    "default_methods",
    "estimate",
    "split",
]
