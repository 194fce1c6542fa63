"""The compiled loop: every agent, step by step, on its own row.

Lives here: the order of an agent's step, which calls the rules and decides nothing.  Must not know
files, progress bars or threads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colme._compile import kernel
from colme.algorithm import ClassTest
from colme.engine.inputs import Agents, Block, Output
from colme.engine.outcome import fit_model, pool_members, record
from colme.engine.steps import ask, begin, meet, perceive
from colme.engine.workspace import Workspace, load_state, save_state
from colme.model import Model
from colme.rules import Choice, Turn
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
    with_classes, with_likely = output.class_counts.shape[0] > 0, output.likely_counts.shape[0] > 0
    # Without the joint or the paired test nothing is decided for good: a step that is not kept may be left out.
    is_sticky = model is not None or choice.class_test >= ClassTest.JOINT
    for a in range(first, last):
        if block.is_first:
            mark = begin(choice, a, n_agents, agents, row, index, past, model)
        else:
            mark = load_state(a, workspace, states)
        own, n, revisit, n_changed = mark.own, mark.n_known, mark.revisit, mark.n_changed
        turn = Turn(mark.cursor, mark.visited, mark.n_asked)
        n_uncounted, weights, total = mark.n_uncounted, mark.weights, mark.total
        for t in range(n_steps):
            if perceive(choice, own, n, view_at(block.private, (a, t)), row, past, model):
                turn, revisit = Turn(turn.cursor, turn.visited, 0), agents.revisits[a, 1]
                n_changed += 1
            newcomer = block.suggestions[t, a] if suggested else -1
            if newcomer >= 0:
                n_changed += meet(choice, own, n, turn.cursor, newcomer, labels, row, index, model)
            asked = ask(
                choice, own, n, revisit, turn, block.public, t, row, index, past, model, scratch
            )
            turn, slot, pooled = asked.turn, block.slots[t], 0.0
            n_changed += asked.n_changed
            if slot < 0 and not is_sticky:
                n_changed += 1
                continue
            if model is not None:
                scale = agents.scales[a]
                n_changed = fit_model(
                    choice, own, n, asked, n_changed, scale, with_likely, row, model, scratch
                )
            else:
                n_changed, pooled, weights, total = pool_members(
                    choice, own, n, asked, n_changed, weights, total, row
                )
            n_uncounted += n_changed
            n_changed = 0
            if slot >= 0:
                where, changed = (a - first, slot), n_uncounted > 0
                record(where, pooled, own, n, changed, labels, row, index, model, scratch, output)
                n_uncounted = 0 if with_classes else n_uncounted
        if states.shape[0] > 0:
            left = n_changed, n_uncounted
            save_state(a, own, n, turn, revisit, left, (weights, total), workspace, states)
