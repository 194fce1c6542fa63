"""The world's truth: who belongs to which class, true means, what changes; it draws samples.

Lives here: problems and their streams.  Must not know algorithms.
"""

from colme.problem.changes import Change
from colme.problem.problem import Problem

__all__ = ["Change", "Problem"]
