"""What is known of one stream: the one declaration that everything else follows.

Lives here: `View`, and how one is read from and written to columns of them.  Must not know peers.
"""

from __future__ import annotations

import math
from typing import Any, Generic, NamedTuple, TypeVar

from colme._compile import compiled

T = TypeVar("T")

_ZERO: Any = 0.0
_INFINITY: Any = math.inf


class View(NamedTuple, Generic[T]):
    """What is known of an agent's stream; or of many, with columns instead of numbers.

    One view has a number in each field.  The row of an agent has a list or an array [peer], the
    views of a whole run arrays [agent, time].

    Attributes
    ----------
    mean, n_samples
        The mean, and the number of samples it is taken over (0: never heard of).
    radius
        How far that mean may be from the truth, at the risk γ of the agent that looks.
    precision
        One over the variance of that mean, as the agent that looks estimates it (0: never heard
        of, or not estimated).
    spread, slope, offset
        The evidence around that mean, see `colme.bounds.Evidence`.
    squares
        Σ (x - x̄)² over those samples.
    epoch
        How often the stream has restarted.
    variance
        The variance of a sample that its agent vouches for: known beforehand, and of a mean over
        all samples of the epoch (+∞: not known).

    Examples
    --------
    >>> View(mean=0.5, n_samples=3).radius
    inf
    >>> view_at(View(*[[0.0, 1.0]] * len(View._fields)), 1).mean
    1.0
    """

    mean: T = _ZERO
    n_samples: T = _ZERO
    radius: T = _INFINITY
    precision: T = _ZERO
    spread: T = _INFINITY
    slope: T = _INFINITY
    offset: T = _ZERO
    squares: T = _ZERO
    epoch: T = _ZERO
    variance: T = _INFINITY


UNHEARD: View[float] = View()
"""The view of an agent never heard of."""

# The two functions below spell the fields out, because compiled code cannot go through them by
# name.  tests/test_summary.py holds them against the declaration.


@compiled
def view_at(views: View[Any], index: Any) -> View[float]:
    """Return one view: of entry l of a row, or of (agent, time) of a run; or columns of an agent.

    Examples
    --------
    >>> view_at(View(*[[0.0, 1.0]] * len(View._fields)), 0).mean
    0.0
    """
    return View(
        views.mean[index],
        views.n_samples[index],
        views.radius[index],
        views.precision[index],
        views.spread[index],
        views.slope[index],
        views.offset[index],
        views.squares[index],
        views.epoch[index],
        views.variance[index],
    )


@compiled
def set_view(views: View[Any], index: Any, view: View[float]) -> None:
    """Write one view to where `view_at` reads it.

    Examples
    --------
    >>> views = View(*([0.0] for _ in View._fields))
    >>> set_view(views, 0, View(mean=0.5))
    >>> view_at(views, 0).mean
    0.5
    """
    views.mean[index] = view.mean
    views.n_samples[index] = view.n_samples
    views.radius[index] = view.radius
    views.precision[index] = view.precision
    views.spread[index] = view.spread
    views.slope[index] = view.slope
    views.offset[index] = view.offset
    views.squares[index] = view.squares
    views.epoch[index] = view.epoch
    views.variance[index] = view.variance
