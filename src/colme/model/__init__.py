"""A model of the means an agent has heard of, and what it says about the agent's own.

Lives here: two descriptions of the row, weighed by how well they fit: a few classes, each with
one mean, among strays; or one crowd, spread like a bell, among strays.  The derivation is in
docs/8-sharp.md.  Must not know time, I/O, randomness or the class test.
"""

from colme.model.expectation import (
    chances,
    enter,
    estimate,
    expected_mean,
    gather,
    hear,
    likely,
    mean_precision,
    meet,
    meet_all,
)
from colme.model.fit import learn_noise, refit
from colme.model.state import MOST_CLASSES, N_FACTS, Bench, Model, forget, hurry, refit_due, reset

__all__ = [
    "MOST_CLASSES",
    "N_FACTS",
    "Bench",
    "Model",
    "chances",
    "enter",
    "estimate",
    "expected_mean",
    "forget",
    "gather",
    "hear",
    "hurry",
    "learn_noise",
    "likely",
    "mean_precision",
    "meet",
    "meet_all",
    "refit",
    "refit_due",
    "reset",
]
