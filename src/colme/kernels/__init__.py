"""The compiled loops: they call the rules and decide nothing.

Lives here: loops over time, agents and rows.  Must not know files, progress bars or problems.
"""

from colme.kernels.modelled import collaborate_by_model
from colme.kernels.rows import Desk, Fleet
from colme.kernels.settling import (
    ClassCounts,
    fold_classes,
    fold_errors,
    last_wrong_class,
    last_wrong_estimate,
)
from colme.kernels.weighted import collaborate

__all__ = [
    "ClassCounts",
    "Desk",
    "Fleet",
    "collaborate",
    "collaborate_by_model",
    "fold_classes",
    "fold_errors",
    "last_wrong_class",
    "last_wrong_estimate",
]
