"""Every kind of noise, for tests."""

import numpy as np
from numpy.typing import NDArray

from colme.noise import Bernoulli, Beta, Custom, Gaussian, NoiseLaw, Uniform


def skewed(rng: np.random.Generator, means: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return samples of an exponential distribution around the means."""
    return means - 1 + rng.exponential(size=(n, means.size))


VARIANCES: dict[NoiseLaw, float] = {
    Gaussian(0.5): 0.25,
    Bernoulli(): 0.16,
    Uniform(0.3): 0.03,
    Beta(3.0, -1.0, 1.0): 0.24,
    Custom(skewed, 2.0): 1.0,
}
"""The variance of each at mean 0.2."""
