"""The bounds for samples in [0, 1] once more, from whole arrays and without loops, to judge by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Array = NDArray[np.float64]


def stakes(x: Array, gamma: float, most: float) -> tuple[Array, Array]:
    """Return λ_t and the mean of the samples before t, one imagined sample of 1/2 among them."""
    t = np.arange(1, len(x) + 1)
    means = (0.5 + x.cumsum()) / (t + 1)
    variances = (0.25 + ((x - means) ** 2).cumsum()) / (t + 1)
    before = np.concatenate([[0.25], variances[:-1]])
    sizes = np.sqrt(2 * np.log(2 / gamma) / (before * t * np.log(1 + t)))
    return np.minimum(most, sizes), np.concatenate([[0.5], means[:-1]])


def bernstein(x: Array, gamma: float) -> tuple[float, float]:
    """Return the centre and the radius of the empirical Bernstein interval."""
    lam, means = stakes(x, gamma, 0.5)
    price = ((x - means) ** 2 * (-np.log(1 - lam) - lam)).sum()
    return float((lam * x).sum() / lam.sum()), float((np.log(2 / gamma) + price) / lam.sum())


def log_wealth(x: Array, gamma: float, sign: int, m: float) -> float:
    """Return ln Π (1 ± λ_i (x_i - m))."""
    lam, _ = stakes(x, gamma, 0.75)
    return float(np.log(1 + sign * lam * (x - m)).sum())


def betting(x: Array, gamma: float) -> tuple[float, float]:
    """Return the two means at which a gambler owns exactly 2/γ, or the ends of the range."""
    level = np.log(2 / gamma)

    def short(m: float, sign: int) -> float:
        return log_wealth(x, gamma, sign, m) - float(level)

    low = brentq(short, 0, 1, args=(1,), xtol=1e-14) if short(0, 1) > 0 else 0.0
    high = brentq(short, 0, 1, args=(-1,), xtol=1e-14) if short(1, -1) > 0 else 1.0
    return float(low), float(high)


def mixture(means: Array, precisions: Array, atoms: Array, width: float) -> tuple[Array, Array]:
    """Return atoms and shares (the strays' last) by expectation and maximisation, from `atoms`."""
    shares = np.full(len(atoms) + 1, 1 / (len(atoms) + 1))
    for _ in range(500):
        bells = np.sqrt(precisions / (2 * np.pi)) * np.exp(
            -0.5 * precisions * (means - atoms[:, np.newaxis]) ** 2
        )
        densities = shares[:, np.newaxis] * np.vstack([bells, np.full(len(means), 1 / width)])
        chances = densities / densities.sum(axis=0)
        weights = chances[:-1] * precisions
        atoms = weights @ means / weights.sum(axis=1)
        shares = chances.mean(axis=1)
    return atoms, shares


def expectation(
    own: tuple[float, float],
    peers: tuple[Array, Array],
    atoms: Array,
    shares: Array,
    width: float,
    crowd: tuple[float, float],
    trust: float,
) -> float:
    """Return the mean that classes and a crowd lead one to expect; `shares` end with strays'.

    `own` and `peers` are means and precisions, `crowd` the mean and the variance of the crowd.
    """

    def bell(x: Array, precision: Array) -> Array:
        return np.sqrt(precision / (2 * np.pi)) * np.exp(-0.5 * precision * x**2)

    means, precisions = (np.append(own[i], peers[i]) for i in (0, 1))
    joint = shares[:-1, np.newaxis] * bell(means - atoms[:, np.newaxis], precisions)
    chances = joint / (joint.sum(axis=0) + shares[-1] / width)
    weights = chances * precisions
    classes = chances[:, 0] @ (weights @ means / weights.sum(axis=1) - own[0])
    wide = 1 / (1 / precisions + crowd[1])
    inside = 0.8 * bell(means - crowd[0], wide)
    inside /= inside + 0.2 / width
    center = (inside * wide) @ means / (inside * wide).sum()
    most = 0.7 / np.sqrt(own[1])
    drawn = np.clip(inside[0] * (center - own[0]) * wide[0] / own[1], -most, most)
    return float(own[0] + trust * classes + (1 - trust) * drawn)
