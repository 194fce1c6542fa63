"""Risk: the probability with which a guarantee may fail.

Lives here: the one place where risk is divided.  Must not know bounds or agents.
"""

from __future__ import annotations

from colme import _check

__all__ = ["split_risk"]


def split_risk(delta: float, n_agents: int) -> float:
    """Return γ = δ / (8 A), the risk left for each of the A intervals an agent holds.

    All A intervals of one agent hold at all times with probability at least 1 - A γ = 1 - δ/8.

    Examples
    --------
    >>> split_risk(0.001, 200)
    6.25e-07

    Notes
    -----
    Lemma 1.
    """
    return _check.risk("delta", delta) / (8 * _check.positive_int("n_agents", n_agents))
