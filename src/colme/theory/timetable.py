"""All times of a problem at once, class by class, as plain values.

Lives here: the plan of an experiment.  Must not know how any time is computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from colme import _check
from colme.algorithm import ClassTest
from colme.theory import convergence
from colme.theory.identification import identification_times, needed_samples
from colme.theory.situation import Situation, Times


def plan(
    class_means: Sequence[float],
    class_sizes: Sequence[int],
    sigma: float,
    delta: float,
    epsilons: Sequence[float],
    eta: float = 0.0,
    batch: int = 1,
) -> dict[str, Any]:
    """Return all times for each class as plain values; None stands for an infinite threshold.

    The times are the paper's; those of the joint and of the paired test are under ``joint`` and
    ``paired``, in the same layout.
    Times are in steps, each with `batch` samples and one query; ``n_star`` is in samples.

    Examples
    --------
    >>> both = plan([0.2, 0.8], [100, 100], sigma=0.5, delta=0.001, epsilons=[0.1])
    >>> both["classes"][0]["zeta"], both["joint"]["classes"][0]["zeta"]
    (584, 408)
    >>> tens = plan([0.2, 0.8], [100, 100], sigma=0.5, delta=0.001, epsilons=[0.1], batch=10)
    >>> tens["classes"][0]["zeta"], tens["joint"]["classes"][0]["zeta"]
    (238, 220)
    """
    sizes = _check.class_sizes(class_sizes, len(class_means))
    means = np.repeat(np.asarray(class_means, np.float64), sizes)
    overlap, joint, paired = (
        _plan(class_means, sizes, Situation(means, sigma, delta, eta, test, batch), epsilons)
        for test in (ClassTest.OVERLAP, ClassTest.JOINT, ClassTest.PAIRED)
    )
    return overlap | {"joint": joint, "paired": paired}


def _plan(
    class_means: Sequence[float], sizes: Times, situation: Situation, epsilons: Sequence[float]
) -> dict[str, Any]:
    first = np.cumsum(sizes) - sizes
    n_star, zeta = needed_samples(situation), identification_times(situation)
    thresholds = convergence.epsilon_thresholds(situation)
    tau = {f"{e:g}": convergence.convergence_times(situation, e) for e in epsilons}
    oracle = {f"{e:g}": convergence.oracle_times(situation, e) for e in epsilons}
    local = {f"{e:g}": convergence.local_time(situation, e) for e in epsilons}
    classes = [
        {
            "mean": class_means[k],
            "size": int(sizes[k]),
            "n_star": int(n_star[a]),
            "zeta": int(zeta[a]),
            "tau": {key: int(times[a]) for key, times in tau.items()},
            "tau_local": local,
            "tau_oracle": {key: int(times[a]) for key, times in oracle.items()},
            "epsilon_threshold": _finite(thresholds[a]),
        }
        for k, a in enumerate(first)
        if sizes[k] > 0
    ]
    return {
        "batch": situation.batch,
        "epsilon_threshold": _finite(thresholds.min()),
        "risk": {"zeta": situation.delta / 8, "tau": situation.delta / 4},
        "tau_model": {f"{e:g}": convergence.model_time(situation, e) for e in epsilons},
        "classes": classes,
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
