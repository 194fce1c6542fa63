"""The measured tables as plain values, under the keys of the published ones.

Lives here: from results to ``tables.json``.  Must not know what the paper reports or how values
are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme import theory
from colme.paper.experiments import IDENTIFIERS
from colme.paper.intervals import mean_interval
from colme.paper.results import Result, Times
from colme.paper.theorems import DECIMALS, identified, imperfect, spread, sweep, within_theory

Results: TypeAlias = Mapping[str, tuple[Result, ...]]
"""What ran, by the name of the experiment; a sweep has several parts."""


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
        content["convergence_time"] = _convergence(results, spread, with_theory=True)
        thresholds = theory.epsilon_thresholds(three.situation)
        content["epsilon_threshold_all_agents"] = round(float(thresholds.min()), 6)
        content["beyond_horizon"] = _beyond_horizon(results)
        content["within_theory"] = within_theory(three)
        content["intervals"] = {
            "class_estimation_time": _identification(three, _interval),
            "convergence_time": _convergence(results, _interval, with_theory=False),
        }
    if "two-class" in results:
        content["two_class"] = _two_class(results["two-class"][0])
    for name in ("imperfect-separated", "imperfect-overlapping"):
        if name in results:
            content.setdefault("imperfect_classes", {})[name] = imperfect(results[name][0])
    if "gap-sweep" in results:
        content["gap_sweep"] = [sweep(part) for part in results["gap-sweep"]]
    content["class_sizes"] = {name: parts[0].class_sizes for name, parts in results.items()}
    content["parameters"] = {
        name: [part.experiment.model_dump(mode="json", exclude_none=True) for part in parts]
        for name, parts in results.items()
    }
    return content


def _interval(times: Times) -> list[float] | None:
    ends = mean_interval(times)
    return None if ends is None else [round(end, DECIMALS) for end in ends]


def convergence_of(results: Results, algorithm: str, epsilon: str) -> Times | None:
    """Return convergence times[run, agent]; Local at 0.01 needs the long experiment.

    Examples
    --------
    >>> from colme.paper import EXPERIMENTS, measure
    >>> quick = EXPERIMENTS["three-class"].model_copy(update={"runs": 1, "horizon": 20})
    >>> convergence_of({"three-class": (measure(quick),)}, "local", "0.01") is None
    True
    """
    source = _source(results, algorithm, epsilon)
    return None if source is None else source.measured[algorithm].convergence[epsilon]


def _source(results: Results, algorithm: str, epsilon: str) -> Result | None:
    name = "local-long" if (algorithm, epsilon) == ("local", "0.01") else "three-class"
    return results[name][0] if name in results else None


def _blocks(result: Result) -> dict[str, NDArray[np.bool_]]:
    return {"all": np.ones(result.problem.n_agents, np.bool_)} | result.classes


Cell = Callable[[Times], Any]


def _identification(result: Result, cell: Cell) -> dict[str, Any]:
    return {
        name: {key: cell(identified(measured)[:, agents]) for key, agents in result.classes.items()}
        for name, measured in result.measured.items()
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


def _convergence(results: Results, cell: Cell, *, with_theory: bool) -> dict[str, Any]:
    three = results["three-class"][0]
    blocks: dict[str, Any] = {}
    for key, agents in _blocks(three).items():
        blocks[key] = {name: {} for name in three.measured}
        for name in three.measured:
            for epsilon in ("0.1", "0.01"):
                times = convergence_of(results, name, epsilon)
                blocks[key][name][epsilon] = None if times is None else cell(times[:, agents])
        if with_theory:
            blocks[key] |= _tau(three, agents)
    return blocks


def _beyond_horizon(results: Results) -> dict[str, Any]:
    """Return how many times are not within the horizon, by algorithm, epsilon and class."""
    three = results["three-class"][0]
    late: dict[str, Any] = {name: dict.fromkeys(("0.1", "0.01")) for name in three.measured}
    for name, by_epsilon in late.items():
        for epsilon in by_epsilon:
            source = _source(results, name, epsilon)
            if source is not None:
                over = source.measured[name].convergence[epsilon] > source.experiment.horizon
                blocks = _blocks(three).items()
                by_epsilon[epsilon] = {key: int(over[:, agents].sum()) for key, agents in blocks}
    return late


def _zeta(result: Result) -> dict[str, Any]:
    zeta = theory.identification_times(result.situation)
    return {
        "theory_restricted_zeta": {
            key: int(zeta[agents].max()) for key, agents in result.classes.items()
        }
    }


def _tau(result: Result, agents: NDArray[np.bool_]) -> dict[str, Any]:
    tau = {
        f"{epsilon:g}": theory.convergence_times(result.situation, epsilon)
        for epsilon in result.experiment.epsilons
    }
    local = {
        f"{epsilon:g}": theory.local_time(result.situation, epsilon)
        for epsilon in result.experiment.epsilons
    }
    return {
        "theory_restricted_tau": {key: int(times[agents].max()) for key, times in tau.items()},
        "theory_local_tau": local,
    }


def _two_class(result: Result) -> dict[str, Any]:
    convergence = {
        name: {epsilon: spread(times) for epsilon, times in measured.convergence.items()}
        for name, measured in result.measured.items()
        if name != "local"
    }
    local = spread(result.measured["local"].convergence["0.1"])
    return {
        "class_estimation_time": _identification(result, spread) | _zeta(result),
        "convergence_time": convergence | {"local": {"0.1": local, "0.01": None}},
    }
