"""Collaboration on a graph: agents exchange with all their neighbours at every step.

Lives here: B-ColME, C-ColME and CL-ColME, as devices can run them and as they were published.  Must
not know experiments, studies or files.

Examples
--------
>>> list(METHODS)[:3]
['b-colme', 'c-colme', 'cl-colme']
"""

from colme.neighbours.graph_runs import bytes_of_graph, bytes_of_state, simulate_neighbours
from colme.neighbours.method import METHODS, Method

__all__ = ["METHODS", "Method", "bytes_of_graph", "bytes_of_state", "simulate_neighbours"]
