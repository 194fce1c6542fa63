"""What bounds give out: streams that follow samples, and folders for whole blocks of them.

Lives here: their names and meanings, for annotations.  Must not know any particular bound.
"""

from __future__ import annotations

from typing import Protocol

from numpy.typing import ArrayLike

from colme.bounds.evidence import Evidence, N_co, Numbers
from colme.view import View


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
    def public(self) -> Stream[N_co]:
        """The stream as others see it: itself, unless something is hidden from them."""

    @property
    def epoch(self) -> N_co:
        """How often the stream has restarted: 0 where nothing ever changes."""

    @property
    def mean(self) -> N_co:
        """The mean of the samples; 0 before the first."""

    @property
    def squares(self) -> N_co:
        """Σ (x - x̄)² over the samples."""

    @property
    def variance(self) -> N_co:
        """The variance of a sample, if it is known beforehand; +∞ otherwise."""

    @property
    def interval(self) -> tuple[N_co, N_co]:
        """(low, high): holds the true mean at all times at once, with risk γ."""

    @property
    def evidence(self) -> Evidence[N_co]:
        """What a peer needs to test whether its mean equals this stream's."""

    def state(self) -> dict[str, float | list[float]]:
        """All that the samples have left behind, ready for JSON; see `Bound.resume`."""

    def update(self, sample: ArrayLike) -> None:
        """Fold one sample (an array of n, one each, when n streams are followed)."""


class Folder(Protocol):
    """Streams of some agents under one bound, whose views are written block after block.

    Examples
    --------
    >>> import numpy as np
    >>> from colme.bounds import Laplace
    >>> folder: Folder = Laplace(sigma=0.5, gamma=0.05).folder(n_agents=2, batch=3)
    >>> views = View(*np.empty((len(View._fields), 2, 1)))
    >>> folder.fold(np.ones((3, 2)), 0, views, views)
    >>> views.n_samples.tolist()
    [[3.0], [3.0]]
    """

    def fold(
        self, samples: Numbers, before: int, private: View[Numbers], public: View[Numbers]
    ) -> None:
        """Fold the next samples[k, agent] into the views[agent, step] of a block.

        A step ends after each `batch` samples.  `before` says how many samples of the block were
        folded earlier.  `public` is `private` itself unless the bound distinguishes them.
        """
