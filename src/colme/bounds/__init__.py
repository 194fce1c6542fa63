"""Confidence sequences: how far a mean may be from what a stream shows, at every time at once.

Lives here: bounds, the streams they follow, what a stream tells its peers, and the one place
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
from colme.bounds.bernstein import EmpiricalBernstein
from colme.bounds.betting import Betting
from colme.bounds.discounted import Discounted
from colme.bounds.evidence import Evidence, huber, separated
from colme.bounds.kinds import KINDS, from_plain, to_plain
from colme.bounds.mixture import Laplace, NormalMixture, mixture_width, tuned_prior
from colme.bounds.protocol import Bound, Stream
from colme.bounds.restarted import Restarted
from colme.bounds.risk import Budget, spend_risk, split_risk
from colme.bounds.running import folded_mean, folded_squares
from colme.bounds.scale import range_sigma
from colme.bounds.stitched import Stitched
from colme.bounds.student import Student, student_radius, student_spread
from colme.bounds.usual import choose_bound, usual_bound
from colme.bounds.windowed import Windowed

__all__ = [
    "KINDS",
    "Asymptotic",
    "Betting",
    "Bound",
    "Budget",
    "Discounted",
    "EmpiricalBernstein",
    "Evidence",
    "Laplace",
    "NormalMixture",
    "Restarted",
    "Stitched",
    "Stream",
    "Student",
    "Windowed",
    "choose_bound",
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
