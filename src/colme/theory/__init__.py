"""The lemmas and theorems as functions: how long it takes, and whether collaboration pays.

Lives here: times computed from true means alone.  Must not know simulation.  Times are in steps,
for the restricted round-robin query strategy, and hold with the probability each statement names.

Numbered statements are the paper's, for its class test.  Lemma J, Theorem J and Theorem S are ours.
docs/3-guarantees.md proves them, and extends all of them to steps that bring several samples.
"""

from colme.theory.convergence import (
    convergence_times,
    epsilon_thresholds,
    full_information_times,
    local_time,
    model_time,
    oracle_times,
)
from colme.theory.identification import (
    identification_times,
    needed_samples,
    shown_times,
    threshold,
)
from colme.theory.situation import Situation, class_sizes
from colme.theory.timetable import plan

__all__ = [
    "Situation",
    "class_sizes",
    "convergence_times",
    "epsilon_thresholds",
    "full_information_times",
    "identification_times",
    "local_time",
    "model_time",
    "needed_samples",
    "oracle_times",
    "plan",
    "shown_times",
    "threshold",
]
