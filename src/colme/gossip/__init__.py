"""Peer sampling: a service that offers peers to agents, of which each keeps only a few names.

Lives here: the settings of the service, and the caches that it exchanges.  Must not know means,
samples or algorithms.
"""

from colme.gossip.caches import SMALLEST_CACHE
from colme.gossip.gossip import Gossip, Offers

__all__ = ["SMALLEST_CACHE", "Gossip", "Offers"]
