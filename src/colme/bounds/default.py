"""The default bound: what an agent uses when only the scale of its samples is known.

Lives here: one choice, made once for simulator, agents and theory.  Must not know agents.
"""

from __future__ import annotations

import warnings

from colme.algorithm import ClassTest
from colme.bounds.base import Bound
from colme.bounds.mixture import Laplace, NormalMixture

STREAM_N_OPT = 1000
"""The count for which bounds of streams are tuned; from 100 to 10 000 samples that costs little."""


def default_bound(class_test: ClassTest, sigma: float, gamma: float) -> Laplace | NormalMixture:
    """Return the bound of the paper, or for the joint and the paired test its tuned sibling.

    Examples
    --------
    >>> default_bound(ClassTest.OVERLAP, sigma=0.5, gamma=0.01)
    Laplace(sigma=0.5, gamma=0.01)
    >>> default_bound(ClassTest.JOINT, sigma=0.5, gamma=0.01)
    NormalMixture(sigma=0.5, n_opt=1000.0, gamma=0.01)
    """
    if class_test.is_final:
        return NormalMixture(sigma, STREAM_N_OPT, gamma)
    return Laplace(sigma, gamma)


def usual_bound(class_test: ClassTest, sigma: float, gamma: float) -> Laplace | NormalMixture:
    """Return `default_bound`, which had this name before.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(category=DeprecationWarning, action="ignore"):
    ...     usual_bound(ClassTest.OVERLAP, sigma=0.5, gamma=0.01)
    Laplace(sigma=0.5, gamma=0.01)
    """
    warnings.warn("usual_bound is now default_bound", DeprecationWarning, stacklevel=2)
    return default_bound(class_test, sigma, gamma)


def choose_bound(
    class_test: ClassTest, sigma: float | None, bound: Bound | None, gamma: float
) -> Bound:
    """Return the bound given, at risk `gamma`, or the default one for the scale given.

    Examples
    --------
    >>> choose_bound(ClassTest.OVERLAP, sigma=0.5, bound=None, gamma=0.01)
    Laplace(sigma=0.5, gamma=0.01)
    >>> choose_bound(ClassTest.JOINT, None, bound=Laplace(sigma=2, gamma=0.05), gamma=0.01)
    Laplace(sigma=2.0, gamma=0.01)
    """
    if (sigma is None) == (bound is None):
        raise ValueError(
            "give either sigma=..., the scale of one sample, or bound=..., from colme.bounds; "
            f"received sigma={sigma!r}, bound={bound!r}"
        )
    if sigma is not None:
        return default_bound(class_test, sigma, gamma)
    if not hasattr(bound, "at_risk"):
        raise ValueError(f"bound must be one from colme.bounds; received {bound!r}")
    return bound.at_risk(gamma)  # type: ignore[union-attr]
