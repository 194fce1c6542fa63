"""Runs of the engine on views that a test has made, compiled or plain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme.algorithm import Weighting
from colme.engine import Agents, Block, Output, Workspace, collaborate
from colme.rules import Choice
from colme.summary import View

Array = NDArray[np.float64]
NO_STATES = np.empty((0, 0), np.int64)
NO_COUNTS = np.empty((0, 0, 1), np.int16)
NO_SUGGESTIONS = np.empty((0, 0), np.int32)


def everyone(labels: ArrayLike, scale: float = 1.0) -> Agents:
    """Return agents that all know each other, never ask again, and have samples of one scale."""
    classes = np.asarray(labels, np.int64)
    nobody = np.empty(0, np.int64)
    nobody.setflags(write=False)  # as contacts are: one type of array, one compilation
    revisits = np.zeros((classes.size, 2), np.int64)
    return Agents(classes, nobody, nobody, revisits, np.full(classes.size, scale))


def run_block(
    choice: Choice,
    agents: Agents,
    views: View[Array],
    slots: NDArray[np.int64],
    output: Output,
    *,
    first: int = 0,
    last: int | None = None,
    workspace: Workspace | None = None,
    states: NDArray[np.int64] = NO_STATES,
    is_first: bool = True,
    plain: bool = False,
) -> None:
    """Run agents first..last-1 over views[agent, time], all of them unless `last` is given."""
    n_agents, n_classes = agents.labels.size, int(agents.labels.max()) + 1
    workspace = workspace or Workspace.blank(n_agents, n_classes)
    model = workspace.model if choice.weighting == Weighting.MODEL else None
    block = Block(views, views, NO_SUGGESTIONS, slots, is_first)
    last = n_agents if last is None else last
    loop: Any = collaborate.function if plain else collaborate
    loop(choice, agents, block, workspace, model, states, first, last, output)
