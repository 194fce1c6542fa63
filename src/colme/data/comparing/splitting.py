"""Splitting: which rows of a table an agent learns from, and which it is judged by.

Lives here: the split of every agent's rows by chance.  Must not know methods or errors.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check
from colme.data.summaries import Summaries

__all__ = ["split"]


def split(
    agents: ArrayLike, values: ArrayLike, *, share: float = 0.5, seed: int = 0
) -> tuple[Summaries, Summaries]:
    """Return the summaries of the rows to fit and of those held out, drawn agent by agent.

    Parameters
    ----------
    agents, values
        Whose sample, and the sample: arrays, lists, or columns of pandas, polars or Arrow.
    share
        Which part of every agent's rows is fitted, between 0 and 1.
    seed
        Of the draw; the same seed and table give the same split.

    Notes
    -----
    Of n rows ⌊share · n⌋ are fitted, but at least one, and at least one is held out.  An agent with
    one row is fitted only: it helps its peers as it would in earnest, and is not judged.

    Examples
    --------
    >>> fit, held_out = split(["a", "b", "a", "a", "c", "c"], [1.0, 5.0, 3.0, 2.0, 0.0, 4.0])
    >>> fit.agents.tolist(), fit.counts.tolist()
    (['a', 'b', 'c'], [1, 1, 1])
    >>> held_out.agents.tolist(), held_out.counts.tolist()
    (['a', 'c'], [2, 1])
    """
    if not 0 < _check.share("share", share) < 1:
        raise ValueError(
            f"share must be between 0 and 1, so that both parts have rows; received {share}"
        )
    whole = Summaries.of(agents, values)
    place = np.unique(np.asarray(agents), return_inverse=True)[1]
    samples = np.asarray(values, dtype=np.float64)
    counts = whole.counts
    fitted = np.clip(np.floor(share * counts), 1, np.maximum(counts - 1, 1))
    chosen = _turns(place, counts, seed) < fitted[place]
    fit, held_out = (_part(whole, place[rows], samples[rows]) for rows in (chosen, ~chosen))
    return fit, held_out


def _turns(place: NDArray[np.intp], counts: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Return when each row has its turn among the rows of its agent, in an order by chance."""
    chance = np.random.default_rng(seed).random(len(place))
    order = np.lexsort((chance, place))
    first = np.repeat(np.cumsum(counts) - counts, counts)
    turns = np.empty(len(place), np.int64)
    turns[order] = np.arange(len(place)) - first
    return turns


def _part(whole: Summaries, place: NDArray[np.intp], samples: NDArray[np.float64]) -> Summaries:
    """Return the summaries of some rows under the names of the whole table."""
    numbered = Summaries.of(place, samples)
    return replace(numbered, agents=whole.agents[numbered.agents])
