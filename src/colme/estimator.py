"""The estimate of one agent, from what it remembers and what its model has learned.

Lives here: pooling over a memory, with or without a model, and a cap on the weight of one peer.
Must not know streams, queries or replies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from colme import _check, model, rules
from colme.algorithm import ClassTest, Weighting
from colme.memory import Memory


def capped(own: int, cap: float, row: rules.Row, fit: model.Model) -> rules.Row:
    """Return the row with no count above `cap` times the agent's own.

    A peer with more counts as if it had fewer samples of the same scatter.  Its evidence stays: the
    sharper that is, the sooner it can rule the peer itself out.  Before its first sample the agent
    counts as having one.

    Examples
    --------
    >>> row = rules.Row.blank(2, n_samples=[10.0, 500.0], squares=[9.0, 499.0])
    >>> few = capped(0, 3.0, row, model.Model.blank()).views
    >>> few.n_samples, few.squares
    ([10.0, 30.0], [9.0, 29.0])
    """
    most = cap * max(row.views.n_samples[own], 1.0)
    if max(row.views.n_samples) <= most:
        return row
    counts, squares, precisions = (
        list(row.views.n_samples),
        list(row.views.squares),
        list(row.views.precision),
    )
    for l, count in enumerate(row.views.n_samples):
        if count > most:
            counts[l], squares[l] = most, squares[l] * ((most - 1.0) / (count - 1.0))
            precisions[l] = model.mean_precision(counts[l], squares[l], fit)
    return row._replace(
        views=row.views._replace(n_samples=counts, squares=squares, precision=precisions)
    )


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


class Estimator:
    """Estimates the mean of one agent from its memory.

    Parameters
    ----------
    choice
        Its algorithm.
    memory
        Its memory, which it goes on writing to.
    scale
        The most that the standard deviation of its own samples can be.
    cap
        The largest weight of a peer, in multiples of the agent's own count; None: no limit.

    Examples
    --------
    >>> choice = rules.Choice(1, 2, Weighting.SIMPLE, eta=0.0, log_risk=1.0)
    >>> memory = Memory("a", ["a", "b"], 2, choice)
    >>> memory.row.views.mean[:], memory.row.views.n_samples[:] = [0.0, 1.0], [1.0, 9.0]
    >>> [Estimator(choice, memory, 1.0, cap).pooled()[1] for cap in (None, 1.0)]
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
        self.refit_jitter = 0.0
        self._choice, self._memory, self._scale = choice, memory, scale
        self._bench = model.Scratch.blank(len(memory))

    @property
    def by_model(self) -> bool:
        """Whether a model weighs."""
        return self._choice.weighting == Weighting.MODEL

    def pooled(self) -> tuple[rules.Row, float]:
        """Return the row as it is classified now, and the estimate; change nothing."""
        own, n = self._memory.own, len(self._memory)
        if not self.by_model:
            row = self._copied_row()
            return row, rules.pool(self._choice, own, n, row)[1]
        row, scratch = self._classified_row(), self._scratch_for(n)
        model.sum_members(own, n, row, self.model, scratch)
        return row, model.estimate(own, n, row, self.model, scratch)

    def outlook(self) -> Outlook:
        """Return the estimate and both classes."""
        row, estimate = self.pooled()
        return Outlook(estimate, self._memory.named(row.member), self._likely(row))

    def _likely(self, row: rules.Row) -> frozenset[str]:
        """Return who more probably than not shares the agent's mean, itself included."""
        own, n = self._memory.own, len(self._memory)
        same, scratch = [False] * n, self._scratch_for(n)
        model.peer_chances(n, row, self.model, scratch)
        model.likely(own, n, row, self.model, scratch, same)
        return self._memory.named(same)

    def learn(self, count: float, n_asked: float) -> None:
        """Fit the model again, if there is one and these samples and queries make it time to."""
        if not self.by_model or not model.refit_due(self.model, count, n_asked):
            return
        own, n, kept = self._memory.own, len(self._memory), self._memory.row
        row = self._classified_row()
        model.fit_noise(n, self._scale, row, self.model)
        model.refit(own, n, count, n_asked, row, self.model, self._scratch_for(n))
        self._schedule_sooner(count, n_asked)
        for l in range(n if row.views is not kept.views else 0):
            kept.views.precision[l] = model.mean_precision(
                kept.views.n_samples[l], kept.views.squares[l], self.model
            )

    def _schedule_sooner(self, count: float, n_asked: float) -> None:
        """Let the next fit come sooner, by up to a quarter of the time until then."""
        fit, kept = self.model.fit, 1.0 - self.refit_jitter / 4
        fit.next_fit = count + max(1.0, (fit.next_fit - count) * kept // 1.0)
        asked = fit.next_fit_asked - n_asked
        fit.next_fit_asked = n_asked + max(1.0, asked * kept // 1.0)

    def forget(self, l: int) -> None:
        """Note what the model needs of the peer at entry l, which is about to be replaced."""
        if self._memory.row.views.n_samples[l] > 0:
            model.note_forgotten(self._memory.row.views.mean[l], self.model)

    def refit_soon(self) -> None:
        """Fit again soon: the agent's own stream has restarted."""
        model.refit_soon(self.model)

    def resume(self, parts: Sequence[Sequence[float]]) -> None:
        """Go on with the model that has these parts."""
        self.model = model.Model.of(parts)

    def _copied_row(self) -> rules.Row:
        """Return the memory's row, with no peer above the cap; its flags are copies."""
        row = self._memory.row
        if self.cap is not None:
            row = capped(self._memory.own, self.cap, row, self.model)
        return row._replace(member=list(row.member), confirmed=list(row.confirmed))

    def _classified_row(self) -> rules.Row:
        """Return a copied row that says who is a member now."""
        row = self._copied_row()
        if not ClassTest(self._choice.class_test).is_final:  # what these rule out, memory knows
            rules.classify(self._choice, self._memory.own, len(self._memory), row)
        return row

    def _scratch_for(self, n: int) -> model.Scratch:
        """Return scratch memory for a row of n."""
        if len(self._bench.means) != n:
            self._bench = model.Scratch.blank(n)
        return self._bench
