"""Measured times beside the theorems that bound them: Theorems 1 to 4.

Lives here: which share of agents keeps within the theoretical time, as plain values.  Must not
know what the paper reports or how values are shown.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from colme import metrics, theory
from colme.paper.results import Measured, Result, Times

DECIMALS = 2
"""Times are rounded to this many decimals."""


def spread(times: Times) -> dict[str, float]:
    """Return average, standard deviation and maximum, rounded for reading.

    Examples
    --------
    >>> spread(np.array([[1, 2, 2]]))
    {'avg': 1.67, 'std': 0.47, 'max': 2.0}
    """
    return {key: round(value, DECIMALS) for key, value in vars(metrics.spread(times)).items()}


def identified(measured: Measured) -> Times:
    """Return identification times[run, agent] of an algorithm whose class was followed.

    Examples
    --------
    >>> identified(Measured())
    Traceback (most recent call last):
    ValueError: the class of this algorithm was not followed: see IDENTIFIERS
    """
    times = measured.identification
    if times is None:
        raise ValueError("the class of this algorithm was not followed: see IDENTIFIERS")
    return times


def within_theory(result: Result) -> dict[str, Any]:
    """Return the share of agents and runs that keep within Theorems 1 and 2.

    Examples
    --------
    >>> from colme.paper import EXPERIMENTS, measure
    >>> quick = EXPERIMENTS["three-class"].model_copy(update={"runs": 1, "horizon": 20})
    >>> sorted(within_theory(measure(quick)))
    ['tau', 'zeta']
    """
    measured = result.measured["restricted-round-robin"]
    horizon = result.experiment.horizon
    zeta = np.minimum(theory.identification_times(result.situation), horizon)
    shares = {}
    for epsilon in result.experiment.epsilons:
        tau = np.minimum(theory.convergence_times(result.situation, epsilon), horizon)
        shares[f"{epsilon:g}"] = float((measured.convergence[f"{epsilon:g}"] <= tau).mean())
    return {"zeta": float((identified(measured) <= zeta).mean()), "tau": shares}


def imperfect(result: Result) -> dict[str, Any]:
    """Return how η-classes fare beside Theorems 3 and 4.

    Examples
    --------
    >>> from colme.paper import EXPERIMENTS, measure
    >>> quick = EXPERIMENTS["imperfect-separated"].model_copy(update={"runs": 1, "horizon": 20})
    >>> imperfect(measure(quick))["zeta"]
    {'min': 538, 'max': 824}
    """
    zeta = theory.identification_times(result.situation)
    identification = identified(result.measured["eta-restricted-round-robin"])
    convergence: dict[str, Any] = {}
    for epsilon in result.experiment.epsilons:
        key, tau = f"{epsilon:g}", theory.convergence_times(result.situation, epsilon)
        times = {name: one.convergence[key] for name, one in result.measured.items()}
        convergence[key] = {
            "tau": {"min": int(tau.min()), "max": int(tau.max())},
            "within_tau": float((times["eta-restricted-round-robin"] <= tau).mean()),
            "within_horizon": {
                name: round(float((values <= result.experiment.horizon).mean()), 4)
                for name, values in times.items()
            },
            **{name: spread(values) for name, values in times.items()},
        }
    return {
        "zeta": {"min": int(zeta.min()), "max": int(zeta.max())},
        "within_zeta": float((identification <= zeta).mean()),
        "class_estimation_time": spread(identification),
        "convergence_time": convergence,
    }


def sweep(result: Result) -> dict[str, Any]:
    """Return measured and theoretical identification times at one gap.

    Examples
    --------
    >>> from colme.paper import measure
    >>> from colme.paper.experiments import parts
    >>> sweep(measure(parts("gap-sweep", runs=1, seed=0)[-1]))["zeta"]
    86
    """
    low, high = result.experiment.problem.class_means
    times = identified(result.measured["restricted-round-robin"])
    zeta = theory.identification_times(result.situation)
    return {
        "gap": round(high - low, 6),
        "zeta": int(zeta.max()),
        "within_zeta": float((times <= zeta).mean()),
        "class_estimation_time": spread(times),
    }
