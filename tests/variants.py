"""One problem, and runs of it with one thing changed, for the tests of the variants."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme import (
    Algorithm,
    Problem,
    Trajectory,
    simulate,
)

PROBLEM = Problem.gaussian([0.0, 0.5, 1.0], n_agents=11, sigma=0.3, seed=1)


SAMPLES = PROBLEM.draw(90, runs=2, seed=2)


PRESETS = [
    "sharp",
    "restricted-round-robin",
    "round-robin",
    "soft-restricted-round-robin",
    "aggressive-restricted-round-robin",
    "oracle",
    "local",
    "eta-restricted-round-robin",
]


def run(algorithm: str | Algorithm = "sharp", samples: Any = SAMPLES, **changes: Any) -> Trajectory:
    keep: dict[str, Any] = {"delta": 0.05, "labels": PROBLEM.labels}
    if "bound" not in changes:
        keep["sigma"] = 0.3
    return simulate(samples, algorithm, **(keep | changes))


def estimates_of(trajectory: Trajectory) -> NDArray[np.float64]:
    assert trajectory.estimates is not None
    return trajectory.estimates
