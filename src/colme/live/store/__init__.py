"""Durable storage for the agents of one process: a checkpoint each, and a journal of events since.

Holds the store, its tables, its file, and what can be wrong with them.  Must not know what events
and states mean, nor the network.
"""

from colme.live.store.errors import StoreBusy, StoreError, StoreUnwritable
from colme.live.store.store import LARGEST_ENTRY, Store
from colme.live.store.tables import SavedState

__all__ = ["LARGEST_ENTRY", "SavedState", "Store", "StoreBusy", "StoreError", "StoreUnwritable"]
