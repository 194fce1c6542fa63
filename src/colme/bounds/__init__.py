"""Confidence sequences: how far a mean may be from what a stream shows, at every time at once.

Lives here: bounds, the streams that follow samples, the evidence of a stream, and the one place
where risk is divided.  Must not know agents.

Examples
--------
>>> stream = EmpiricalBernstein(low=0, high=1, gamma=0.05).stream()
>>> for sample in [0.4, 0.6, 0.5, 0.5] * 50:
...     stream.update(sample)
>>> [round(end, 3) for end in stream.interval]
[0.461, 0.539]
"""

from colme.bounds.asymptotic import Asymptotic
from colme.bounds.base import Bound
from colme.bounds.bernstein import EmpiricalBernstein
from colme.bounds.betting import Betting
from colme.bounds.bounded import range_sigma
from colme.bounds.default import STREAM_N_OPT, choose_bound, default_bound, usual_bound
from colme.bounds.discounted import Discounted
from colme.bounds.evidence import Evidence, huber, separated
from colme.bounds.kinds import KINDS, from_plain, to_plain
from colme.bounds.known_noise import KnownNoise
from colme.bounds.mixture import Laplace, NormalMixture, mixture_width, tuned_prior
from colme.bounds.moments import folded_mean, folded_squares
from colme.bounds.protocol import Stream
from colme.bounds.restarted import Restarted
from colme.bounds.risk import Budget, spend_risk, split_risk
from colme.bounds.stitched import Stitched
from colme.bounds.student import Student, student_radius, student_spread
from colme.bounds.windowed import Windowed

__all__ = [
    "KINDS",
    "STREAM_N_OPT",
    "Asymptotic",
    "Betting",
    "Bound",
    "Budget",
    "Discounted",
    "EmpiricalBernstein",
    "Evidence",
    "KnownNoise",
    "Laplace",
    "NormalMixture",
    "Restarted",
    "Stitched",
    "Stream",
    "Student",
    "Windowed",
    "choose_bound",
    "default_bound",
    "folded_mean",
    "folded_squares",
    "from_plain",
    "huber",
    "mixture_width",
    "range_sigma",
    "separated",
    "spend_risk",
    "split_risk",
    "student_radius",
    "student_spread",
    "to_plain",
    "tuned_prior",
    "usual_bound",
]
