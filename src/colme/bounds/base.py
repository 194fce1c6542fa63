"""What all bounds have in common, and what all their streams have in common.

Lives here: fields, risk, samples checked and counted, their mean.  Must not know how far a mean may
be off.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from operator import attrgetter
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Self, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from colme import _check
from colme.bounds.evidence import Evidence, N_co, Numbers
from colme.bounds.folder import StreamFolder, write_evidence
from colme.bounds.moments import fold_moments, folded_mean, folded_squares
from colme.bounds.protocol import Folder, Stream
from colme.view import View


class StreamBase(Generic[N_co]):
    """The mean of one stream, or of n at once, whose samples stay in the range of the bound.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> two: StreamBase = Laplace(sigma=1, gamma=0.05).stream(2)
    >>> two.update([1.0, 5.0])
    >>> two.update([2.0, 5.0])
    >>> two.count, two.mean
    (2, array([1.5, 5. ]))
    """

    _kept: ClassVar[tuple[str, ...]] = ("count", "_mean", "_squares")

    def __init__(self, bound: Any, n: int | None) -> None:
        self.count = 0
        self._bound = bound
        self._log_risk = -math.log(bound.gamma)
        self._n = None if n is None else _check.positive_int("n", n)
        self._low, self._high = getattr(bound, "low", -math.inf), getattr(bound, "high", math.inf)
        self._mean: Any = 0.0 if n is None else np.zeros(n)
        self._squares: Any = 0.0  # Σ (x - x̄)²

    @property
    def public(self) -> Stream[N_co]:
        """The stream as others see it: as it is, unless something is hidden from them."""
        return self

    @property
    def epoch(self) -> N_co:
        """How often the stream has restarted: never."""
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
    def variance(self) -> N_co:
        """The variance of a sample, if it is known beforehand; +∞ otherwise."""
        return self._answer(self._bound.variance)

    @property
    def interval(self) -> tuple[N_co, N_co]:
        """(low, high): the means that the evidence does not rule out, cut to the range."""
        evidence: Evidence[Any] = self.evidence
        radius = evidence.radius(self._log_risk)
        return self._between(evidence.center - radius, evidence.center + radius)

    @property
    def evidence(self) -> Evidence[N_co]:
        """What the samples say about the mean; before there is a bound, nothing."""
        return self._as_evidence(0.0, math.inf, math.inf, 0.0)

    def state(self) -> dict[str, float | list[float]]:
        """Return all that the samples have left behind, ready for JSON; see `Bound.resume`."""
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
        """Go on as after samples with this count, mean and squares."""
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

    def _as_evidence(self, center: Any, spread: Any, slope: Any, offset: Any) -> Evidence[N_co]:
        return Evidence(*map(self._answer, (center, spread, slope, offset)))

    def _between(self, low: Any, high: Any) -> tuple[N_co, N_co]:
        """Return the interval, cut to the range."""
        return self._answer(np.maximum(low, self._low)), self._answer(np.minimum(high, self._high))


_CHECKS: Mapping[str, Callable[[str, Any], float]] = MappingProxyType(
    {
        "alarm": _check.risk,
        "burn_in": _check.positive_int,
        "factor": _check.positive,
        "gamma": _check.risk,
        "length": _check.positive_int,
        "n_grid": _check.positive_int,
        "n_min": _check.positive,
        "n_opt": _check.positive,
        "revisit": _check.non_negative_int,
        "sigma": _check.positive,
    }
)
"""How the parameters of bounds are checked, by name."""


class Bound:
    """Intervals that hold at all times at once, with risk `gamma` on both sides.

    Subclasses are frozen dataclasses.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> bound: Bound = Laplace(sigma=0.5, gamma=0.05)
    >>> bound.at_risk(0.01), bound.revisit_in(epoch=0)
    (Laplace(sigma=0.5, gamma=0.01), 0)
    """

    gamma: float
    stream_type: ClassVar[Callable[..., Stream[Any]]]
    """What follows the samples: called with the bound, and None or a number of streams."""
    has_public_view: ClassVar[bool] = False
    """Whether others see another stream than its agent does: `StreamBase.public`."""
    shares_columns: ClassVar[bool] = False
    """Whether streams with the same number of samples differ in means and squares alone."""

    def __post_init__(self) -> None:
        for field in fields(cast("Any", self)):
            if field.name in _CHECKS:
                self._set(field.name, _CHECKS[field.name](field.name, getattr(self, field.name)))

    def _set(self, name: str, value: float) -> None:
        """Replace a field by its checked value, when the bound is made."""
        object.__setattr__(self, name, value)

    @property
    def scale(self) -> float:
        """The most that the standard deviation of a sample can be; +∞ if nothing is known."""
        return math.inf

    @property
    def variance(self) -> float:
        """The variance of a sample, if it is known and the mean is one of all samples; else +∞."""
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
        return type(self).stream_type(self, n)

    def resume(self, state: Mapping[str, Any]) -> Stream[float]:
        """Return one stream that goes on where `Stream.state` was taken."""
        stream = type(self).stream_type(self, None)
        stream._resume(state)  # type: ignore[attr-defined]
        return stream

    def folder(
        self,
        n_agents: int,
        batch: int = 1,
        *,
        with_squares: bool = True,  # noqa: ARG002 - streams always have them
    ) -> Folder:
        """Return what folds the samples of n agents, `batch` a step, block after block."""
        return StreamFolder(self, n_agents, batch)

    def fold_run(self, samples: Numbers, views: View[Numbers]) -> None:
        """Write the views[agent, k] of whole streams samples[k, agent]."""
        n_samples, n_agents = samples.shape
        mean, square = np.zeros((2, n_agents))
        fold_moments(samples, 0, mean, square, views.mean, views.squares)
        views.n_samples[:] = np.arange(1.0, n_samples + 1)
        views.epoch[:], views.variance[:] = 0.0, self.variance
        write_evidence(self, samples, views)
