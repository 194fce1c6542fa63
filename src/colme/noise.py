"""How samples scatter around a mean: Gaussian, Bernoulli, bounded, or your own.

Lives here: noise.  Must not know agents, classes or algorithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check

Array = NDArray[np.float64]


class NoiseLaw(Protocol):
    """How samples scatter around a mean: any object with these three members.

    If agents scatter differently, `sigma` is the largest and a tuple `sigmas` holds one for each.
    Several threads draw the noise of a large fleet if it also has ``of_agents(first, last)``, which
    returns the noise of the agents from `first` to before `last`.

    Examples
    --------
    >>> out, noise = np.empty((3, 2)), Uniform(0.1)
    >>> noise.fill(np.random.default_rng(0), np.array([1.0, 5.0]), out)
    >>> out.round().tolist()
    [[1.0, 5.0], [1.0, 5.0], [1.0, 5.0]]
    """

    @property
    def sigma(self) -> float:
        """Sub-Gaussian scale of one sample."""

    def check(self, means: Array) -> None:
        """Raise ValueError if some mean is impossible for this noise."""

    def fill(self, rng: np.random.Generator, means: Array, out: Array) -> None:
        """Write samples into out[time, agent]; means are [agent], or as `out` if they change."""


class _SameForAll:
    """Noise that is the same for all agents, with means from `low` to `high`."""

    low = -math.inf
    high = math.inf

    def check(self, means: Array) -> None:
        """Refuse means out of range."""
        outside = means[(means < self.low) | (means > self.high)]
        if outside.size:
            raise ValueError(
                f"this noise needs means in [{self.low:g}, {self.high:g}]; received {outside[0]:g}"
            )

    def of_agents(self, first: int, last: int) -> Self:  # noqa: ARG002 - all are alike
        """Return the noise of the agents from `first` to before `last`."""
        return self


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
class Bernoulli(_SameForAll):
    """Zeros and ones; the mean is the probability of a one.

    Examples
    --------
    >>> Bernoulli().sigma
    0.5
    """

    low = 0.0
    high = 1.0
    sigma = 0.5

    def fill(self, rng: np.random.Generator, means: Array, out: Array) -> None:
        """Write samples into out[time, agent]."""
        rng.random(out=out)
        np.less(out, means, out=out)


@dataclass(frozen=True)
class Uniform(_SameForAll):
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

    def fill(self, rng: np.random.Generator, means: Array, out: Array) -> None:
        """Write samples into out[time, agent]."""
        rng.random(out=out)
        out -= 0.5
        out *= 2 * self.half_width
        out += means


@dataclass(frozen=True)
class Beta(_SameForAll):
    """Samples in [low, high]; they scatter less with a larger `concentration`.

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

    It is called once for each stretch of time in which means stay the same, so its means are
    always [agent].  If it takes its random numbers step by step, as filling an array [time, agent]
    does, samples do not depend on where stretches or blocks of time begin.

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
        rows = np.atleast_2d(means)
        starts = np.flatnonzero((rows[1:] != rows[:-1]).any(axis=1)) + 1
        for first, last in pairwise([0, *starts.tolist(), len(out)]):
            samples = np.asarray(self.sampler(rng, rows[first], last - first), dtype=np.float64)
            if samples.shape != (last - first, out.shape[1]):
                raise ValueError(
                    f"the sampler must return [time, agent] = {(last - first, out.shape[1])}; "
                    f"received {samples.shape}"
                )
            out[first:last] = samples
