"""Simulations beside their slow twin, for the tests of both."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme import Algorithm, Problem, Trajectory, lockstep, simulate

Labels = NDArray[np.int64]


Samples = NDArray[np.float64]


LABELLED = Problem.gaussian([0.0, 0.4, 1.0], n_agents=11, sigma=0.3, seed=1)


SAMPLES = LABELLED.draw(60, runs=2, seed=2)


def close(one: Trajectory, other: Trajectory, atol: float = 1e-12) -> None:
    assert one.estimates is not None
    assert other.estimates is not None
    np.testing.assert_allclose(one.estimates, other.estimates, rtol=0, atol=atol)
    np.testing.assert_array_equal(one.class_counts, other.class_counts)
    assert (one.likely_counts is None) == (other.likely_counts is None)
    if one.likely_counts is not None and other.likely_counts is not None:
        np.testing.assert_array_equal(one.likely_counts, other.likely_counts)


def simulated(
    samples: Samples, algorithm: str | Algorithm, *, judged: int, **how: Any
) -> Trajectory:
    """Return what `simulate` makes of all runs, after the slow twin has judged one of them."""
    fast = simulate(samples, algorithm, **how)
    arrays = {part: getattr(fast, part) for part in ("estimates", "class_counts", "likely_counts")}
    run: dict[str, Any] = {
        part: None if array is None else array[judged : judged + 1]
        for part, array in arrays.items()
    }
    close(replace(fast, **run), lockstep(samples[judged], algorithm, **how))
    return fast
