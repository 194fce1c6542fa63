"""How samples scatter around a mean: Gaussian, Bernoulli, bounded, or your own.

Lives here: noise.  Must not know agents, classes or algorithms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check

__all__ = ["Bernoulli", "Beta", "Custom", "Gaussian", "Noise", "Uniform"]

Array = NDArray[np.float64]


class Noise(Protocol):
    """How samples scatter around a mean; anything with these three members will do.

    If agents scatter differently, `sigma` is the largest and a tuple `sigmas` holds one for each.
    Noise of large fleets is drawn by several threads if it has ``of_agents(first, last)`` too,
    which returns the noise of the agents from `first` to before `last`.

    Examples
    --------
    >>> isinstance(Gaussian(0.5).sigma, float)
    True
    """

    @property
    def sigma(self) -> float:
        """Sub-Gaussian scale of one sample."""

    def check(self, means: Array) -> None:
        """Raise ValueError if some mean is impossible for this noise."""

    def fill(self, rng: np.random.Generator, means: Array, out: Array) -> None:
        """Write samples into out[time, agent]; means are [agent], or as `out` if they change."""


@dataclass(frozen=True)
class Gaussian:
    """Normal samples with standard deviation `sigma`: one for all agents, or one for each.

    Attributes
    ----------
    sigma
        The standard deviation; the largest, if agents differ.
    sigmas
        One for each agent; empty if one is for all.

    Examples
    --------
    >>> Gaussian(0.5).sigma
    0.5
    >>> unequal = Gaussian([0.1, 0.5])
    >>> unequal.sigma, unequal.sigmas
    (0.5, (0.1, 0.5))
    """

    sigma: float
    sigmas: tuple[float, ...] = field(init=False)

    def __init__(self, sigma: float | Sequence[float] | Array) -> None:
        sigmas = () if np.ndim(sigma) == 0 else tuple(sigma)  # type: ignore[arg-type]
        checked = tuple(_check.scale("sigma", one) for one in sigmas or (sigma,))
        object.__setattr__(self, "sigma", max(checked))
        object.__setattr__(self, "sigmas", checked if sigmas else ())

    def __repr__(self) -> str:
        return f"Gaussian({self.sigmas or self.sigma})"

    def check(self, means: Array) -> None:
        """Accept any mean, and as many agents as there are standard deviations."""
        n_agents = means.shape[-1]
        if self.sigmas and len(self.sigmas) != n_agents:
            raise ValueError(
                f"sigma must be one number or one for each of the {n_agents} agents; "
                f"received {len(self.sigmas)}"
            )

    def of_agents(self, first: int, last: int) -> Gaussian:
        """Return the noise of the agents from `first` to before `last`."""
        return Gaussian(self.sigmas[first:last]) if self.sigmas else self

    def fill(self, rng: np.random.Generator, means: Array, out: Array) -> None:
        """Write samples into out[time, agent]."""
        rng.standard_normal(out=out)
        out *= np.array(self.sigmas or self.sigma)
        out += means


@dataclass(frozen=True)
class Bernoulli:
    """Zeros and ones; the mean is the probability of a one.

    Examples
    --------
    >>> Bernoulli().sigma
    0.5
    """

    @property
    def sigma(self) -> float:
        """Sub-Gaussian scale of anything in [0, 1]."""
        return 0.5

    def check(self, means: Array) -> None:
        """Refuse means outside [0, 1]."""
        _check_range(means, 0.0, 1.0)

    def of_agents(self, first: int, last: int) -> Bernoulli:  # noqa: ARG002 - all are alike
        """Return the noise of the agents from `first` to before `last`."""
        return self

    def fill(self, rng: np.random.Generator, means: Array, out: Array) -> None:
        """Write samples into out[time, agent]."""
        rng.random(out=out)
        np.less(out, means, out=out)


@dataclass(frozen=True)
class Uniform:
    """Samples uniform within `half_width` of the mean.

    Examples
    --------
    >>> Uniform(0.25).sigma
    0.25
    """

    half_width: float

    def __post_init__(self) -> None:
        _check.scale("half_width", self.half_width)

    @property
    def sigma(self) -> float:
        """Half the range."""
        return self.half_width

    def check(self, means: Array) -> None:
        """Accept any mean."""

    def of_agents(self, first: int, last: int) -> Uniform:  # noqa: ARG002 - all are alike
        """Return the noise of the agents from `first` to before `last`."""
        return self

    def fill(self, rng: np.random.Generator, means: Array, out: Array) -> None:
        """Write samples into out[time, agent]."""
        rng.random(out=out)
        out -= 0.5
        out *= 2 * self.half_width
        out += means


@dataclass(frozen=True)
class Beta:
    """Samples in [low, high]; a larger `concentration` scatters less.

    Examples
    --------
    >>> Beta(concentration=4.0, low=-1.0, high=1.0).sigma
    1.0
    """

    concentration: float
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        _check.positive("concentration", self.concentration)
        if not _check.finite("low", self.low) < _check.finite("high", self.high):
            raise ValueError(f"a range needs low < high; received {self.low:g}, {self.high:g}")

    @property
    def sigma(self) -> float:
        """Half the range."""
        return (self.high - self.low) / 2

    def check(self, means: Array) -> None:
        """Refuse means outside [low, high]."""
        _check_range(means, self.low, self.high)

    def of_agents(self, first: int, last: int) -> Beta:  # noqa: ARG002 - all are alike
        """Return the noise of the agents from `first` to before `last`."""
        return self

    def fill(self, rng: np.random.Generator, means: Array, out: Array) -> None:
        """Write samples into out[time, agent]."""
        share = (means - self.low) / (self.high - self.low)
        tiny = np.finfo(np.float64).tiny
        ones = np.maximum(share * self.concentration, tiny)
        zeros = np.maximum((1 - share) * self.concentration, tiny)
        out[:] = self.low + (self.high - self.low) * rng.beta(ones, zeros, out.shape)


@dataclass(frozen=True)
class Custom:
    """Samples from your own function ``sampler(rng, means, horizon) -> [time, agent]``.

    Its means are always [agent]: where means change, it is called once for each stretch of time
    in which they do not.  If it takes its random numbers one step after the other, as filling an
    array [time, agent] does, samples do not depend on where these, or blocks of time, begin.

    Examples
    --------
    >>> signs = Custom(lambda rng, means, horizon: means + rng.choice([-1, 1], (horizon, 2)), 1.0)
    >>> from colme import Problem
    >>> Problem([0, 0], [5.0, 5.0], signs).draw(horizon=3).shape
    (1, 3, 2)
    """

    sampler: Callable[[np.random.Generator, Array, int], ArrayLike]
    sigma: float

    def __post_init__(self) -> None:
        _check.scale("sigma", self.sigma)

    def check(self, means: Array) -> None:
        """Accept any mean."""

    def fill(self, rng: np.random.Generator, means: Array, out: Array) -> None:
        """Write samples into out[time, agent]."""
        if means.ndim == 1:
            self._fill_stretch(rng, means, out)
            return
        starts = np.flatnonzero((means[1:] != means[:-1]).any(axis=1)) + 1
        for first, last in pairwise([0, *starts.tolist(), len(out)]):
            self._fill_stretch(rng, means[first], out[first:last])

    def _fill_stretch(self, rng: np.random.Generator, means: Array, out: Array) -> None:
        samples = np.asarray(self.sampler(rng, means, out.shape[0]), dtype=np.float64)
        if samples.shape != out.shape:
            raise ValueError(
                f"the sampler must return [time, agent] = {out.shape}; received {samples.shape}"
            )
        out[:] = samples


def _check_range(means: Array, low: float, high: float) -> None:
    outside = means[(means < low) | (means > high)]
    if outside.size:
        raise ValueError(f"this noise needs means in [{low:g}, {high:g}]; received {outside[0]:g}")
