"""Comparison: whether collaboration pays on these data.

Lives here: splits, methods that everyone knows, and errors on rows held out.  Must not know files.
"""

from colme.data.comparing.baselines import LeftOutError
from colme.data.comparing.comparison import Comparison, Score
from colme.data.comparing.front import compare, compare_rows, default_methods
from colme.data.comparing.splitting import split

__all__ = [
    "Comparison",
    "LeftOutError",
    "Score",
    "compare",
    "compare_rows",
    "default_methods",
    "split",
]
