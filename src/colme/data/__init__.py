"""Personalised means from a table: who behaves like whom, and what each agent's mean is.

Lives here: the analyst's door.  Must not know simulations, live fleets or the command line.
"""

from colme.data.summaries import Summaries

__all__ = ["Summaries"]
