"""What a large simulation costs: memory by counting, time by a trial.

Lives here: estimates of both.  Must not know how anything runs.
"""

from colme.large.cost import Cost, free_memory
from colme.large.trial import seconds_of

__all__ = ["Cost", "free_memory", "seconds_of"]
