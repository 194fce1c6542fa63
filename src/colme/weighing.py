"""How one agent weighs what it remembers: the estimate, and what its model has learned.

Lives here: pooling over a memory, with or without a model, and a cap on what one peer may weigh.
Must not know streams, queries or replies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from colme import _check, model, rules
from colme.algorithm import ClassTest, Weighting
from colme.memory import Memory
from colme.model.state import NEXT, NEXT_ASKED

__all__ = ["Outlook", "Weighing", "capped"]


def capped(own: int, cap: float, row: rules.Row, fit: model.Model) -> rules.Row:
    """Return the row with nobody weighing more than `cap` times the agent's own count.

    Who says more is read as if it had fewer samples of the same scatter.  Its evidence stays as it
    is: the sharper that is, the sooner it can rule out the one who told it.  Before its first
    sample an agent counts as one.

    Examples
    --------
    >>> row = rules.Row.blank(2)._replace(counts=[10.0, 500.0], squares=[9.0, 499.0])
    >>> few = capped(0, 3.0, row, model.Model.blank())
    >>> few.counts, few.squares
    ([10.0, 30.0], [9.0, 29.0])
    """
    most = cap * max(row.counts[own], 1.0)
    if max(row.counts) <= most:
        return row
    counts, squares, precisions = list(row.counts), list(row.squares), list(row.precisions)
    for l, count in enumerate(row.counts):
        if count > most:
            counts[l], squares[l] = most, squares[l] * ((most - 1.0) / (count - 1.0))
            precisions[l] = model.mean_precision(counts[l], squares[l], fit)
    return row._replace(counts=counts, squares=squares, precisions=precisions)


class Outlook(NamedTuple):
    """What an agent makes of all it knows.

    Attributes
    ----------
    estimate
        Its estimate of its own mean; NaN before there is anything to weigh.
    optimistic_class
        The peers that may share its mean, itself included; unheard peers are in.
    likely_class
        The peers that more probably than not share its mean: no guarantee.  Only algorithms that
        weigh by a model say so; for others it is the agent alone.

    Examples
    --------
    >>> Outlook(0.3, frozenset("ab"), frozenset("a")).estimate
    0.3
    """

    estimate: float
    optimistic_class: frozenset[str]
    likely_class: frozenset[str]


class Weighing:
    """What one agent makes of its memory.

    Parameters
    ----------
    choice
        Its algorithm.
    memory
        Its memory, which it goes on writing to.
    scale
        The most that the standard deviation of its own samples can be.
    cap
        How many times the agent's own count a peer may weigh; None: any number of times.

    Examples
    --------
    >>> choice = rules.Choice(1, 2, Weighting.SIMPLE, eta=0.0, log_risk=1.0)
    >>> memory = Memory("a", ["a", "b"], 2, choice)
    >>> memory.row.means[:], memory.row.counts[:] = [0.0, 1.0], [1.0, 9.0]
    >>> [Weighing(choice, memory, 1.0, cap).pooled()[1] for cap in (None, 1.0)]
    [0.9, 0.5]
    """

    def __init__(
        self, choice: rules.Choice, memory: Memory, scale: float, cap: float | None = None
    ) -> None:
        self.model = model.Model.blank()
        self.cap = None if cap is None else _check.finite("cap", cap)
        if self.cap is not None and self.cap < 1:
            raise ValueError(
                f"cap must be 1 or more: a peer may weigh as much as the agent; received {cap}"
            )
        self.haste = 0.0
        self._choice, self._memory, self._scale = choice, memory, scale
        self._bench = model.Bench.blank(len(memory))

    @property
    def by_model(self) -> bool:
        """Whether a model weighs."""
        return self._choice.weighting == Weighting.MODEL

    def pooled(self) -> tuple[rules.Row, float]:
        """Return the row as it is classified now, and the estimate; change nothing."""
        own, n = self._memory.own, len(self._memory)
        row = self._weighed()
        row = row._replace(member=list(row.member), shown=list(row.shown))
        if not self.by_model:
            return row, rules.pool(self._choice, own, n, row)[1]
        if self._choice.class_test != ClassTest.JOINT:  # what that rules out, the memory knows
            rules.classify(self._choice, own, n, row)
        bench = self._room(n)
        model.gather(own, n, row, self.model, bench)
        return row, model.estimate(own, n, row, self.model, bench)

    def outlook(self) -> Outlook:
        """Return the estimate, and both classes."""
        row, estimate = self.pooled()
        return Outlook(estimate, self._memory.named(row.member), self._likely(row))

    def _likely(self, row: rules.Row) -> frozenset[str]:
        """Return who more probably than not shares the agent's mean, itself included."""
        own, n = self._memory.own, len(self._memory)
        same, bench = [False] * n, self._room(n)
        model.meet_all(n, row, self.model, bench)
        model.likely(own, n, row, self.model, bench, same)
        return self._memory.named(same)

    def learn(self, count: float, n_asked: float) -> None:
        """Fit the model again, if there is one and these samples and queries make it time to."""
        if not self.by_model or not model.refit_due(self.model, count, n_asked):
            return
        own, n, kept = self._memory.own, len(self._memory), self._memory.row
        row = self._weighed()
        model.learn_noise(n, self._scale, row, self.model)
        model.refit(own, n, count, n_asked, row, self.model, self._room(n))
        self._hasten(count, n_asked)
        for l in range(n if row is not kept else 0):
            kept.precisions[l] = model.mean_precision(kept.counts[l], kept.squares[l], self.model)

    def _hasten(self, count: float, n_asked: float) -> None:
        """Let the next fit come sooner, by `haste` times a quarter of the time until then."""
        facts = self.model.facts
        for place, now in ((NEXT, count), (NEXT_ASKED, n_asked)):
            facts[place] = now + max(1.0, (facts[place] - now) * (1.0 - self.haste / 4) // 1.0)

    def forget(self, l: int) -> None:
        """Keep of the peer at entry l, which makes room for another, only what the model needs."""
        if self._memory.row.counts[l] > 0:
            model.forget(self._memory.row.means[l], self.model)

    def hurry(self) -> None:
        """Fit again soon: the agent's own stream has begun anew."""
        model.hurry(self.model)

    def resume(self, parts: Sequence[Sequence[float]]) -> None:
        """Go on with the model that these parts are of."""
        self.model = model.Model.of(parts)

    def _weighed(self) -> rules.Row:
        """Return the memory's row, and what anybody may weigh in it."""
        if self.cap is None:
            return self._memory.row
        return capped(self._memory.own, self.cap, self._memory.row, self.model)

    def _room(self, n: int) -> model.Bench:
        """Return room to work in for a row of n."""
        if len(self._bench.means) != n:
            self._bench = model.Bench.blank(n)
        return self._bench
