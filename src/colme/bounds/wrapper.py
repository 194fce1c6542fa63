"""Bounds around a bound: for streams whose mean may change.

Lives here: what all such bounds hand on to the one within, and what those that forget old samples
have in common.  Must not know which samples count.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from colme.bounds.asymptotic import Asymptotic
from colme.bounds.base import Bound, StreamBase
from colme.bounds.counted import Counted
from colme.bounds.evidence import Evidence, N_co, Numbers
from colme.bounds.folder import EVIDENCE, view_of_stream, write_evidence
from colme.view import View


class Wrapper(Bound):
    """A bound for a mean that may change, around one for a mean that does not.

    Examples
    --------
    >>> from colme.bounds import Laplace, Windowed
    >>> bound = Windowed(Laplace(sigma=0.5, gamma=0.05), length=100)
    >>> bound.gamma, bound.scale, bound.at_risk(0.01).bound
    (0.05, 0.5, Laplace(sigma=0.5, gamma=0.01))
    """

    bound: Bound
    revisit: int

    @property
    def gamma(self) -> float:  # type: ignore[override]
        """The risk of the bound within."""
        return self.bound.gamma

    @property
    def scale(self) -> float:
        """The scale of the bound within."""
        return self.bound.scale

    def at_risk(self, gamma: float) -> Self:
        """Return the same bound at another risk."""
        changed: Self = replace(cast("Any", self), bound=self.bound.at_risk(gamma))
        return changed

    def __post_init__(self) -> None:
        super().__post_init__()
        if not hasattr(self.bound, "at_risk") or isinstance(self.bound, Wrapper):
            raise ValueError(
                "bound must be one from colme.bounds for a mean that does not change; "
                f"received {self.bound!r}: wrap a bound once"
            )


class Forgetting(Wrapper):
    """A bound over the samples that still count; subclasses say which, and how much.

    Examples
    --------
    >>> from colme.bounds import Discounted, Laplace, Windowed
    >>> bounds: list[Forgetting] = [
    ...     Windowed(Laplace(0.5, 0.05), length=100),
    ...     Discounted(Laplace(0.5, 0.05), factor=0.99),
    ... ]
    >>> [(bound.revisit_in(epoch=0), bound.revisit_in(epoch=1)) for bound in bounds]
    [(0, 10), (0, 10)]
    """

    def revisit_in(self, epoch: int) -> int:
        """Return every how many queries one goes to an excluded peer: none in the first epoch."""
        return self.revisit if epoch > 0 else 0

    def fold_run(self, samples: Numbers, views: View[Numbers]) -> None:
        """Write the views[agent, k] of whole streams samples[k, agent]."""
        self._fold_means(samples, views)
        known = _views_by_age(self, len(samples))
        views.n_samples[:], views.epoch[:] = known.n_samples, known.epoch
        views.variance[:] = known.variance
        if isinstance(self.bound, Counted):
            for name in EVIDENCE:
                getattr(views, name)[:] = getattr(known, name)
        else:
            write_evidence(self, samples, views)

    def _fold_means(self, samples: Numbers, views: View[Numbers]) -> None:
        """Write means and squares of the samples that count."""
        raise NotImplementedError

    def _check_within(self, most: float) -> None:
        """Raise ValueError unless `most` samples can stand for all."""
        bound = self.bound
        if not isinstance(bound, Asymptotic | Counted):
            raise ValueError(  # noqa: TRY004 - a wrong choice, not a wrong type
                "bound must follow from count, mean and squares (Laplace, NormalMixture, Stitched, "
                f"Asymptotic), so that samples can be forgotten; received {bound!r}: choose one of "
                "these, or Restarted, which takes any bound"
            )
        if isinstance(bound, Asymptotic) and most < bound.burn_in:
            raise ValueError(
                f"at most {most:g} samples would count, and bound claims nothing before "
                f"{bound.burn_in}; received {bound!r}: forget more slowly, or choose a shorter "
                "burn_in"
            )


@lru_cache(maxsize=256)
def _views_by_age(bound: Any, n_samples: int) -> View[Numbers]:
    """Return the views [k] of a stream of zeros: what follows from the number of samples alone."""
    stream, log_risk = bound.stream(), -math.log(bound.gamma)
    views = []
    for _ in range(n_samples):
        stream.update(0.0)
        views.append(view_of_stream(stream, log_risk))
    return View(*np.transpose(views))


class ForgettingStream(StreamBase[N_co]):
    """A stream in which old samples cease to count; subclasses say how.

    Examples
    --------
    >>> from colme.bounds import Laplace, Windowed
    >>> stream = Windowed(Laplace(sigma=0.5, gamma=0.05), length=2).stream()
    >>> for sample in (9.0, 1.0, 2.0):
    ...     stream.update(sample)
    >>> stream.count, stream.mean
    (2, 1.5)
    """

    def __init__(self, bound: Wrapper, n: int | None) -> None:
        super().__init__(bound, n)
        self._seen = 0
        self._within: Any = bound.bound.stream(n)

    @property
    def variance(self) -> N_co:
        """That of the bound within, while no sample is forgotten; then +∞."""
        return self._answer(self._within._bound.variance if self.count == self._seen else math.inf)

    @property
    def interval(self) -> tuple[N_co, N_co]:
        """(low, high): holds the mean of the samples that count, at each time, with risk γ."""
        low, high = self._within.interval
        return low, high

    @property
    def evidence(self) -> Evidence[N_co]:
        """What the samples that count say."""
        evidence: Evidence[N_co] = self._within.evidence
        return evidence

    def update(self, sample: ArrayLike) -> None:
        """Fold one sample (n when n streams are followed); refuse it before anything changes."""
        x = self._checked(sample)
        self._fold(x)
        self._seen += 1
        self._show()

    def _show(self) -> None:
        """Let the bound within see count, mean and squares as they are now."""
        raise NotImplementedError
