"""Online collaborative personalised mean estimation.

Many agents each receive their own stream of numbers and want their own mean, fast.  Some share
the same mean, nobody knows which.  `simulate` runs the algorithms over samples, `Agent` is one
agent for your own device, `theory` tells how long it takes.
"""

from colme import bounds, metrics, theory
from colme.agent import Agent
from colme.algorithm import ALGORITHMS, Algorithm, ClassTest, QueryStrategy, Weighting
from colme.arrivals import Arrivals
from colme.contacts import Contacts
from colme.gossip import Gossip
from colme.lockstep import lockstep
from colme.messages import Query, Reply, Snapshot
from colme.neighbours import METHODS, simulate_neighbours
from colme.problem import Change, Problem
from colme.results import Digest, Record, Trajectory
from colme.simulate import simulate, simulate_large

__version__ = "0.1.0"

__all__ = [
    "ALGORITHMS",
    "METHODS",
    "Agent",
    "Algorithm",
    "Arrivals",
    "Change",
    "ClassTest",
    "Contacts",
    "Digest",
    "Gossip",
    "Problem",
    "Query",
    "QueryStrategy",
    "Record",
    "Reply",
    "Snapshot",
    "Trajectory",
    "Weighting",
    "bounds",
    "lockstep",
    "metrics",
    "simulate",
    "simulate_large",
    "simulate_neighbours",
    "theory",
]
