"""What the agents of one process keep for good: a checkpoint each, and a journal of events since.

Lives here: the store, its writer, its rows, its file, and what can be wrong with them.  Must not
know what events and states mean, nor the network.
"""

from colme.live.store.errors import StoreBusy, StoreError, StoreUnwritable
from colme.live.store.rows import Past
from colme.live.store.store import LARGEST_ENTRY, Store

__all__ = ["LARGEST_ENTRY", "Past", "Store", "StoreBusy", "StoreError", "StoreUnwritable"]
