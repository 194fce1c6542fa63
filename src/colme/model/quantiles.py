"""Classes fitted from scratch: a start from quantiles of the means.

Lives here: where such a fit starts.  Must not know how it goes on, nor agents.
"""

from __future__ import annotations

from colme._compile import compiled
from colme.model.classes import em_fit
from colme.model.state import MAX_CLASSES, OUTLIERS, Scratch
from colme.rules import Numbers

_FRESH_STEPS = 15
"""Steps of a fit from quantiles."""


@compiled
def _sort(n: int, result: Numbers, values: Numbers) -> None:
    """Write the first n values in order: Shell's sort, which compiles in no time."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    for l in range(n):
        result[l] = values[l]
    while gap > 0:
        for l in range(gap, n):
            value, i = result[l], l
            while i >= gap and result[i - gap] > value:
                result[i] = result[i - gap]
                i -= gap
            result[i] = value
        gap //= 3


@compiled
def fit_from_quantiles(n: int, width: float, scratch: Scratch) -> tuple[int, float]:
    """Fit classes from quantiles of the means, on the scratch; return (classes, likelihood).

    Examples
    --------
    >>> scratch = Scratch.blank(40)._replace(
    ...     means=[0.0] * 20 + [1.0] * 20, precisions=[400.0] * 40, roots=[20.0] * 40
    ... )
    >>> n_classes, _ = fit_from_quantiles(40, 1.0, scratch)
    >>> n_classes, sorted(round(atom, 6) for atom in scratch.atoms[:2])
    (2, [0.0, 1.0])
    """
    # With fewer than three means each, all classes would seem too small.
    size = min(MAX_CLASSES, n // 3)
    _sort(n, scratch.left, scratch.means)
    for k in range(size):
        scratch.atoms[k] = scratch.left[int((k + 0.5) * n / size)]
        scratch.shares[k] = 0.5 / size
    scratch.shares[OUTLIERS] = 0.5
    return em_fit(n, size, -1, _FRESH_STEPS, width, scratch.atoms, scratch.shares, scratch)
