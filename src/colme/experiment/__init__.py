"""An experiment as data: a problem, the algorithms to compare on it, and how long to run.

Lives here: reading and validating experiments, one table of a file per room, running them, summing
them up.  Must not know the command line, tables for people or plots.
"""

from colme.experiment.arrivals import ArrivalsSpec
from colme.experiment.bounds import BOUND_KINDS, BoundSpec, DriftSpec
from colme.experiment.contacts import ContactsSpec
from colme.experiment.experiment import Experiment
from colme.experiment.problem import ChangeSpec, ProblemSpec
from colme.experiment.summary import summarise
from colme.experiment.world import World

__all__ = [
    "BOUND_KINDS",
    "ArrivalsSpec",
    "BoundSpec",
    "ChangeSpec",
    "ContactsSpec",
    "DriftSpec",
    "Experiment",
    "ProblemSpec",
    "World",
    "summarise",
]
