"""Every experiment of the reproduction as data, under the name that ``--only`` takes.

Lives here: problems, parameters and the algorithms compared.  Must not know how experiments are
run, tabulated or drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from colme.experiment import Experiment
from colme.theory import Situation, identification_times

EXTRA_ALGORITHMS: tuple[str, ...] = ("sharp",)
"""Names from `colme.ALGORITHMS` to lay beside the paper's six; one more name is all it takes."""

IDENTIFIERS = ("round-robin", "restricted-round-robin", *EXTRA_ALGORITHMS)
"""Algorithms whose classes are followed; the soft and aggressive weightings share the class of
``restricted-round-robin``, the baselines do not look for one."""

COLLABORATIVE = (
    "round-robin",
    "restricted-round-robin",
    "soft-restricted-round-robin",
    "aggressive-restricted-round-robin",
)
ALGORITHMS = (*COLLABORATIVE, *EXTRA_ALGORITHMS, "local", "oracle")

_BALANCED = 3
"""Seed of the classes: the smallest for which no class is more than 10 % off the even share."""


def _experiment(*class_means: float, problem: dict[str, Any], **settings: Any) -> Experiment:
    truth = {"class_means": class_means, "sigma": 0.5} | problem
    return Experiment.make({"problem": truth, "algorithms": ALGORITHMS, "seed": 0} | settings)


_DRAWN = {"n_agents": 200, "seed": _BALANCED}
_ETA: dict[str, Any] = {
    "algorithms": ("eta-restricted-round-robin", "local"),
    "horizon": 5000,
    "epsilons": (0.1, 0.05),
}

EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        "three-class": _experiment(0.2, 0.4, 0.8, problem=_DRAWN),
        "local-long": _experiment(
            0.2, 0.4, 0.8, problem=_DRAWN, algorithms=("local",), horizon=30_000, epsilons=(0.01,)
        ),
        "two-class": _experiment(0.2, 0.8, problem=_DRAWN),
        # Clusters 0.6 apart, means within 0.05 of the centre: all of a cluster is within eta.
        "imperfect-separated": _experiment(
            0.2, 0.8, 1.4, problem={"class_sizes": (20,) * 3, "bias": 0.05}, eta=0.1, **_ETA
        ),
        # A chain: everybody is within eta of the neighbouring positions and of no other, so the
        # classes of neighbours overlap without being equal.
        "imperfect-overlapping": _experiment(
            *(0.0, 0.3, 0.6, 0.9, 1.2, 1.5),
            problem={"class_sizes": (10,) * 6, "bias": 0.02},
            eta=0.35,
            **_ETA,
        ),
        "gap-sweep": _experiment(
            *(0.0, 0.4),
            problem={"class_sizes": (20, 20)},
            algorithms=("restricted-round-robin",),
            epsilons=(0.1,),
        ),
    }
)
"""Name to experiment: copy one, change a number, run it.

Examples
--------
>>> quick = EXPERIMENTS["three-class"].model_copy(update={"runs": 2, "horizon": 50})
>>> [trajectory.estimates.shape for trajectory in quick.run()][0]
(2, 50, 200)
"""

LIKELY = ("three-class",)
"""Experiments in which likely classes are followed, by the algorithms that have one: that takes
them twice as long."""

GAPS = (0.1, 0.14, 0.2, 0.28, 0.4, 0.57, 0.8, 1.13, 1.6)
"""Gaps between the two classes of ``gap-sweep``, evenly spaced on a logarithmic scale."""

_BEYOND_THEORY = 1.25
"""A swept experiment lasts this many times the theoretical identification time."""


def at_gap(experiment: Experiment, gap: float) -> Experiment:
    """Return the experiment with two classes `gap` apart, long enough to identify them.

    Examples
    --------
    >>> at_gap(EXPERIMENTS["gap-sweep"], 0.8).problem.class_means
    (0.0, 0.8)
    """
    problem = experiment.problem.model_copy(update={"class_means": (0.0, gap)})
    truth = problem.build()
    situation = Situation(truth.true_means, truth.sigma, experiment.delta)
    horizon = math.ceil(_BEYOND_THEORY * identification_times(situation).max())
    return experiment.model_copy(update={"problem": problem, "horizon": horizon})


def parts(name: str, *, runs: int, seed: int) -> tuple[Experiment, ...]:
    """Return what runs under a name, with `runs` and `seed` in place: one experiment, or a sweep.

    Examples
    --------
    >>> [len(parts(name, runs=2, seed=0)) for name in ("three-class", "gap-sweep")]
    [1, 9]
    """
    if name not in EXPERIMENTS:
        raise ValueError(f"unknown experiment {name!r}; known: {', '.join(EXPERIMENTS)}")
    experiment = Experiment.make(EXPERIMENTS[name].model_dump() | {"runs": runs, "seed": seed})
    if name != "gap-sweep":
        return (experiment,)
    return tuple(at_gap(experiment, gap) for gap in GAPS)
