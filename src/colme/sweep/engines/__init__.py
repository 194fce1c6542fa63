"""Who measures the points of a sweep: processes of this machine, or a cluster.

Lives here: handing out points and hearing back, whatever dies in between.  Must not know grids,
journals or results.
"""

from colme.sweep.engines.cluster import compute_on_cluster
from colme.sweep.engines.local import compute_here
from colme.sweep.engines.task import PointError, Task

__all__ = ["PointError", "Task", "compute_here", "compute_on_cluster"]
