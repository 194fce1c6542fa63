"""Streams that forget: the part that windows and discounts have in common.

Lives here: which bounds may be wrapped, and streams that answer for the samples that still count.
Must not know which samples those are.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from colme.bounds.asymptotic import Asymptotic
from colme.bounds.counted import Counted
from colme.bounds.evidence import Evidence, N_co
from colme.bounds.running import Running
from colme.bounds.wrapper import Wrapper, checked_within

__all__ = ["FadingStream", "checked_fading"]


def checked_fading(bound: Any, most: float) -> Asymptotic | Counted:
    """Return a bound that needs only count, mean and squares of at most so many samples.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> checked_fading(Laplace(0.5, 0.05), most=10)
    Laplace(sigma=0.5, gamma=0.05)
    """
    checked_within(bound)
    if not isinstance(bound, Asymptotic | Counted):
        raise ValueError(  # noqa: TRY004 - a wrong choice, not a wrong type
            "bound must follow from count, mean and squares (Laplace, NormalMixture, Stitched, "
            f"Asymptotic), so that samples can be forgotten; received {bound!r}: choose one of "
            "these, or Restarted, which takes any bound"
        )
    if isinstance(bound, Asymptotic) and most < bound.burn_in:
        raise ValueError(
            f"at most {most:g} samples would count, and bound claims nothing before "
            f"{bound.burn_in}; received {bound!r}: forget more slowly, or choose a shorter burn_in"
        )
    return bound


class FadingStream(Running[N_co]):
    """A stream in which old samples cease to count; subclasses say how.

    Examples
    --------
    >>> from colme.bounds import Laplace, Windowed
    >>> stream = Windowed(Laplace(sigma=0.5, gamma=0.05), length=2).stream()
    >>> for sample in (9.0, 1.0, 2.0):
    ...     stream.update(sample)
    >>> stream.count, stream.mean
    (2, 1.5)
    """

    def __init__(self, bound: Wrapper, n: int | None) -> None:
        super().__init__(bound.gamma, n)
        self._seen = 0
        self._within: Any = bound.bound.stream(n)

    @property
    def interval(self) -> tuple[N_co, N_co]:
        """(low, high): holds the mean of the samples that count, at each time, with risk γ."""
        low, high = self._within.interval
        return low, high

    @property
    def evidence(self) -> Evidence[N_co]:
        """What the samples that count say."""
        told: Evidence[N_co] = self._within.evidence
        return told

    def update(self, sample: ArrayLike) -> None:
        """Fold one sample (n when n streams are followed); refuse it before anything changes."""
        x = self._checked(sample)
        self._fold(x)
        self._seen += 1
        self._show()

    def _show(self) -> None:
        """Let the bound within see count, mean and squares as they are now."""
        raise NotImplementedError
