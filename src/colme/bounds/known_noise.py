"""What is known of the noise: its scale, the range of samples, or nothing.

Lives here: one meaning of these words at every door, and the counts for which bounds are tuned.
Must not know agents, tables or files.
"""

from __future__ import annotations

from dataclasses import dataclass

from colme import _check
from colme.algorithm import ClassTest
from colme.bounds.base import Bound
from colme.bounds.bernstein import EmpiricalBernstein
from colme.bounds.bounded import checked_range, range_sigma
from colme.bounds.default import STREAM_N_OPT, default_bound
from colme.bounds.student import Student

ONLINE_N_OPT = 30
"""Student's bound for values that arrive one by one: it then says something from a dozen on."""
TABLE_N_OPT = 5
"""Agents of a table have few rows, and later it costs little."""


@dataclass(frozen=True)
class KnownNoise:
    """What is known of the scatter of one sample around its true mean.

    Parameters
    ----------
    sigma
        The sub-Gaussian scale of one sample: for Gaussian noise, its standard deviation.
    value_range
        (low, high), if all samples lie there.  Without this and sigma, nothing is known.

    Examples
    --------
    >>> KnownNoise(sigma=0.5).scale, KnownNoise(value_range=(0, 1)).scale, KnownNoise().scale
    (0.5, 0.5, None)
    >>> KnownNoise(sigma=0.5).bound(ClassTest.JOINT, gamma=0.01)
    NormalMixture(sigma=0.5, n_opt=1000.0, gamma=0.01)
    >>> KnownNoise(sigma=0.5, value_range=(0, 1))
    Traceback (most recent call last):
        ...
    ValueError: give sigma or a range, not both; received 0.5 and (0, 1)
    """

    sigma: float | None = None
    value_range: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.sigma is not None and self.value_range is not None:
            raise ValueError(
                f"give sigma or a range, not both; received {self.sigma} and {self.value_range}"
            )
        if self.sigma is not None:
            object.__setattr__(self, "sigma", _check.positive("sigma", self.sigma))
        if self.value_range is not None:
            object.__setattr__(self, "value_range", checked_range(*self.value_range))

    @property
    def scale(self) -> float | None:
        """The sub-Gaussian scale: sigma or half the range (Hoeffding's lemma); None if unknown."""
        return self.sigma if self.value_range is None else range_sigma(*self.value_range)

    def bound(
        self,
        class_test: ClassTest,
        gamma: float,
        *,
        n_opt: float = STREAM_N_OPT,
        learn_variance: bool = False,
    ) -> Bound:
        """Return the bound of a stream of which this is known, at risk `gamma`.

        Parameters
        ----------
        class_test
            With a known scale the joint and the paired test have a bound tuned for 1000 samples,
            others that of the paper.
        gamma
            Risk of the bound.
        n_opt
            The count for which Student's bound is tuned, used if nothing is known.
        learn_variance
            Of a range: learn the variance too (empirical Bernstein), which pays in long streams;
            otherwise half the range is the scale.

        Examples
        --------
        >>> KnownNoise(value_range=(0, 1)).bound(ClassTest.JOINT, 0.01, learn_variance=True)
        EmpiricalBernstein(low=0.0, high=1.0, gamma=0.01)
        >>> KnownNoise().bound(ClassTest.JOINT, 0.01, n_opt=ONLINE_N_OPT)
        Student(n_opt=30.0, gamma=0.01)
        """
        if self.value_range is not None and learn_variance:
            return EmpiricalBernstein(*self.value_range, gamma)
        if self.scale is None:
            return Student(n_opt, gamma)
        return default_bound(class_test, self.scale, gamma)
