"""The two interfaces of the family: a bound is a recipe, a stream is what follows it.

Lives here: their names and meanings, for annotations.  Must not know any particular bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self, overload

from numpy.typing import ArrayLike

from colme.bounds.evidence import Evidence, N_co, Numbers

__all__ = ["Bound", "Stream"]


class Stream(Protocol[N_co]):
    """One stream of samples, or n followed at once, and what is known of its mean.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> one: Stream[float] = Laplace(sigma=1, gamma=0.05).stream()
    >>> one.update(3.0)
    >>> one.count, one.mean
    (1, 3.0)
    """

    @property
    def count(self) -> int:
        """How many samples were folded, for each of the streams."""

    @property
    def epoch(self) -> N_co:
        """How often the stream has begun anew: 0 where nothing ever changes."""

    @property
    def mean(self) -> N_co:
        """The mean of the samples; 0 before the first."""

    @property
    def squares(self) -> N_co:
        """Σ (x - x̄)² over the samples."""

    @property
    def interval(self) -> tuple[N_co, N_co]:
        """(low, high): holds the true mean at all times at once, with risk γ."""

    @property
    def evidence(self) -> Evidence[N_co]:
        """What a peer must be told to test whether its mean equals this stream's."""

    def state(self) -> dict[str, float | list[float]]:
        """All that the samples have left behind, ready for JSON; see `Bound.resume`."""

    def update(self, sample: ArrayLike) -> None:
        """Fold one sample (an array of n, one each, when n streams are followed)."""


class Bound(Protocol):
    """A recipe for intervals that hold at all times at once, with risk `gamma` on both sides.

    Examples
    --------
    >>> from colme.bounds import Betting, Laplace
    >>> bounds: list[Bound] = [Laplace(sigma=0.5, gamma=0.05), Betting(low=0, high=1)]
    >>> [bound.at_risk(0.01).gamma for bound in bounds]
    [0.01, 0.01]
    """

    @property
    def gamma(self) -> float:
        """The risk of the interval, both sides together."""

    @property
    def scale(self) -> float:
        """The most that the standard deviation of a sample can be; +∞ if nothing is known."""

    def revisit_in(self, epoch: int) -> int:
        """Return every how many queries one goes to an excluded peer, in that epoch; 0: none."""

    def at_risk(self, gamma: float) -> Self:
        """Return the same bound at another risk."""

    def resume(self, state: Mapping[str, Any]) -> Stream[float]:
        """Return one stream that goes on where `Stream.state` was taken."""

    @overload
    def stream(self, n: None = None) -> Stream[float]: ...
    @overload
    def stream(self, n: int) -> Stream[Numbers]: ...
    def stream(self, n: int | None = None) -> Stream[float] | Stream[Numbers]:
        """Start to follow one stream, or n streams at once."""
