"""The compiled loop over blocks of time, and the memory it works in.

Lives here: what the loop reads, does and writes.  Must not know files, progress bars or plots.
"""

from colme.engine.inputs import Agents, Block, Output
from colme.engine.last_wrong import (
    ClassCounts,
    fold_classes,
    fold_errors,
    last_wrong_class,
    last_wrong_estimate,
)
from colme.engine.loop import collaborate
from colme.engine.runner import Plan, Sink, ViewSource, run_all
from colme.engine.workspace import Workspace

__all__ = [
    "Agents",
    "Block",
    "ClassCounts",
    "Output",
    "Plan",
    "Sink",
    "ViewSource",
    "Workspace",
    "collaborate",
    "fold_classes",
    "fold_errors",
    "last_wrong_class",
    "last_wrong_estimate",
    "run_all",
]
