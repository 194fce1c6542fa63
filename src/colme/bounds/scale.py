"""Scale: how widely one sample may scatter.

Lives here: ranges and what follows from them.  Must not know bounds, streams or agents.
"""

from __future__ import annotations

from colme import _check

__all__ = ["checked_range", "range_sigma"]


def checked_range(low: float, high: float) -> tuple[float, float]:
    """Return both ends as floats, or raise ValueError unless they are finite and in order.

    Examples
    --------
    >>> checked_range(1, 5)
    (1.0, 5.0)
    """
    low, high = _check.sample("low", low), _check.sample("high", high)
    if low >= high:
        raise ValueError(f"a range needs low < high; received low={low:g}, high={high:g}")
    return low, high


def range_sigma(low: float, high: float) -> float:
    """Return the sub-Gaussian scale (high - low) / 2 of any stream that stays in [low, high].

    Examples
    --------
    >>> range_sigma(0, 1)
    0.5

    Notes
    -----
    Hoeffding's lemma.
    """
    low, high = checked_range(low, high)
    return (high - low) / 2
