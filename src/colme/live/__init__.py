"""Agents on real devices, over a real network.

Lives here: everything between a sans-IO `Agent` and the world: wire, trust, membership, sources,
store, node and fleet.  Must not know the simulator.
"""

__all__: list[str] = []
