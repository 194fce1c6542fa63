"""What the paper states in words, each beside the measured numbers that decide it.

Lives here: statements and whether they hold on what was measured.  Must not know how values are
shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from colme.paper.experiments import COLLABORATIVE
from colme.paper.measure import Result
from colme.paper.table_values import Results

_APART = 0.99
"""Two classes are separated when the precision of their agents for the pair exceeds this."""


@dataclass(frozen=True)
class Claim:
    """A statement, the numbers that decide it, and whether it holds.

    Examples
    --------
    >>> Claim("two is more than one", "2 > 1", 2 > 1).holds
    True
    """

    statement: str
    evidence: str
    holds: bool


def claims(content: Mapping[str, Any], results: Results) -> tuple[Claim, ...]:
    """Return the paper's statements that the finished experiments can decide.

    Examples
    --------
    >>> claims({}, {})
    ()
    """
    found: list[Claim] = []
    if "three-class" in results:
        found += _about_classes(content, results["three-class"][0])
        found += _about_means(content["convergence_time"]["all"])
    if {"two-class", "three-class"} <= set(results):
        found.append(_about_two_classes(content))
    if "gap_sweep" in content:
        found.append(_about_gaps(content["gap_sweep"]))
    for name, case in content.get("imperfect_classes", {}).items():
        found += _about_imperfect_classes(name, case, results[name][0].experiment.delta)
    return tuple(found)


def _about_classes(content: Mapping[str, Any], three: Result) -> Iterator[Claim]:
    times = content["class_estimation_time"]
    ours, all_asked = times["restricted-round-robin"]["0.8"], times["round-robin"]["0.8"]
    yield Claim(
        "Not asking peers already ruled out helps a little: in class 0.8, restricted round-robin "
        "identifies its class before round-robin does.",
        f"{ours['avg']:.0f} against {all_asked['avg']:.0f} steps",
        ours["avg"] < all_asked["avg"],
    )
    pairs = {"0.2 and 0.8": (0, 2), "0.4 and 0.8": (1, 2), "0.2 and 0.4": (0, 1)}
    apart = {pair: separation_time(three, *labels) for pair, labels in pairs.items()}
    yield Claim(
        "Pairs of classes are separated in the order of their gaps: 0.2 and 0.8, then 0.4 and "
        "0.8, last 0.2 and 0.4.",
        ", ".join(f"{pair} at step {time}" for pair, time in apart.items()),
        list(apart.values()) == sorted(apart.values()),
    )
    share = content["within_theory"]["zeta"]
    yield Claim(
        "Theorem 1: agents know their class by the time ζ (checked as far as the horizon goes).",
        _share(share),
        share >= 1 - three.experiment.delta / 4,
    )


def separation_time(result: Result, i: int, j: int) -> int:
    """Return the kept step at which classes i and j are separated by restricted round-robin.

    Examples
    --------
    >>> from colme.paper import EXPERIMENTS, measure
    >>> quick = EXPERIMENTS["two-class"].model_copy(update={"runs": 1, "horizon": 30})
    >>> separation_time(measure(quick), 0, 1)  # not within the horizon
    31
    """
    curve = result.measured["restricted-round-robin"].curves[f"precision {i} {j}"]
    reached = curve.over().mean >= _APART
    return int(result.times[reached.argmax()]) if reached.any() else result.experiment.horizon + 1


def _about_means(rows: Mapping[str, Any]) -> Iterator[Claim]:
    coarse, fine = (_averages(rows, epsilon) for epsilon in ("0.1", "0.01"))
    yield Claim(
        "For a coarse answer (error 0.1) an agent is better off alone: none of the four variants "
        "beats Local.",
        _listed(coarse),
        min(coarse, key=coarse.__getitem__) == "local",
    )
    if "local" in fine:
        yield Claim(
            "For a fine answer (error 0.01) collaboration pays: all four variants beat Local, by "
            "far.",
            _listed(fine),
            max(fine, key=fine.__getitem__) == "local",
        )
    order = [fine[name] for name in COLLABORATIVE]
    yield Claim(
        "Weighing peers by overlap helps much: soft is faster than simple weights, and "
        "aggressive is fastest.",
        " > ".join(f"{avg:.0f}" for avg in order) + " steps to error 0.01",
        order == sorted(order, reverse=True),
    )


def _averages(rows: Mapping[str, Any], epsilon: str) -> dict[str, float]:
    """Return the average time of each algorithm that was measured."""
    names = (*COLLABORATIVE, "local")
    return {name: cell["avg"] for name in names if (cell := rows[name][epsilon]) is not None}


def _listed(averages: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {avg:.0f}" for name, avg in averages.items())


def _about_two_classes(content: Mapping[str, Any]) -> Claim:
    name = "restricted-round-robin"
    easy = content["two_class"]["convergence_time"][name]["0.01"]["avg"]
    hard = content["convergence_time"]["all"][name]["0.01"]["avg"]
    return Claim(
        "Two classes far apart are an easier problem than three.",
        f"restricted round-robin reaches error 0.01 after {easy:.0f} against {hard:.0f} steps",
        easy < hard,
    )


def _about_gaps(rows: list[dict[str, Any]]) -> Claim:
    gaps = np.log([row["gap"] for row in rows[:5]])
    averages = np.log([row["class_estimation_time"]["avg"] for row in rows[:5]])
    slope = float(np.polyfit(gaps, averages, 1)[0])
    return Claim(
        "The time to identify a class grows like 1 / gap², up to a logarithm (small gaps).",
        f"measured exponent {slope:.2f}",
        -2.3 < slope < -1.8,
    )


def _about_imperfect_classes(name: str, case: Mapping[str, Any], delta: float) -> Iterator[Claim]:
    kind = name.removeprefix("imperfect-")
    yield Claim(
        f"Theorem 3, {kind} classes: agents know their η-class by the time ζ.",
        _share(case["within_zeta"]),
        case["within_zeta"] >= 1 - delta / 4,
    )
    for epsilon, row in case["convergence_time"].items():
        yield Claim(
            f"Theorem 4, {kind} classes: estimates stay within {epsilon} of the class mean after "
            "the time τ.",
            _share(row["within_tau"]),
            row["within_tau"] >= 1 - delta / 4,
        )


def _share(share: float) -> str:
    return f"{100 * share:.6g} % of agents and runs"
