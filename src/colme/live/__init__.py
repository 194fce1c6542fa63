"""Agents on real devices, over a real network.

Holds everything between an `Agent` and the world: wire, keys, membership, sources, store, node and
fleet.  Must not know the simulator.
"""

__all__: list[str] = []
