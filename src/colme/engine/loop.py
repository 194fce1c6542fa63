"""The compiled loop: every agent, step by step, on its own row.

Lives here: the order of an agent's step, which calls the rules and decides nothing.  Must not know
files, progress bars or threads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colme._compile import kernel
from colme.engine.inputs import Agents, Block, Output
from colme.engine.outcome import Left, conclude
from colme.engine.steps import ask, begin, meet, perceive
from colme.engine.workspace import Workspace, load_state, save_state
from colme.model import Model
from colme.rules import Choice, Turn, test_remembered
from colme.summary import view_at


@kernel
def collaborate(
    choice: Choice,
    agents: Agents,
    block: Block,
    workspace: Workspace,
    model: Model | None,
    states: NDArray[np.int64],
    first: int,
    last: int,
    output: Output,
) -> None:
    """Run agents first..last-1 over a block of time, one after another.

    `model` is the workspace's, or None for algorithms that weigh without one.  What agents know is
    saved in states[agent], unless that has no agents, and loaded from there unless this is the
    first block.  Likely classes need the whole horizon in one block.

    Examples
    --------
    >>> from colme import simulate
    >>> simulate([[0.0, 1.0], [0.5, 0.5]], "local", sigma=0.5).estimates[0, 1].tolist()
    [0.25, 0.75]
    """
    n_agents, n_steps = block.public.mean.shape
    row, index, past = workspace.row, workspace.row_index, workspace.past
    scratch = workspace.scratch
    labels, suggested = agents.labels, block.suggestions.shape[0] > 0
    for a in range(first, last):
        if block.is_first:
            mark = begin(choice, a, n_agents, agents, row, index, past, model)
        else:
            mark = load_state(a, workspace, states)
        own, n, revisit, n_changed = mark.own, mark.n_known, mark.revisit, 0
        turn = Turn(mark.cursor, mark.visited, mark.n_asked)
        left = Left(mark.n_changed, mark.n_uncounted, mark.weights, mark.total)
        for t in range(n_steps):
            if perceive(choice, own, n, view_at(block.private, (a, t)), row, past, model):
                turn, revisit = Turn(turn.cursor, turn.visited, 0), agents.revisits[a, 1]
                n_changed += 1
            n_changed += test_remembered(choice, own, n, row)
            newcomer = block.suggestions[t, a] if suggested else -1
            if newcomer >= 0:
                n_changed += meet(choice, own, n, turn.cursor, newcomer, labels, row, index, model)
            asked = ask(
                choice, own, n, revisit, turn, block.public, t, row, index, past, model, scratch
            )
            turn, where, scale = asked.turn, (a - first, block.slots[t]), agents.scales[a]
            n_changed += asked.n_changed
            left = conclude(
                choice, own, n, asked, n_changed, left, where, scale, False, labels, row, index,
                model, scratch, output,
            )  # fmt: skip
            n_changed = 0
        if states.shape[0] > 0:
            sums, changes = (left.weights, left.total), (left.n_changed, left.n_uncounted)
            save_state(a, own, n, turn, revisit, changes, sums, workspace, states)
