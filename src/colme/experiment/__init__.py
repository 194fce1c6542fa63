"""An experiment as data: a problem, the algorithms to compare on it, and how long to run.

Lives here: the tables of a file, one module each; building an experiment, running it, measuring and
summarising its results.  Must not know the command line, tables for people or plots.
"""

from colme.experiment.arrivals import ArrivalsSpec
from colme.experiment.bounds import BOUND_KINDS, BoundSpec, DriftSpec
from colme.experiment.contacts import ContactsSpec
from colme.experiment.experiment import Experiment
from colme.experiment.measures import Measures, measure_result, summarise
from colme.experiment.problem import ChangeSpec, ProblemSpec
from colme.experiment.scenario import Scenario

__all__ = [
    "BOUND_KINDS",
    "ArrivalsSpec",
    "BoundSpec",
    "ChangeSpec",
    "ContactsSpec",
    "DriftSpec",
    "Experiment",
    "Measures",
    "ProblemSpec",
    "Scenario",
    "measure_result",
    "summarise",
]
