"""What an agent makes of its row at one step: the estimate, its class, and what is recorded.

Lives here: pooling with and without a model inside the compiled loop.  Must not know queries.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled
from colme.algorithm import ClassTest, QueryStrategy, Weighting
from colme.engine.entries import count_members
from colme.engine.inputs import Output
from colme.engine.steps import Asked
from colme.engine.workspace import RowIndex, padded
from colme.model import (
    Model,
    Scratch,
    estimate,
    fit_noise,
    likely,
    peer_chances,
    refit,
    refit_due,
    sum_members,
    update_chances,
)
from colme.rules import (
    Choice,
    Row,
    classify,
    pool,
    simple_sums,
)


@compiled
def pool_members(
    choice: Choice,
    own: int,
    n: int,
    asked: Asked,
    n_changed: int,
    weights: float,
    total: float,
    row: Row,
) -> tuple[int, float, float, float]:
    """Classify; return (changes, estimate, sums) of algorithms that weigh without a model.

    `weights` and `total` are the sums over peers.  A shortcut leaves the result as it is: simple
    weights only need these, which one reply changes by one term as long as the class stays.

    Examples
    --------
    >>> from colme.rules import Turn
    >>> row = Row.blank(16, mean=[0.0, 1.0] + [0.0] * 14, n_samples=[3.0, 1.0] + [0.0] * 14)
    >>> asked = Asked(1, Turn(), 0, 0, 0.0, 0.0)
    >>> pool_members(Choice(1, 0, 0, 0.0, 1.0), 0, 2, asked, 1, 0.0, 0.0, row)
    (1, 0.25, 1.0, 1.0)
    """
    l, n_row, means, counts = asked.peer, padded(n), row.views.mean, row.views.n_samples
    if choice.query == QueryStrategy.NONE:
        # Nobody is ever asked: the class stays, and only the agent itself has weight.
        return n_changed, means[own] if counts[own] > 0.0 else math.nan, weights, total
    if choice.weighting != Weighting.SIMPLE:
        changed, pooled = pool(choice, own, n_row, row)
        return n_changed + changed, pooled, weights, total
    n_changed += classify(choice, own, n_row, row)
    mine = counts[own] * means[own]
    if n_changed > 0:
        weights, total = simple_sums(n_row, row)
        weights -= counts[own]
        total -= mine
    elif l >= 0 and row.member[l] and row.confirmed[l]:
        weights += counts[l] - asked.old_n_samples
        total += counts[l] * means[l] - asked.old_n_samples * asked.old_mean
    heard = weights + counts[own]
    pooled = (total + mine) / heard if heard > 0.0 else math.nan
    return n_changed, pooled, weights, total


@compiled
def fit_model(
    choice: Choice,
    own: int,
    n: int,
    asked: Asked,
    n_changed: int,
    scale: float,
    with_likely: bool,
    row: Row,
    model: Model,
    scratch: Scratch,
) -> int:
    """Classify, fit the model again when it is time to, and bring its sums up to date.

    They are kept up to date with every reply, and computed from scratch when a peer changes
    sides, after a fit, and once a round.  Returns the number of changes.

    Examples
    --------
    >>> from colme.rules import Turn
    >>> row = Row.blank(16, n_samples=[9.0] * 3 + [0.0] * 13, squares=[2.0] * 16)
    >>> model, asked = Model.blank(), Asked(1, Turn(n_asked=9), 0, 0, 0.0, 0.0)
    >>> choice = Choice(2, 0, 4, 0.0, 1.0)
    >>> fit_model(choice, 0, 3, asked, 0, 0.5, False, row, model, Scratch.blank(16))
    1
    >>> model.fit.width > 0  # there is a fit
    True
    """
    n_changed += classify(choice, own, padded(n), row)
    l, count, n_asked = asked.peer, row.views.n_samples[own], float(asked.turn.n_asked)
    if l >= 0 and refit_due(model, count, n_asked):
        fit_noise(n, scale, row, model)
        refit(own, n, count, n_asked, row, model, scratch)
        n_changed += 1
    if n_changed > 0:
        sum_members(own, n, row, model, scratch)
    if with_likely and n_changed > 0:
        peer_chances(n, row, model, scratch)
    elif with_likely and l >= 0:
        update_chances(l, row, model, scratch)
    return n_changed


@compiled
def record(
    where: tuple[int, int],
    pooled: float,
    own: int,
    n: int,
    changed: bool,
    labels: NDArray[np.int64],
    row: Row,
    index: RowIndex,
    model: Model | None,
    scratch: Scratch,
    output: Output,
) -> None:
    """Write the estimate and the members of both classes, at (agent, slot) of the output.

    With a model the estimate is computed here, otherwise it is `pooled`; `changed` says whether
    members have changed since they were counted last.

    Examples
    --------
    >>> from colme.engine import Workspace
    >>> workspace, counts = Workspace.blank(longest_row=3, n_classes=1), np.empty((1, 1, 1), int)
    >>> row, index, *_ = workspace
    >>> output, labels = Output(np.empty((1, 1)), counts, counts[:0]), np.zeros(3, int)
    >>> scratch = workspace.scratch
    >>> record((0, 0), 0.25, 0, 3, True, labels, row, index, None, scratch, output)
    >>> output.estimates.item(), output.class_counts.item()
    (0.25, 3)
    """
    a, slot = where
    if output.estimates.shape[0] > 0:
        if model is not None:
            pooled = estimate(own, n, row, model, scratch)
        output.estimates[a, slot] = pooled
    if output.class_counts.shape[0] > 0:
        count_members(a, slot, n, changed, labels, row, index, output.class_counts)
    if model is not None and output.likely_counts.shape[0] > 0:
        likely(own, n, row, model, scratch, index.same)
        likely_counts = output.likely_counts
        for k in range(likely_counts.shape[2]):
            likely_counts[a, slot, k] = 0
        for l in range(n):
            likely_counts[a, slot, labels[index.known[l]]] += index.same[l]


class Left(NamedTuple):
    """What a step leaves to the next one, beside the row and the model.

    Attributes
    ----------
    n_changed, n_uncounted
        Changes of the class that are not summed up yet, or not counted yet.
    weights, total
        Σ weights and Σ weights · means of the peers, where these are kept up to date.

    Examples
    --------
    >>> Left(1, 0, 0.0, 0.0).n_changed
    1
    """

    n_changed: int
    n_uncounted: int
    weights: float
    total: float


@compiled
def conclude(
    choice: Choice,
    own: int,
    n: int,
    asked: Asked,
    n_changed: int,
    left: Left,
    where: tuple[int, int],
    scale: float,
    is_shared: bool,
    labels: NDArray[np.int64],
    row: Row,
    index: RowIndex,
    model: Model | None,
    scratch: Scratch,
    output: Output,
) -> Left:
    """End a step: classify, estimate, and write the result at (agent, slot) of the output.

    `n_changed` counts the changes of this step.  `is_shared` says that the scratch memory was used
    for others since this agent's last step.

    Examples
    --------
    >>> from colme.engine import Workspace
    >>> from colme.rules import Turn
    >>> workspace, counts = Workspace.blank(longest_row=3, n_classes=1), np.empty((1, 1, 1), int)
    >>> row, index, *_ = workspace
    >>> row.views.mean[1], row.views.n_samples[:2] = 1.0, [3.0, 1.0]
    >>> output = Output(np.empty((1, 1)), counts, counts[:0])
    >>> asked = Asked(1, Turn(), 0, 0, 0.0, 0.0)
    >>> choice, labels = Choice(1, 0, 0, 0.0, 1.0), np.zeros(3, int)
    >>> start, here, rest = Left(1, 0, 0.0, 0.0), (0, 0), (row, index, None, workspace.scratch)
    >>> left = conclude(
    ...     choice, 0, 3, asked, 0, start, here, 0.5, False, labels, *rest, output
    ... )
    >>> output.estimates.item(), left.n_changed
    (0.25, 0)
    """
    with_classes, with_likely = output.class_counts.shape[0] > 0, output.likely_counts.shape[0] > 0
    slot, n_changed = where[1], n_changed + left.n_changed
    weights, total, pooled = left.weights, left.total, 0.0
    # Without a test that is final nothing is decided for good: a step that is not kept may be left
    # out.
    if slot < 0 and model is None and choice.class_test < ClassTest.JOINT:
        return Left(n_changed + 1, left.n_uncounted, weights, total)
    n_uncounted = left.n_uncounted + asked.n_dropped
    if model is not None:
        n_changed = fit_model(
            choice,
            own,
            n,
            asked,
            n_changed,
            scale,
            with_likely and not is_shared,
            row,
            model,
            scratch,
        )
        if with_likely and is_shared:
            peer_chances(n, row, model, scratch)
    else:
        n_changed, pooled, weights, total = pool_members(
            choice, own, n, asked, n_changed + asked.n_dropped, weights, total, row
        )
    n_uncounted += n_changed
    if slot >= 0:
        record(where, pooled, own, n, n_uncounted > 0, labels, row, index, model, scratch, output)
        n_uncounted = 0 if with_classes else n_uncounted
    return Left(0, n_uncounted, weights, total)
