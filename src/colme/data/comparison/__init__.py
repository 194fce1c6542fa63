"""Comparison: whether collaboration pays on these data.

Lives here: splits, methods that everyone knows, and errors on rows held out.  Must not know files.
"""

from colme.data.comparison.held_out import compare, compare_rows, default_methods, split
from colme.data.comparison.methods import LeftOutError
from colme.data.comparison.scores import Comparison, Score

__all__ = [
    "Comparison",
    "LeftOutError",
    "Score",
    "compare",
    "compare_rows",
    "default_methods",
    "split",
]
