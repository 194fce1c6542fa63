"""Rows of one agent for the tests of the rules: small, random, with quadratic evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hypothesis import strategies as st

from colme import rules
from colme.algorithm import ClassTest, QueryStrategy, Weighting
from colme.bounds import Laplace

RR, RRR = QueryStrategy.ROUND_ROBIN, QueryStrategy.RESTRICTED_ROUND_ROBIN
BOUND = Laplace(0.3, 0.01)
LOG_RISK = -math.log(BOUND.gamma)
POOLING = [weighting for weighting in Weighting if weighting != Weighting.MODEL]
"""Weights of the row alone; the model has tests of its own."""


def choice(
    test: ClassTest = ClassTest.OVERLAP,
    *,
    query: QueryStrategy = RR,
    weighting: Weighting = Weighting.SIMPLE,
    eta: float = 0.0,
    log_risk: float = LOG_RISK,
    within: float = math.inf,
) -> rules.Choice:
    return rules.Choice(query, test, weighting, eta, log_risk, within)


@dataclass
class OneRow:
    """One agent's memory; entry `a` is the agent itself and always has samples."""

    a: int
    means: list[float]
    counts: list[float]
    radii: list[float]

    @property
    def n(self) -> int:
        return len(self.means)

    def memory(self, member: list[bool] | None = None) -> rules.Row:
        """Return the row as the rules have it, with quadratic evidence."""
        shapes = [BOUND.shape(int(n)) if n else (math.inf, math.inf, 0.0) for n in self.counts]
        spreads, slopes, offsets = (list(part) for part in zip(*shapes, strict=True))
        return rules.Row.blank(
            self.n,
            member=list(member or [True] * self.n),
            mean=list(self.means),
            n_samples=list(self.counts),
            radius=list(self.radii),
            precision=[n / 0.09 for n in self.counts],
            spread=spreads,
            slope=slopes,
            offset=offsets,
        )

    def classified(
        self, chosen: rules.Choice, before: list[bool] | None = None
    ) -> tuple[int, list[bool]]:
        row = self.memory(before)
        n_changed = rules.classify(chosen, self.a, self.n, row)
        return n_changed, list(row.member)

    def members(self, eta: float = 0.0) -> list[bool]:
        return self.classified(choice(eta=eta))[1]

    def pooled(self, weighting: Weighting, known: list[bool] | None = None) -> float:
        test = ClassTest.OVERLAP if known is None else ClassTest.KNOWN
        return rules.pool(choice(test, weighting=weighting), self.a, self.n, self.memory(known))[1]

    def next(self, query: QueryStrategy, cursor: int, known: list[bool] | None = None) -> int:
        test = ClassTest.OVERLAP if known is None else ClassTest.KNOWN
        row = self.memory(known)
        return rules.next_peer(choice(test, query=query), self.a, self.n, cursor, row)


@st.composite
def rows(draw: st.DrawFn, *, equal_intervals: bool = False) -> OneRow:
    n = draw(st.integers(1, 12))
    a = draw(st.integers(0, n - 1))
    means = draw(st.lists(st.floats(-1, 1), min_size=n, max_size=n))
    counts = draw(st.lists(st.integers(0, 30), min_size=n, max_size=n))
    counts[a] += 1
    if equal_intervals:
        means, counts = [means[a]] * n, [counts[a]] * n
    return OneRow(a, means, [float(c) for c in counts], [BOUND.radius(c) for c in counts])
