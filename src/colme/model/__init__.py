"""A model of the means an agent has heard of, and what it says about the agent's own.

Lives here: two descriptions of the row, weighed by how well they fit: a few classes, each with
one mean, among outliers; or one crowd, spread like a bell, among outliers.  The derivation is in
docs/8-sharp.md.  Must not know time, I/O, randomness or the class test.
"""

from colme.model.expectation import (
    chances,
    estimate,
    expected_mean,
    likely,
    mean_precision,
    peer_chances,
    update_chances,
)
from colme.model.fit import fit_noise, refit
from colme.model.state import (
    MAX_CLASSES,
    Fit,
    Model,
    Scratch,
    note_forgotten,
    refit_due,
    refit_soon,
    reset,
)
from colme.model.sums import add_member, drop_member, sum_members, update_peer, update_peers

__all__ = [
    "MAX_CLASSES",
    "Fit",
    "Model",
    "Scratch",
    "add_member",
    "chances",
    "drop_member",
    "estimate",
    "expected_mean",
    "fit_noise",
    "likely",
    "mean_precision",
    "note_forgotten",
    "peer_chances",
    "refit",
    "refit_due",
    "refit_soon",
    "reset",
    "sum_members",
    "update_chances",
    "update_peer",
    "update_peers",
]
