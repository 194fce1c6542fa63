"""Tables in: from files to summaries by agent.

Lives here: formats, columns, bad rows, slices in time, and the one pass over all rows.  Must not
know estimates.
"""

from colme.data.reader.row_reader import read_rows
from colme.data.reader.table import Reading, read

__all__ = ["Reading", "read", "read_rows"]
