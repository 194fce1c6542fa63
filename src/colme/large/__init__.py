"""Fleets too large to keep: blocks of time, rows of a few known peers, metrics folded on the way.

Lives here: what a large simulation costs, and how it goes from block to block.  Must not know
files, plots or the command line.
"""

from colme.large.cost import Cost, free_memory
from colme.large.front import simulate_large
from colme.large.trial import seconds_of

__all__ = ["Cost", "free_memory", "seconds_of", "simulate_large"]
