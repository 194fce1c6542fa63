"""Who knows whom: given, drawn at random, or read from a graph.

Lives here: contacts and the ways to make them.  Must not know means, samples or algorithms.

Examples
--------
>>> Contacts.regular(n_agents=10, degree=4).size
5
"""

from colme.contacts.contacts import Contacts

__all__ = ["Contacts"]
