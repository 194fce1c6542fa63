"""Tables in: from files to summaries by agent.

Lives here: formats, columns, bad rows, slices in time, and the one pass over all rows.  Must not
know estimates.
"""

from colme.data.reading.front import Reading, read
from colme.data.reading.moments import Moments
from colme.data.reading.picking import read_rows

__all__ = ["Moments", "Reading", "read", "read_rows"]
