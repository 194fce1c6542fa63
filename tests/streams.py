"""Many streams at once, for the tests of the bounds: followed, and counted when they get out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.stats import binomtest

from colme.bounds import (
    Asymptotic,
    Betting,
    Bound,
    Discounted,
    EmpiricalBernstein,
    Evidence,
    Laplace,
    NormalMixture,
    Restarted,
    Stitched,
    Stream,
    Student,
    Windowed,
)

Array = NDArray[np.float64]

SUBGAUSSIAN: list[Bound] = [Laplace(0.5, 0.05), NormalMixture(0.5, 100), Stitched(0.5)]
BOUNDED: list[Bound] = [EmpiricalBernstein(0, 1), Betting(0, 1, n_grid=20)]
FAMILY: list[Bound] = [*SUBGAUSSIAN, *BOUNDED, Student(100), Asymptotic(100, burn_in=5)]
DRIFTING: list[Bound] = [
    *(Windowed(bound, 12) for bound in (*SUBGAUSSIAN, Asymptotic(100, burn_in=5))),
    *(Discounted(bound, 0.9) for bound in (*SUBGAUSSIAN, Asymptotic(100, burn_in=5))),
    *(Restarted(bound, 0.5) for bound in (Laplace(0.05, 0.05), *SUBGAUSSIAN, *BOUNDED)),
    *(Restarted(bound, 0.5) for bound in (Student(100), Asymptotic(100, burn_in=5))),
    Restarted(Laplace(0.5, 0.05), 0.5, "adwin"),
]
"""Bounds for means that may change; the one of a scale far too small restarts often."""

DRAWS: dict[str, tuple[float, Callable[[Generator, tuple[int, int]], Array]]] = {
    "gauss": (0.0, lambda rng, size: rng.normal(0.0, 0.5, size)),
    "fair": (0.5, lambda rng, size: rng.binomial(1, 0.5, size).astype(float)),
    "rare": (0.02, lambda rng, size: rng.binomial(1, 0.02, size).astype(float)),
    "beta": (0.25, lambda rng, size: rng.beta(10, 30, size)),
    "uniform": (0.5, lambda rng, size: rng.random(size)),
    "exponential": (1.0, lambda rng, size: rng.exponential(1.0, size)),
    "lognormal": (math.exp(1.125), lambda rng, size: rng.lognormal(0.0, 1.5, size)),
}
"""True mean and samples [time, stream] of each kind."""


def name(bound: Bound) -> str:
    return type(bound).__name__


def crossing(
    bound: Bound, kind: str, *, factor: float = 1.0, streams: int = 2000, steps: int = 300
) -> float:
    """Return the p-value of 'at most γ of the streams ever leave `factor` times the interval'.

    The interval is shrunk towards the mean of the samples.
    """
    true_mean, draw = DRAWS[kind]
    stream = bound.stream(streams)
    outside = np.zeros(streams, dtype=bool)
    for row in draw(np.random.default_rng(7), (steps, streams)):
        stream.update(row)
        mean, (low, high) = stream.mean, stream.interval
        outside |= true_mean > mean + factor * (high - mean)
        outside |= true_mean < mean + factor * (low - mean)
    return p_value(outside, bound.gamma)


def p_value(crossed: NDArray[np.bool_], gamma: float) -> float:
    return float(binomtest(int(crossed.sum()), crossed.size, gamma, "greater").pvalue)


def average_evidence(bound: Bound, values: list[float], chances: list[float], steps: int) -> Array:
    """Return the exact mean, after each step, of what the evidence says M(m) is at least.

    Takes every sequence of `values` in turn; m is their mean under `chances`.
    """
    sequences = np.array(list(itertools.product(range(len(values)), repeat=steps)))
    samples, weights = np.array(values)[sequences], np.array(chances)[sequences].prod(axis=1)
    true_mean = float(np.dot(values, chances))
    stream = bound.stream(len(samples))
    averages = np.empty(steps)
    for t in range(steps):
        stream.update(samples[:, t])
        averages[t] = weights @ np.exp(evidence_against(stream.evidence, true_mean))
    return averages


def evidence_against(evidence: Evidence[Array], mean: float) -> Array:
    """Return H(|center - mean|) - offset, over arrays."""
    distance = abs(evidence.center - mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        parabola = distance**2 / (2 * evidence.spread)
        line = evidence.slope * distance - evidence.slope**2 * evidence.spread / 2
        near = distance < evidence.slope * evidence.spread
    return np.where(near, parabola, line) - evidence.offset


def followed_state(stream: Stream[float]) -> list[object]:
    """Return all that can be read of one stream, to the last bit."""
    found = vars(stream.evidence)
    return [stream.count, stream.mean, stream.squares, stream.interval, found, stream.epoch]
