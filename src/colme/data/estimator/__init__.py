"""From summaries to personalised means, classes and intervals.

Lives here: noise, descriptions of how means are spread, how far they are trusted, and the test of
all pairs.  Must not know files or other methods.
"""

from colme.data.estimator.estimates import MEANINGS, Class, Estimates
from colme.data.estimator.estimation import estimate
from colme.data.estimator.noise import Noise

__all__ = ["MEANINGS", "Class", "Estimates", "Noise", "estimate"]
