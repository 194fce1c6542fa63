"""Risk: the probability with which a guarantee may fail.

Lives here: the one place where risk is divided.  Must not know bounds or agents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from colme import _check


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


def spend_risk(delta: float, j: int) -> float:
    """Return γ_j, the risk of the j-th peer that an agent ever meets; j = 0 is the agent itself.

    For agents that cannot say how many peers they will meet: however many it is, all risks
    together are at most δ/8, half of it the agent's own.

    Examples
    --------
    >>> spend_risk(0.016, 0)
    0.001
    >>> sum(spend_risk(0.016, j) for j in range(10_000)) < 0.016 / 8
    True

    Notes
    -----
    γ_0 = δ/16 and γ_j = (δ/16) · 6 / (π² j²), as Σ 1/j² = π²/6.
    """
    half = _check.risk("delta", delta) / 16
    place = _check.non_negative_int("j", j)
    return half * 6 / (math.pi * place) ** 2 if place else half


@dataclass(frozen=True)
class Budget:
    """The risk of one agent: split over a known number of agents, or spent peer by peer.

    Parameters
    ----------
    delta
        Total risk of the agent's guarantees.
    n_agents
        How many agents share it, `split_risk`; None: whoever is met, `spend_risk`.

    Examples
    --------
    >>> Budget(0.001, 200).gamma == split_risk(0.001, 200)
    True
    >>> Budget(0.001, 200).price(7), round(Budget(0.001, None).price(7), 3)
    (0.0, 4.39)
    """

    delta: float
    n_agents: int | None

    @property
    def gamma(self) -> float:
        """The risk γ of the agent's own interval."""
        if self.n_agents is None:
            return spend_risk(self.delta, 0)
        return split_risk(self.delta, self.n_agents)

    @property
    def n_peers(self) -> float:
        """How many peers share their risk equally; +∞ if each has its own."""
        return math.inf if self.n_agents is None else max(self.n_agents - 1, 1)

    def price(self, j: int) -> float:
        """Return ln(γ/γ_j), how much more evidence the j-th peer met needs than risk γ asks for."""
        if self.n_agents is not None:
            return 0.0
        return math.log(spend_risk(self.delta, 0) / spend_risk(self.delta, j))
