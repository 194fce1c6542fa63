"""Many experiments as one: a grid over an experiment, measured point by point into one table.

Lives here: points, their measures, the journal of a sweep, its results and what runs it.  Must not
know the command line or tables for people.
"""

from colme.sweep.point_rows import column_kinds, measure_point, tabulate
from colme.sweep.run import ENGINES, Outcome, run_sweep
from colme.sweep.spec import Point, Sweep

__all__ = [
    "ENGINES",
    "Outcome",
    "Point",
    "Sweep",
    "column_kinds",
    "measure_point",
    "run_sweep",
    "tabulate",
]
