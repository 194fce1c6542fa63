"""What the compiled loop reads and writes: named tuples of arrays.

Lives here: their declarations.  Must not know how any of them is filled.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme.engine.last_wrong import ClassCounts
from colme.summary import View

Array: TypeAlias = NDArray[np.float64]


class Agents(NamedTuple):
    """What does not change in a run: labels, who knows whom, what is known of each stream.

    Attributes
    ----------
    labels
        The true class of each agent.
    names, starts
        Agent a knows names[starts[a] : starts[a + 1]], itself among them; without `starts`
        everybody knows everybody.
    revisits
        int[agent, 2]: every how many queries one goes to an excluded peer, 0: none; in the first
        epoch of the agent's own stream, and later.
    scales
        The most that the standard deviation of each agent's samples can be.

    Examples
    --------
    >>> nobody = np.empty(0, np.int64)
    >>> Agents(np.array([0, 1]), nobody, nobody, np.zeros((2, 2), np.int64), np.ones(2)).labels
    array([0, 1])
    """

    labels: NDArray[np.int64]
    names: NDArray[np.int64]
    starts: NDArray[np.int64]
    revisits: NDArray[np.int64]
    scales: Array


class Block(NamedTuple):
    """What belongs to one block of time.

    Attributes
    ----------
    private, public
        What every agent knows of its own stream, and what it tells others: views [agent, time].
    suggestions
        int32[time, agent]: who is suggested to each agent as a new peer, -1 for nobody; without
        times nobody ever is.
    slots
        Where each step is written in the output; -1 for nowhere.
    is_first
        Whether the run begins with this block.

    Examples
    --------
    >>> views = View(*[np.ones((1, 1))] * len(View._fields))
    >>> Block(views, views, np.empty((0, 0), np.int32), np.zeros(1, np.int64), True).is_first
    True
    """

    private: View[Array]
    public: View[Array]
    suggestions: NDArray[np.int32]
    slots: NDArray[np.int64]
    is_first: bool


class Output(NamedTuple):
    """Where a piece of work writes: arrays that begin with its first agent, or have no agents.

    Attributes
    ----------
    estimates
        [agent, slot].
    class_counts, likely_counts
        [agent, slot, class]: members of each class in the optimistic, and in the likely class.

    Examples
    --------
    >>> counts = np.empty((0, 0, 1), np.int16)
    >>> Output(np.empty((1, 1)), counts, counts).estimates.shape
    (1, 1)
    """

    estimates: Array
    class_counts: ClassCounts
    likely_counts: ClassCounts
