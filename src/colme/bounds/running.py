"""Running means: the part that all bounds and their streams have in common.

Lives here: checking and counting samples, and their mean.  Must not know how far the mean is off.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any, ClassVar, Generic, Self, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from colme import _check
from colme._compile import compiled
from colme.bounds.evidence import Evidence, N_co, Numbers
from colme.bounds.protocol import Stream

__all__ = ["Recipe", "Running", "folded_mean", "folded_squares"]


@compiled
def folded_mean(mean: float, count: float, sample: float) -> float:
    """Return the mean of count + 1 samples from the mean of the first `count` and the next one.

    Examples
    --------
    >>> folded_mean(2.0, 1, 4.0)
    3.0

    Notes
    -----
    x̄ + (x - x̄) / (n + 1): stable, and needs no sum that grows.
    """
    return mean + (sample - mean) / (count + 1)


@compiled
def folded_squares(squares: float, before: float, after: float, sample: float) -> float:
    """Return Σ (x - x̄)² with one more sample, which moves the mean from `before` to `after`.

    Examples
    --------
    >>> folded_squares(0.0, before=2.0, after=3.0, sample=4.0)
    2.0
    """
    return squares + (sample - before) * (sample - after)


class Running(Generic[N_co]):
    """The mean of one stream, or of n at once, whose samples stay in [low, high].

    Examples
    --------
    >>> two = Running(gamma=0.05, n=2)
    >>> two.update([1.0, 5.0])
    >>> two.update([2.0, 5.0])
    >>> two.count, two.mean
    (2, array([1.5, 5. ]))
    """

    _kept: ClassVar[tuple[str, ...]] = ("count", "_mean", "_squares")

    def __init__(
        self, gamma: float, n: int | None, *, low: float = -math.inf, high: float = math.inf
    ) -> None:
        self.count = 0
        self._log_risk = -math.log(gamma)
        self._n = None if n is None else _check.positive_int("n", n)
        self._low, self._high = low, high
        self._mean: Any = 0.0 if n is None else np.zeros(n)
        self._squares: Any = 0.0  # Σ (x - x̄)²

    @property
    def epoch(self) -> N_co:
        """How often the stream has begun anew: never."""
        return self._answer(0.0)

    @property
    def mean(self) -> N_co:
        """The mean of the samples; 0 before the first."""
        return self._answer(self._mean)

    @property
    def squares(self) -> N_co:
        """Σ (x - x̄)² over the samples."""
        return self._answer(self._squares)

    @property
    def interval(self) -> tuple[N_co, N_co]:
        """(low, high): the means that the evidence does not rule out, cut to the range."""
        evidence: Evidence[Any] = self.evidence
        radius = evidence.radius(self._log_risk)
        return self._between(evidence.center - radius, evidence.center + radius)

    @property
    def evidence(self) -> Evidence[N_co]:
        """What a peer must be told; without a bound, that nothing is known."""
        return self._tell(0.0, math.inf, math.inf, 0.0)

    def state(self) -> dict[str, float | list[float]]:
        """Return all that the samples have left behind, ready for JSON; see `Recipe.resume`."""
        return {name: np.asarray(attrgetter(name)(self)).tolist() for name in self._kept}

    def _resume(self, state: Mapping[str, Any]) -> None:
        if not isinstance(state, Mapping) or sorted(state) != sorted(self._kept):
            raise ValueError(f"a stream's state holds {sorted(self._kept)}; received {state!r}")
        for name, value in state.items():
            before = attrgetter(name)(self)
            after = np.asarray(value, dtype=np.float64)
            if after.shape != np.shape(before) or not np.isfinite(after).all():
                raise ValueError(
                    f"{name} must be finite, of shape {np.shape(before)}; received {value!r}"
                )
            if isinstance(before, int) and (after < 0 or after % 1 != 0):
                raise ValueError(f"{name} must be a whole number from 0 on; received {value!r}")
            *owner, last = name.split(".")
            target = attrgetter(*owner)(self) if owner else self
            setattr(target, last, after if np.ndim(after) else type(before)(after))

    def update(self, sample: ArrayLike) -> None:
        """Fold one sample (n when n streams are followed); refuse it before anything changes."""
        x = self._checked(sample)
        before = self._mean
        self._mean = folded_mean(before, self.count, x)
        self._squares = folded_squares(self._squares, before, self._mean, x)
        self.count += 1
        self._fold(x)

    def _fold(self, x: Any) -> None:
        """Fold a good sample into what else is kept."""

    def _stand_for(self, count: float, mean: Any, squares: Any) -> None:
        """Answer from now on for samples with these, as if they had been folded."""
        self.count, self._mean, self._squares = count, mean, squares  # type: ignore[assignment]

    def _checked(self, sample: Any) -> Any:
        """Return a good sample as a float or an array; refuse any other."""
        low, high = max(self._low, -_check.LARGEST_SAMPLE), min(self._high, _check.LARGEST_SAMPLE)
        if type(sample) is float and self._n is None and low <= sample <= high:
            return sample  # what nearly always comes, without arrays
        shape = () if self._n is None else (self._n,)
        try:
            x = np.asarray(sample, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"samples must be finite numbers; received {sample!r}") from None
        if x.shape != shape:
            raise ValueError(
                f"update takes one sample per stream, here of shape {shape}; received shape "
                f"{x.shape}: start the stream with stream(n) to follow n at once"
            )
        good = (low <= x) & (x <= high)
        if not good.all():
            raise ValueError(
                f"samples must be finite numbers in [{low:g}, {high:g}]; received "
                f"{x[~good].tolist()[:5]}: drop them, or choose a bound for a wider range"
            )
        return x if self._n else float(x)

    def _answer(self, value: Any) -> N_co:
        """Return a fresh array with one value per stream, or a float."""
        one = self._n is None
        return cast("N_co", float(value) if one else np.full(self._n, value, np.float64))

    def _tell(self, center: Any, spread: Any, slope: Any, offset: Any) -> Evidence[N_co]:
        return Evidence(*map(self._answer, (center, spread, slope, offset)))

    def _between(self, low: Any, high: Any) -> tuple[N_co, N_co]:
        """Return the interval, cut to the range."""
        return self._answer(np.maximum(low, self._low)), self._answer(np.minimum(high, self._high))


class Recipe:
    """What every bound can do, whatever its fields.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> isinstance(Laplace(0.5, 0.05), Recipe)
    True
    """

    gamma: float

    @property
    def scale(self) -> float:
        """The most that the standard deviation of a sample can be; +∞ if nothing is known."""
        return math.inf

    def revisit_in(self, epoch: int) -> int:  # noqa: ARG002 - what no stream of this kind needs
        """Return every how many queries one goes to an excluded peer: none, if nothing changes."""
        return 0

    def at_risk(self, gamma: float) -> Self:
        """Return the same bound at another risk."""
        changed: Self = replace(cast("Any", self), gamma=gamma)
        return changed

    @overload
    def stream(self, n: None = None) -> Stream[float]: ...
    @overload
    def stream(self, n: int) -> Stream[Numbers]: ...
    def stream(self, n: int | None = None) -> Stream[Any]:
        """Start to follow one stream, or n streams at once."""
        return self._start(n)

    def resume(self, state: Mapping[str, Any]) -> Stream[float]:
        """Return one stream that goes on where `Stream.state` was taken."""
        stream = self._start(None)
        stream._resume(state)  # type: ignore[attr-defined]
        return stream

    def _start(self, n: int | None) -> Stream[Any]:
        raise NotImplementedError

    def _keep(self, **fields: float) -> None:
        """Replace fields by their checked values, at birth."""
        for name, value in fields.items():
            object.__setattr__(self, name, value)
