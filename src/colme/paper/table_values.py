"""The measured tables as plain values, under the keys of the published ones.

Lives here: from results to ``tables.json``, with the times of Theorems 1 to 4 beside the measured
ones.  Must not know what the paper reports or how values are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme import metrics, theory
from colme.paper.experiments import IDENTIFIERS
from colme.paper.intervals import mean_interval
from colme.paper.measure import Result, Times

Results: TypeAlias = Mapping[str, tuple[Result, ...]]
"""What ran, by the name of the experiment; a sweep has several parts."""
Cell: TypeAlias = Callable[[Times], Any]

_DECIMALS = 2
_EPSILONS = ("0.1", "0.01")


def tables(results: Results) -> dict[str, Any]:
    """Return every measured number as plain values: the same for the same seed.

    Examples
    --------
    >>> from colme.paper import EXPERIMENTS, measure
    >>> quick = EXPERIMENTS["three-class"].model_copy(update={"runs": 1, "horizon": 20})
    >>> sorted(tables({"three-class": (measure(quick),)})["class_estimation_time"])
    ['restricted-round-robin', 'round-robin', 'sharp', 'theory_restricted_zeta']
    """
    content: dict[str, Any] = {}
    if "three-class" in results:
        three = results["three-class"][0]
        content["class_estimation_time"] = _identification(three, spread) | _zeta(three)
        content |= _likely(three)
        content["convergence_time"] = {
            key: rows | _tau(three, key) for key, rows in _convergence(results, spread).items()
        }
        thresholds = theory.epsilon_thresholds(three.situation)
        content["epsilon_threshold_all_agents"] = round(float(thresholds.min()), 6)
        content["beyond_horizon"] = _beyond_horizon(results)
        content["within_theory"] = within_theory(three)
        content["intervals"] = {
            "class_estimation_time": _identification(three, _interval),
            "convergence_time": _convergence(results, _interval),
        }
    if "two-class" in results:
        content["two_class"] = _two_class(results["two-class"][0])
    for name in ("imperfect-separated", "imperfect-overlapping"):
        if name in results:
            content.setdefault("imperfect_classes", {})[name] = imperfect(results[name][0])
    if "gap-sweep" in results:
        content["gap_sweep"] = [gap_row(part) for part in results["gap-sweep"]]
    content["class_sizes"] = {name: parts[0].class_sizes for name, parts in results.items()}
    content["parameters"] = {
        name: [part.experiment.model_dump(mode="json", exclude_none=True) for part in parts]
        for name, parts in results.items()
    }
    return content


def spread(times: Times) -> dict[str, float]:
    """Return average, standard deviation and maximum, rounded for reading.

    Examples
    --------
    >>> spread(np.array([[1, 2, 2]]))
    {'avg': 1.67, 'std': 0.47, 'max': 2.0}
    """
    return {key: round(value, _DECIMALS) for key, value in vars(metrics.spread(times)).items()}


def _interval(times: Times) -> list[float] | None:
    ends = mean_interval(times)
    return None if ends is None else [round(end, _DECIMALS) for end in ends]


def convergence_of(results: Results, algorithm: str, epsilon: str) -> Times | None:
    """Return convergence times[run, agent]; Local at 0.01 needs the long experiment.

    Examples
    --------
    >>> from colme.paper import EXPERIMENTS, measure
    >>> quick = EXPERIMENTS["three-class"].model_copy(update={"runs": 1, "horizon": 20})
    >>> convergence_of({"three-class": (measure(quick),)}, "local", "0.01") is None
    True
    """
    name = _source(algorithm, epsilon)
    return results[name][0].measured[algorithm].convergence[epsilon] if name in results else None


def _source(algorithm: str, epsilon: str) -> str:
    return "local-long" if (algorithm, epsilon) == ("local", "0.01") else "three-class"


def _groups(result: Result) -> dict[str, NDArray[np.bool_]]:
    """Return all agents, and those of each class."""
    return {"all": np.ones(result.problem.n_agents, np.bool_)} | result.classes


def _identification(result: Result, cell: Cell) -> dict[str, Any]:
    return {
        name: {
            key: cell(result.identification(name)[:, agents])
            for key, agents in result.classes.items()
        }
        for name in result.measured
        if name in IDENTIFIERS
    }


def _likely(result: Result) -> dict[str, Any]:
    """Return the same times of likely classes, if followed, and the share right at the end.

    Under a key of its own, apart from the classes above: nothing is guaranteed of a likely class.
    """
    horizon = result.experiment.horizon
    table = {
        name: {
            key: spread(times[:, agents])
            | {"right_at_the_end": round(float((times[:, agents] <= horizon).mean()), 4)}
            for key, agents in result.classes.items()
        }
        for name, measured in result.measured.items()
        if (times := measured.likely) is not None
    }
    return {"likely_class_estimation_time": table} if table else {}


def _convergence(results: Results, cell: Cell) -> dict[str, Any]:
    """Return a cell for each group, algorithm and epsilon; None where nothing was measured."""
    three = results["three-class"][0]
    return {
        key: {
            name: {
                epsilon: None if times is None else cell(times[:, agents])
                for epsilon in _EPSILONS
                for times in (convergence_of(results, name, epsilon),)
            }
            for name in three.measured
        }
        for key, agents in _groups(three).items()
    }


def _beyond_horizon(results: Results) -> dict[str, Any]:
    """Return how many times are not within the horizon, by algorithm, epsilon and class."""
    three = results["three-class"][0]
    late: dict[str, Any] = {name: dict.fromkeys(_EPSILONS) for name in three.measured}
    for name, by_epsilon in late.items():
        for epsilon in by_epsilon:
            times = convergence_of(results, name, epsilon)
            if times is not None:
                over = times > results[_source(name, epsilon)][0].experiment.horizon
                groups = _groups(three).items()
                by_epsilon[epsilon] = {key: int(over[:, agents].sum()) for key, agents in groups}
    return late


def _zeta(result: Result) -> dict[str, Any]:
    zeta = theory.identification_times(result.situation)
    by_class = {key: int(zeta[agents].max()) for key, agents in result.classes.items()}
    return {"theory_restricted_zeta": by_class}


def _tau(result: Result, group: str) -> dict[str, Any]:
    situation, agents = result.situation, _groups(result)[group]
    tau, local = {}, {}
    for epsilon in result.experiment.epsilons:
        tau[f"{epsilon:g}"] = int(theory.convergence_times(situation, epsilon)[agents].max())
        local[f"{epsilon:g}"] = theory.local_time(situation, epsilon)
    return {"theory_restricted_tau": tau, "theory_local_tau": local}


def _two_class(result: Result) -> dict[str, Any]:
    convergence = {
        name: {epsilon: spread(times) for epsilon, times in measured.convergence.items()}
        for name, measured in result.measured.items()
    }
    local = convergence.pop("local") | {"0.01": None}
    return {
        "class_estimation_time": _identification(result, spread) | _zeta(result),
        "convergence_time": convergence | {"local": local},
    }


def within_theory(result: Result) -> dict[str, Any]:
    """Return the share of agents and runs that keep within Theorems 1 and 2.

    Examples
    --------
    >>> from colme.paper import EXPERIMENTS, measure
    >>> quick = EXPERIMENTS["three-class"].model_copy(update={"runs": 1, "horizon": 20})
    >>> sorted(within_theory(measure(quick)))
    ['tau', 'zeta']
    """
    name, horizon = "restricted-round-robin", result.experiment.horizon
    zeta = np.minimum(theory.identification_times(result.situation), horizon)
    shares = {}
    for epsilon in result.experiment.epsilons:
        tau = np.minimum(theory.convergence_times(result.situation, epsilon), horizon)
        times = result.measured[name].convergence[f"{epsilon:g}"]
        shares[f"{epsilon:g}"] = float((times <= tau).mean())
    return {"zeta": float((result.identification(name) <= zeta).mean()), "tau": shares}


def imperfect(result: Result) -> dict[str, Any]:
    """Return how η-classes fare beside Theorems 3 and 4.

    Examples
    --------
    >>> from colme.paper import EXPERIMENTS, measure
    >>> quick = EXPERIMENTS["imperfect-separated"].model_copy(update={"runs": 1, "horizon": 20})
    >>> imperfect(measure(quick))["zeta"]
    {'min': 538, 'max': 824}
    """
    name = "eta-restricted-round-robin"
    convergence: dict[str, Any] = {}
    for epsilon in result.experiment.epsilons:
        key, tau = f"{epsilon:g}", theory.convergence_times(result.situation, epsilon)
        times = {name: one.convergence[key] for name, one in result.measured.items()}
        convergence[key] = {
            "tau": {"min": int(tau.min()), "max": int(tau.max())},
            "within_tau": float((times[name] <= tau).mean()),
            "within_horizon": {
                name: round(float((values <= result.experiment.horizon).mean()), 4)
                for name, values in times.items()
            },
            **{name: spread(values) for name, values in times.items()},
        }
    zeta, found = theory.identification_times(result.situation), result.identification(name)
    return {
        "zeta": {"min": int(zeta.min()), "max": int(zeta.max())},
        "within_zeta": float((found <= zeta).mean()),
        "class_estimation_time": spread(found),
        "convergence_time": convergence,
    }


def gap_row(result: Result) -> dict[str, Any]:
    """Return measured and theoretical identification times at one gap.

    Examples
    --------
    >>> from colme.paper import measure
    >>> from colme.paper.experiments import parts
    >>> gap_row(measure(parts("gap-sweep", runs=1, seed=0)[-1]))["zeta"]
    86
    """
    low, high = result.experiment.problem.class_means
    times = result.identification("restricted-round-robin")
    zeta = theory.identification_times(result.situation)
    return {
        "gap": round(high - low, 6),
        "zeta": int(zeta.max()),
        "within_zeta": float((times <= zeta).mean()),
        "class_estimation_time": spread(times),
    }
