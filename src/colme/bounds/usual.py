"""The usual bound: what an agent uses when only the scale of its samples is known.

Lives here: one choice, made once for simulator, agents and theory.  Must not know agents.
"""

from __future__ import annotations

from colme.algorithm import ClassTest
from colme.bounds.mixture import Laplace, NormalMixture
from colme.bounds.protocol import Bound

__all__ = ["choose_bound", "usual_bound"]

_N_OPT = 1000
"""The joint test is tuned for so many samples; from a hundred to ten thousand it costs little."""


def usual_bound(class_test: ClassTest, sigma: float, gamma: float) -> Laplace | NormalMixture:
    """Return the bound of the paper, or for the joint test its tuned sibling.

    Examples
    --------
    >>> usual_bound(ClassTest.OVERLAP, sigma=0.5, gamma=0.01)
    Laplace(sigma=0.5, gamma=0.01)
    >>> usual_bound(ClassTest.JOINT, sigma=0.5, gamma=0.01)
    NormalMixture(sigma=0.5, n_opt=1000.0, gamma=0.01)
    """
    if class_test == ClassTest.JOINT:
        return NormalMixture(sigma, _N_OPT, gamma)
    return Laplace(sigma, gamma)


def choose_bound(
    class_test: ClassTest, sigma: float | None, bound: Bound | None, gamma: float
) -> Bound:
    """Return the bound given, at risk `gamma`, or the usual one of the scale given.

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
        return usual_bound(class_test, sigma, gamma)
    if not hasattr(bound, "at_risk"):
        raise ValueError(f"bound must be one from colme.bounds; received {bound!r}")
    return bound.at_risk(gamma)  # type: ignore[union-attr]
